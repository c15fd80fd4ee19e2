package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// patience is how long a command works before it shows its progress.
const patience = 2 * time.Second

// Progress runs a command that may take long. If standard error is a terminal, it shows the
// progress after patience, once a second, in a line that is erased before other output.
func Progress(ctx context.Context, run func(ctx context.Context, out, progress io.Writer) error) error {
	if !Is(os.Stderr) {
		return run(ctx, os.Stdout, os.Stderr)
	}
	m := &meter{terminal: os.Stderr}
	out := io.Writer(os.Stdout)
	if Is(os.Stdout) {
		out = m.over(os.Stdout)
	}
	return m.run(ctx, out, m.over(os.Stderr), run)
}

// Step sets the progress of a command under Progress: the nth of of things, as in "picture",
// 3, 20; of is 0 when unknown.
func Step(ctx context.Context, what string, n, of int) {
	m, ok := ctx.Value(meterKey{}).(*meter)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step = fmt.Sprintf("%s %d", what, n)
	if of > 0 {
		m.step += fmt.Sprintf(" of %d", of)
	}
	m.step += ", "
}

// Is reports whether a file is a terminal.
func Is(f *os.File) bool {
	var settings syscall.Termios
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&settings)))
	return errno == 0
}

type meterKey struct{}

// meter is the progress line.
type meter struct {
	mu       sync.Mutex // guards the fields below
	terminal io.Writer
	step     string // "picture 3 of 20, "
	shown    bool   // the line is on the terminal
	open     bool   // other output has not ended its line
}

// run runs the command with the line, and erases it at the end.
func (m *meter) run(ctx context.Context, out, progress io.Writer, run func(context.Context, io.Writer, io.Writer) error) error {
	began := time.Now()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		wait := time.NewTimer(patience)
		defer wait.Stop()
		for {
			select {
			case <-stop:
				return
			case <-wait.C:
				m.draw(time.Since(began))
				wait.Reset(time.Second)
			}
		}
	}()
	err := run(context.WithValue(ctx, meterKey{}, m), out, progress)
	close(stop)
	<-stopped
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	return err
}

// erase returns to the line's beginning and erases it.
const erase = "\r\x1b[K"

func (m *meter) draw(worked time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open {
		return
	}
	fmt.Fprintf(m.terminal, "%s%s%.0f s …", erase, m.step, worked.Seconds())
	m.shown = true
}

// clear erases the line. The caller holds mu.
func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.terminal, erase)
		m.shown = false
	}
}

// over returns a writer that erases the line before it writes.
func (m *meter) over(w io.Writer) io.Writer { return overMeter{m, w} }

type overMeter struct {
	m *meter
	w io.Writer
}

// Write implements io.Writer.
func (o overMeter) Write(p []byte) (int, error) {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	o.m.clear()
	if len(p) > 0 {
		o.m.open = p[len(p)-1] != '\n'
	}
	return o.w.Write(p)
}
