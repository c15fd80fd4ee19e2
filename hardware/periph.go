package hardware

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"periph.io/x/conn/v3/gpio"
	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"
	"periph.io/x/host/v3/sysfs"
)

// Of periph, this package uses the drivers of the display and the strip, and the kernel's I²C and
// SPI devices. It opens a bus by its number each time. Periph's list of buses is made only once, so
// a bus that appears later is not in it.

// OpenI2C opens an I²C bus by its number, "1", its name, "I2C1", or its device,
// "/dev/i2c-1".
func OpenI2C(name string) (i2c.BusCloser, error) {
	n, err := busNumber(name, "/dev/i2c-", "I2C")
	if err != nil {
		return nil, fmt.Errorf("bus %s: expected an I²C bus such as I2C1", name)
	}
	bus, err := sysfs.NewI2C(n)
	if err != nil {
		return nil, fmt.Errorf("bus %s: %w", name, err)
	}
	return bus, nil
}

// OpenSPI opens an SPI port: "SPI0.0" or "/dev/spidev0.0", bus and chip select.
func OpenSPI(name string) (spi.PortCloser, error) {
	number := strings.TrimPrefix(strings.TrimPrefix(name, "/dev/spidev"), "SPI")
	bus, cs, _ := strings.Cut(number, ".")
	b, err1 := strconv.ParseUint(bus, 10, 8)
	c, err2 := strconv.ParseUint(cs, 10, 8)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("port %s: expected an SPI port such as SPI0.0", name)
	}
	port, err := sysfs.NewSPI(int(b), int(c))
	if err != nil {
		return nil, fmt.Errorf("port %s: %w", name, err)
	}
	return port, nil
}

func busNumber(name string, prefixes ...string) (int, error) {
	for _, p := range prefixes {
		name = strings.TrimPrefix(name, p)
	}
	n, err := strconv.ParseUint(name, 10, 8)
	return int(n), err
}

// ssd1306Address is the one address that periph's driver knows.
const ssd1306Address = 0x3C

// addressed sends everything to another address, for displays with address 0x3D.
type addressed struct {
	i2c.Bus
	address uint16
}

// Tx implements i2c.Bus.
func (a addressed) Tx(_ uint16, w, r []byte) error { return a.Bus.Tx(a.address, w, r) }

// onePort allows a port to be connected repeatedly: each new ssd1306.Dev connects, but the kernel's
// port allows that only once.
type onePort struct {
	spi.Port
	conn spi.Conn
}

// Connect implements spi.Port.
func (p *onePort) Connect(f physic.Frequency, mode spi.Mode, bits int) (spi.Conn, error) {
	if p.conn != nil {
		return p.conn, nil
	}
	c, err := p.Port.Connect(f, mode, bits)
	if err != nil {
		return nil, err
	}
	p.conn = c
	return c, nil
}

// dcLine adapts an output for periph, as the display's data/command line.
type dcLine struct{ out Output }

var _ gpio.PinOut = dcLine{}

// Out implements gpio.PinOut.
func (d dcLine) Out(l gpio.Level) error { return d.out.Set(bool(l)) }

// PWM implements gpio.PinOut; it fails.
func (d dcLine) PWM(gpio.Duty, physic.Frequency) error {
	return errors.New("hardware: no PWM on a data/command line")
}

func (d dcLine) String() string   { return "DC" }
func (d dcLine) Halt() error      { return nil }
func (d dcLine) Name() string     { return "DC" }
func (d dcLine) Number() int      { return -1 }
func (d dcLine) Function() string { return "Out" }

// closers are closed together.
type closers []io.Closer

// Close closes all of them.
func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
