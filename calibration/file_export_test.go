package calibration

import "time"

// The parsers without the file system, for the fuzz tests.
var (
	ParseLens   = parseLens
	ParseTable  = parseTable
	FormatTable = formatTable
)

// A save's steps, for the tests that stop or fail them.
type (
	Disk     = disk
	DiskFile = diskFile
	OSDisk   = osDisk
)

// SaveOn saves a file on a disk, as StoreTable and StoreLens do on the real one.
func SaveOn(d Disk, now func() time.Time, path string, raw []byte) (kept string, err error) {
	return store{d, now}.save(path, raw)
}
