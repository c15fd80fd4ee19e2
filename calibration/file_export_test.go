package calibration

import "sightline/calibration/internal/document"

// A save's steps, for the tests that stop or fail them.
type (
	Disk     = document.Disk
	DiskFile = document.DiskFile
	OSDisk   = document.OsDisk
)

// SaveOn saves a file on a disk, as StoreTable does on the real one.
var SaveOn = document.SaveOn
