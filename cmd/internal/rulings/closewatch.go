package rulings

import (
	"slices"
	"syscall"
)

// A closeWatch detects that any program closed a file that it had open for writing. The
// kernel reports this before the close returns, so a completed copy over the file has been
// reported (inotify(7), IN_CLOSE_WRITE). The connection that writes the log stays open as
// long as the watch.
type closeWatch struct {
	fd int // of inotify
}

// localFilesystems are the types of statfs(2) to which only this machine's kernel writes. A
// network file system does not report what other machines write, nor an overlay what is
// written below it.
var localFilesystems = []int64{
	0xef53,     // ext2, ext3, ext4
	0x58465342, // XFS
	0x9123683e, // Btrfs
	0xca451a4e, // bcachefs
	0xf2f52010, // F2FS
	0x2fc12fc1, // ZFS
	0x01021994, // tmpfs
	0x4d44,     // VFAT
	0x2011bab0, // exFAT
}

// watchCloses watches a file; nil when that is not possible.
func watchCloses(path string) *closeWatch {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil || !slices.Contains(localFilesystems, int64(uint32(fs.Type))) {
		return nil
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	if _, err := syscall.InotifyAddWatch(fd, path, syscall.IN_CLOSE_WRITE); err != nil {
		syscall.Close(fd)
		return nil
	}
	return &closeWatch{fd}
}

// quiet reports whether there is a watch, without an event since the last call.
func (w *closeWatch) quiet() bool {
	if w == nil {
		return false
	}
	var events [4096]byte
	told := false
	for {
		switch n, err := syscall.Read(w.fd, events[:]); {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return !told
		case err != nil || n <= 0:
			return false
		default:
			told = true
		}
	}
}

// stop ends the watch, if there is one.
func (w *closeWatch) stop() {
	if w != nil {
		syscall.Close(w.fd)
	}
}
