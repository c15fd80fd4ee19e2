package hardware

import (
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"sync"
	"time"

	"periph.io/x/conn/v3/gpio"
	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/spi"
	"periph.io/x/devices/v3/ssd1306"
	"periph.io/x/devices/v3/ssd1306/image1bit"
)

// DisplayOptions describe a display.
type DisplayOptions struct {
	Address  uint16 // on I²C; 0 means 0x3C
	Contrast byte   // brightness; 0 means full
	Rotated  bool   // it hangs upside down
}

// contrast returns the value for the chip.
func (o DisplayOptions) contrast() byte {
	if o.Contrast == 0 {
		return 0xFF
	}
	return o.Contrast
}

// Display is a started SSD1306. After an error it is closed and never used again, because periph's
// driver believes that the lost picture was shown and would not send it again.
type Display struct {
	dev   *ssd1306.Dev
	bus   io.Closer
	start func() (*ssd1306.Dev, error) // sends the opening sequence
	o     DisplayOptions
}

// NewDisplayI2C starts a display on an I²C bus. It takes ownership of the bus, even if it fails.
func NewDisplayI2C(bus i2c.BusCloser, o DisplayOptions) (*Display, error) {
	if o.Address == 0 {
		o.Address = ssd1306Address
	}
	to := addressed{bus, o.Address}
	return newDisplay(bus, o, func() (*ssd1306.Dev, error) {
		dev, err := ssd1306.NewI2C(to, o.driver())
		if err != nil {
			return nil, err
		}
		return dev, to.Tx(o.Address, append([]byte{controlCommand}, pageAddressing...), nil)
	})
}

// NewDisplaySPI starts a display on an SPI port with a data/command line. It takes ownership of
// both, even if it fails.
func NewDisplaySPI(port spi.PortCloser, dc Output, o DisplayOptions) (*Display, error) {
	to, line := &onePort{Port: port}, dcLine{dc}
	return newDisplay(closers{port, dc}, o, func() (*ssd1306.Dev, error) {
		dev, err := ssd1306.NewSPI(to, line, o.driver())
		if err != nil {
			return nil, err
		}
		return dev, errors.Join(line.Out(gpio.Low), to.conn.Tx(pageAddressing, nil))
	})
}

// The driver asks for the chip's horizontal addressing but then positions with the
// commands of page addressing, for which the data sheet wants this mode.
var pageAddressing = []byte{0x20, 0x02}

// controlCommand is the I²C control byte before commands (SSD1306 data sheet, 8.1.5.2).
const controlCommand = 0x00

func (o DisplayOptions) driver() *ssd1306.Opts {
	opts := ssd1306.DefaultOpts
	opts.MirrorVertical, opts.MirrorHorizontal = o.Rotated, o.Rotated
	return &opts
}

func newDisplay(bus io.Closer, o DisplayOptions, start func() (*ssd1306.Dev, error)) (*Display, error) {
	d := &Display{bus: bus, start: start, o: o}
	if err := d.restart(); err != nil {
		return nil, errors.Join(err, bus.Close())
	}
	return d, nil
}

// restart sends the opening sequence. A chip with a picture keeps it, and one that lost its power
// starts again; the next picture is sent whole.
func (d *Display) restart() (err error) {
	if d.dev, err = d.start(); err != nil {
		return err
	}
	if c := d.o.contrast(); c != 0xFF { // the opening sequence sets 0xFF
		return d.dev.SetContrast(c)
	}
	return nil
}

// Draw shows the picture.
func (d *Display) Draw(img *image1bit.VerticalLSB) error {
	return d.dev.Draw(img.Bounds(), img, image.Point{})
}

// ask sends a command that changes nothing: a missing chip does not acknowledge it. (On SPI nothing
// is ever acknowledged.)
func (d *Display) ask() error { return d.dev.SetContrast(d.o.contrast()) }

// blank clears the picture and switches the chip off.
func (d *Display) blank() error {
	dark := image1bit.NewVerticalLSB(image.Rect(0, 0, DisplayWidth, DisplayHeight))
	return errors.Join(d.Draw(dark), d.dev.Halt())
}

// Close closes the bus; the chip keeps its picture.
func (d *Display) Close() error { return d.bus.Close() }

// How often a failed display is retried, how often a working one is probed, and how often
// everything is sent again. The last is for a display that lost its power between two probes: it
// acknowledges, but shows nothing.
const (
	retryFirst  = time.Second
	retryMost   = 30 * time.Second
	askEvery    = 2 * time.Second
	redrawEvery = 10 * time.Second
)

// haltWithin is how long Halt waits for a display whose bus hangs.
const haltWithin = 3 * time.Second

// screen shows the newest picture on a display. The bus is slow, and one that is held low takes
// seconds to fail. So only a goroutine touches it, which runs while there is work, and the lamps
// never wait.
type screen struct {
	open func() (*Display, error) // nil: no display
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex // guards the fields below
	idle    *sync.Cond // signals that busy is false
	busy    bool       // the goroutine is running; only it touches display
	want    *image1bit.VerticalLSB
	shown   *image1bit.VerticalLSB
	display *Display // nil: closed; opened again at retryAt
	everUp  bool     // the display has shown a picture of ours
	failure error
	news    error // a failure that was not returned yet
	retryIn time.Duration
	retryAt time.Time
	askAt   time.Time
	redraw  time.Time
}

func newScreen(open func() (*Display, error), now func() time.Time, log *slog.Logger) *screen {
	s := &screen{open: open, now: now, log: log}
	s.idle = sync.NewCond(&s.mu)
	return s
}

// show sets the picture to show. It returns a new failure of the display, once.
func (s *screen) show(img *image1bit.VerticalLSB) error {
	if s.open == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = img
	if !s.busy && s.due() {
		s.busy = true
		go s.work()
	}
	err := s.news
	s.news = nil
	return err
}

// due reports whether there is work. The caller holds mu.
func (s *screen) due() bool {
	now := s.now()
	if s.display == nil {
		return !now.Before(s.retryAt)
	}
	return s.shown == nil || string(s.shown.Pix) != string(s.want.Pix) || !now.Before(s.askAt) || !now.Before(s.redraw)
}

// work does what is due.
func (s *screen) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.due() {
		want := s.want
		s.mu.Unlock()
		err := s.bring(want)
		s.mu.Lock()
		if err != nil {
			s.failed(err)
			continue
		}
		if s.failure != nil {
			s.log.Info("hardware: the display is back")
		}
		s.shown, s.everUp, s.failure, s.retryIn, s.news = want, true, nil, 0, nil
	}
	s.busy = false
	s.idle.Broadcast()
}

// bring shows a picture on the display, opening it first if necessary. Only the goroutine that set
// busy calls it.
func (s *screen) bring(img *image1bit.VerticalLSB) error {
	now := s.now()
	switch {
	case s.display == nil:
		d, err := s.open()
		if err != nil {
			return err
		}
		s.display, s.redraw = d, now.Add(redrawEvery)
	case !now.Before(s.redraw):
		s.redraw = now.Add(redrawEvery)
		if err := s.display.restart(); err != nil {
			return err
		}
	case !now.Before(s.askAt):
		if err := s.display.ask(); err != nil {
			return err
		}
	}
	s.askAt = now.Add(askEvery)
	return s.display.Draw(img)
}

// failed closes the display and schedules a retry. It reports only the first failure of a series.
// The caller holds mu.
func (s *screen) failed(err error) {
	first := s.failure == nil
	s.close()
	s.failure = fmt.Errorf("hardware: display: %w", err)
	s.retryIn = min(max(2*s.retryIn, retryFirst), retryMost)
	s.retryAt = s.now().Add(s.retryIn)
	if first {
		s.news = s.failure
	}
}

func (s *screen) close() {
	if s.display != nil {
		if err := s.display.Close(); err != nil {
			s.log.Warn("hardware: close the display's bus", "err", err)
		}
	}
	s.display, s.shown = nil, nil
}

// wait waits until the goroutine has ended. It reports false on timeout. The caller holds mu.
func (s *screen) wait(within time.Duration) bool {
	late := false
	timer := time.AfterFunc(within, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.idle.Broadcast()
	})
	defer timer.Stop()
	for s.busy && !late {
		s.idle.Wait()
	}
	return !s.busy
}

// halt blanks the display. It retries a failed one once, so that no old answer remains on it.
func (s *screen) halt() error {
	if s.open == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.wait(haltWithin) {
		return errors.New("hardware: blank the display: its bus hangs")
	}
	s.busy = true
	var err error
	go func() {
		failed := s.blank()
		s.mu.Lock()
		defer s.mu.Unlock()
		err = failed
		s.close()
		s.everUp, s.busy, s.retryAt = false, false, time.Time{}
		s.idle.Broadcast()
	}()
	if !s.wait(haltWithin) {
		return errors.New("hardware: blank the display: its bus hangs")
	}
	return err
}

func (s *screen) blank() error {
	if !s.everUp {
		return nil
	}
	if s.display == nil {
		d, err := s.open()
		if err != nil {
			return fmt.Errorf("hardware: blank the display: %w", err)
		}
		s.display = d
	}
	if err := s.display.blank(); err != nil {
		return fmt.Errorf("hardware: blank the display: %w", err)
	}
	return nil
}

// says describes the state of the display for people.
func (s *screen) says() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open == nil:
		return "no display"
	case s.failure != nil:
		return plain(s.failure)
	}
	return "display"
}
