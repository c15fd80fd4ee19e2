package calibration

// A save's steps, for the tests that stop or fail them.
type (
	Disk     = disk
	DiskFile = diskFile
	OSDisk   = osDisk
)

// SaveOn saves a file on a disk, as StoreTable does on the real one.
var SaveOn = saveOn
