package rulings

import "strconv"

// For tests: a log on a disk that fails, the seams of the disk, and the canonical form.

type (
	Disk     = disk
	TempFile = tempFile
	OSDisk   = osDisk
)

// OpenOn is Open on another disk.
func OpenOn(dir string, o Options, d Disk) (*Log, error) { return open(dir, o, d) }

// Canonical writes a record as it is hashed.
func Canonical(r *Record) ([]byte, error) { return canonical(r) }

// Limit makes the database full at a number of pages of 4096 bytes.
func (l *Log) Limit(pages int) error {
	_, err := l.write.Exec("PRAGMA max_page_count = " + strconv.Itoa(pages))
	return err
}

// Pages returns how many pages the database has.
func (l *Log) Pages() (n int, err error) {
	err = l.write.QueryRow("PRAGMA page_count").Scan(&n)
	return n, err
}

// Pragma reads a setting of the connection that writes.
func (l *Log) Pragma(name string) (value string, err error) {
	err = l.write.QueryRow("PRAGMA " + name).Scan(&value)
	return value, err
}
