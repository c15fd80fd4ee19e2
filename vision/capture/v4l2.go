package capture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// The requests of linux/videodev2.h: _IOWR('V', n, size).
const (
	vidiocGetCtrl   = 0xc008561b // 27, struct v4l2_control
	vidiocSetCtrl   = 0xc008561c // 28
	vidiocQueryCtrl = 0xc0445624 // 36, struct v4l2_queryctrl
)

// v4l2Control is struct v4l2_control.
type v4l2Control struct {
	id    uint32
	value int32
}

// v4l2QueryControl is struct v4l2_queryctrl.
type v4l2QueryControl struct {
	id, kind                uint32
	name                    [32]byte
	min, max, step, initial int32
	flags                   uint32
	reserved                [2]uint32
}

// v4l2Device is a V4L2 device opened for its controls. Any number of programs may do that while one
// of them takes pictures.
type v4l2Device struct{ file *os.File }

var _ ControlDevice = (*v4l2Device)(nil)

// OpenControls opens a camera, a character device such as /dev/video0, for its controls.
func OpenControls(path string) (ControlDevice, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("vision: controls: %w", err)
	}
	if info.Mode()&os.ModeCharDevice == 0 {
		return nil, fmt.Errorf("vision: controls: %s: expected a camera, which is a character device", path)
	}
	// Do not use os.OpenFile: its poller asks the device for pictures. A driver that supports reading
	// then starts to capture and is busy for other programs.
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("vision: controls: open %s: %w", path, err)
	}
	return &v4l2Device{os.NewFile(uintptr(fd), path)}, nil
}

// ioctl sends a request to the driver, which answers EINVAL for what it does not have.
func (d *v4l2Device) ioctl(request uintptr, arg unsafe.Pointer) error {
	c, err := d.file.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	err = c.Control(func(fd uintptr) {
		for {
			if _, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg)); errno != syscall.EINTR {
				return
			}
		}
	})
	switch {
	case err != nil:
		return err
	case errno != 0:
		return errno
	}
	return nil
}

// Query implements ControlDevice.
func (d *v4l2Device) Query(id ControlID) (ControlRange, error) {
	q := v4l2QueryControl{id: uint32(id)}
	if err := d.ioctl(vidiocQueryCtrl, unsafe.Pointer(&q)); err != nil {
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTTY) {
			return ControlRange{}, ErrNoControl
		}
		return ControlRange{}, err
	}
	name, _, _ := bytes.Cut(q.name[:], []byte{0})
	return ControlRange{Name: string(name), Min: q.min, Max: q.max, Step: q.step, Default: q.initial, Flags: q.flags}, nil
}

// Get implements ControlDevice.
func (d *v4l2Device) Get(id ControlID) (int32, error) {
	c := v4l2Control{id: uint32(id)}
	err := d.ioctl(vidiocGetCtrl, unsafe.Pointer(&c))
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTTY) {
		err = ErrNoControl
	}
	return c.value, err
}

// Set implements ControlDevice.
func (d *v4l2Device) Set(id ControlID, value int32) error {
	c := v4l2Control{uint32(id), value}
	return d.ioctl(vidiocSetCtrl, unsafe.Pointer(&c))
}

// Close implements ControlDevice.
func (d *v4l2Device) Close() error { return d.file.Close() }
