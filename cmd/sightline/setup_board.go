package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	firmwareconfig "sightline/firmware-config"
)

// setupBoardCmd prepares a Raspberry Pi for the panel.
type setupBoardCmd struct {
	Model string `help:"The board: pi3, pi4, pi5 or zero2w. Default: as the board identifies itself." placeholder:"MODEL"`
	Strip bool   `help:"Also switch on the port of a strip of lights (SPI)."`
	Print bool   `help:"Print the new config.txt without changing anything."`
	Root  string `hidden:"" default:"/" help:"Where the system's files are, for tests and images."`
}

// configMost is the largest accepted size of config.txt.
const configMost = 1 << 20

// Run implements the command.
func (c *setupBoardCmd) Run() error { return c.setUp(os.Stdout) }

func (c *setupBoardCmd) setUp(out io.Writer) error {
	name := c.Model
	if name == "" {
		model, err := os.ReadFile(filepath.Join(c.Root, "proc/device-tree/model"))
		if err != nil {
			return errors.New("setup-board: this machine does not say which board it is: on a Raspberry Pi name it with --model; " +
				"elsewhere switch I²C on as the board's maker says")
		}
		ok := false
		if name, ok = firmwareconfig.ModelOf(string(model)); !ok {
			return fmt.Errorf("setup-board: no settings for this board, %q: expected a Raspberry Pi 3, 4, 5 or Zero 2 W; --model takes one of %s",
				strings.TrimRight(string(model), "\x00\n"), strings.Join(firmwareconfig.Models(), ", "))
		}
	}
	fragment, err := firmwareconfig.BootFragment(name)
	if err != nil {
		return fmt.Errorf("setup-board: %w", err)
	}
	config, path, err := c.config()
	if err != nil {
		return fmt.Errorf("setup-board: %w", err)
	}
	after := firmwareconfig.AddToConfig(config, fragment, c.Strip)
	if c.Print {
		_, err := io.WriteString(out, after)
		return err
	}
	changed, err := c.write(path, config, after)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: run it with sudo", err)
	}
	if err != nil {
		return fmt.Errorf("setup-board: %w", err)
	}
	if !changed {
		fmt.Fprintln(out, "nothing to do:", path, "has the settings of", name, "already")
		return nil
	}
	fmt.Fprintf(out, "%s has the settings of %s now; as it was it is %s\n", path, name, path+configBefore)
	fmt.Fprintln(out, "they hold after a restart: sudo reboot")
	return nil
}

// configBefore is the suffix of the backup of config.txt.
const configBefore = ".before-sightline"

// config returns the board's config.txt, which Debian 11 had in another place.
func (c *setupBoardCmd) config() (text, path string, err error) {
	for _, name := range []string{"boot/firmware/config.txt", "boot/config.txt"} {
		path = filepath.Join(c.Root, name)
		raw, err := regularfile.Read(path, configMost)
		if err == nil {
			return string(raw), path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", path, err
		}
	}
	return "", "", fmt.Errorf("%s: there is none: expected Raspberry Pi OS", filepath.Join(c.Root, "boot/firmware/config.txt"))
}

// write writes config.txt, and makes the kernel offer the I²C bus to programs.
func (c *setupBoardCmd) write(path, before, after string) (changed bool, err error) {
	modules := filepath.Join(c.Root, "etc/modules-load.d/sightline.conf")
	const want = "# The panel's display, /dev/i2c-*: written by sightline setup-board.\ni2c-dev\n"
	if raw, err := os.ReadFile(modules); err != nil || string(raw) != want {
		if err := atomicfile.Write(modules, []byte(want), 0o644); err != nil {
			return false, err
		}
		changed = true
	}
	if after != before {
		err := atomicfile.WriteNew(path+configBefore, []byte(before), 0o644)
		if err != nil && !errors.Is(err, fs.ErrExist) { // the first backup is the original
			return false, err
		}
		if err := atomicfile.Write(path, []byte(after), 0o755); err != nil {
			return false, err
		}
		changed = true
	}
	if changed && c.Root == "/" {
		_ = exec.Command("modprobe", "i2c-dev").Run() // avoids a restart if the bus is already on
	}
	return changed, nil
}
