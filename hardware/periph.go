package hardware

import (
	"fmt"
	"log/slog"

	"periph.io/x/conn/v3/driver/driverreg"
	"periph.io/x/conn/v3/gpio/gpioreg"
	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/i2c/i2creg"

	// Only the kernel's own interfaces, not periph's whole host package: every Pi
	// and every test machine then runs the same code, without root and /dev/mem.
	_ "periph.io/x/host/v3/gpioioctl"
	_ "periph.io/x/host/v3/sysfs"
)

// Wiring says which pin and bus each part of the panel hangs on. The zero value is
// a panel without any part.
type Wiring struct {
	Name      string
	Lines     [NumLamps]string // GPIO line names, "GPIO17"; "" for a lamp that is not fitted
	ActiveLow [NumLamps]bool   // lit when the line is low
	Bus       string           // I²C bus of the display, "1" or "/dev/i2c-1"; "" for no display
	Address   uint16           // of the display; 0 means 0x3C
}

// Open looks for what the wiring names on this machine and returns the panel. What
// is not there is left out and named by the panel's String: the program runs
// without it.
func Open(w Wiring, log *slog.Logger) *Board {
	p := Parts{Name: w.Name, ActiveLow: w.ActiveLow, Address: w.Address, Log: log}
	if err := initDrivers(log); err != nil {
		p.Missing = append(p.Missing, err.Error())
	}
	if len(gpioreg.All()) == 0 && w.Lines != [NumLamps]string{} {
		p.Missing = append(p.Missing, "no GPIO on this machine")
		w.Lines = [NumLamps]string{}
	}
	for i, name := range w.Lines {
		if name == "" {
			continue
		}
		if pin := gpioreg.ByName(name); pin != nil {
			p.Lamps[i] = pin
		} else {
			p.Missing = append(p.Missing, fmt.Sprintf("no GPIO line %s for lamp %v", name, Lamp(i)))
		}
	}
	if w.Bus != "" {
		p.OpenBus = func() (i2c.BusCloser, error) {
			if len(i2creg.All()) == 0 {
				return nil, fmt.Errorf("bus %s: no I²C on this machine", w.Bus)
			}
			bus, err := i2creg.Open(w.Bus)
			if err != nil {
				return nil, fmt.Errorf("bus %s: %w", w.Bus, err)
			}
			return bus, nil
		}
	}
	return NewBoard(p)
}

// initDrivers starts periph. A driver that fails is a line in the log and no more:
// on a mainline kernel some always do, and the lines work all the same.
func initDrivers(log *slog.Logger) error {
	state, err := driverreg.Init()
	if err != nil {
		return fmt.Errorf("hardware: start the drivers: %w", err)
	}
	for _, f := range state.Failed {
		log.Info("hardware: driver not in use", "driver", f.D.String(), "err", f.Err)
	}
	return nil
}
