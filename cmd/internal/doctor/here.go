package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"syscall"
	"time"

	"sightline/calibration/regularfile"
	"sightline/hardware"
)

// Here returns the box that this program runs on, with the panel of the wiring. The caller sets
// Camera and Markers, and Ask, Tell and Pause if a person is there.
func Here(w hardware.Wiring) Box {
	return Box{
		FS:       os.DirFS("/"),
		Writable: writable, Openable: openable, Space: space, Exec: execute, User: account, Now: time.Now, Worked: worked,
		Lamp: hardware.OpenOutput, Absent: hardware.Absent, Display: w.TryDisplay, Strip: w.TryStrip,
		Controls: func(ctx context.Context, did func(hardware.Did)) error {
			return hardware.OpenControls(w.Controls, nil).Run(ctx, did)
		},
		Pause: time.Sleep,
	}
}

// worked returns the processor time of this program and the idle time of the processors. If the
// kernel does not report it, they count as always idle.
func worked() (own, idle time.Duration) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err == nil {
		own = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	line, err := os.ReadFile("/proc/stat")
	if err == nil {
		idle, err = idleOf(string(line))
	}
	if err != nil {
		idle = time.Duration(time.Now().UnixNano())
	}
	return own, idle
}

// idleOf parses the first line of /proc/stat: hundredths of a second for user, nice, system, idle
// and more.
func idleOf(stat string) (time.Duration, error) {
	var name string
	var user, nice, system, idle, wait int64
	if _, err := fmt.Sscan(stat, &name, &user, &nice, &system, &idle, &wait); err != nil {
		return 0, err
	}
	return time.Duration(idle+wait) * 10 * time.Millisecond, nil
}

// writable tries to write: permissions say little about a read-only or full file system.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".sightline-doctor-*")
	if err != nil {
		return regularfile.WithoutPath(err)
	}
	_, err = f.WriteString("sightline")
	return regularfile.WithoutPath(errors.Join(err, f.Close(), os.Remove(f.Name())))
}

// openable opens a device as the program would, without changing it.
func openable(path string) error {
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}

// readOnlyFlag is ST_RDONLY of statfs(2).
const readOnlyFlag = 1

func space(path string) (Space, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return Space{}, err
	}
	block := uint64(s.Bsize)
	return Space{Free: s.Bavail * block, Total: s.Blocks * block, ReadOnly: s.Flags&readOnlyFlag != 0}, nil
}

func execute(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w", name, err)
	}
	return string(out), nil
}

func account() (Account, error) {
	u, err := user.Current()
	if err != nil {
		return Account{}, err
	}
	a := Account{Name: u.Username, Root: os.Geteuid() == 0}
	ids, err := os.Getgroups() // the groups of this process, not of the next login
	if err != nil {
		return a, err
	}
	for _, id := range append(ids, os.Getegid()) {
		if g, err := user.LookupGroupId(fmt.Sprint(id)); err == nil {
			a.Groups = append(a.Groups, g.Name)
		}
	}
	return a, nil
}
