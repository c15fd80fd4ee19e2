package firmwareconfig

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed boot
var boot embed.FS

// models are the boards that have a fragment of config.txt, by the beginning of the name
// that the kernel gives them (/proc/device-tree/model).
var models = []struct{ name, model string }{
	{"pi3", "Raspberry Pi 3"}, {"pi4", "Raspberry Pi 4"}, {"pi5", "Raspberry Pi 5"}, {"zero2w", "Raspberry Pi Zero 2"},
}

// Models returns the names of the boards that BootFragment knows.
func Models() (names []string) {
	for _, m := range models {
		names = append(names, m.name)
	}
	return names
}

// ModelOf returns the name of a board from what /proc/device-tree/model says.
func ModelOf(model string) (name string, ok bool) {
	model = strings.TrimRight(model, "\x00\n")
	for _, m := range models {
		if strings.HasPrefix(model, m.model) {
			return m.name, true
		}
	}
	return "", false
}

// BootFragment returns what a board's config.txt needs for the panel.
func BootFragment(name string) (string, error) {
	if !slices.Contains(Models(), name) {
		return "", fmt.Errorf("board %q: expected one of %s", name, strings.Join(Models(), ", "))
	}
	raw, err := boot.ReadFile("boot/" + name + ".txt")
	return string(raw), err
}

// The lines of a fragment that belong to the strip of lights are comments as shipped.
var stripLines = []string{"dtparam=spi=on", "core_freq=", "core_freq_min="}

// AddToConfig returns a config.txt with a board's fragment, and with strip with its lines for
// the strip of lights. What is there already stays as it is, also where it was changed by
// hand.
func AddToConfig(config, fragment string, strip bool) string {
	title, _, _ := strings.Cut(fragment, "\n")
	begin := strings.Index("\n"+config, "\n"+title+"\n")
	if begin < 0 {
		if config != "" && !strings.HasSuffix(config, "\n") {
			config += "\n"
		}
		if config != "" {
			config += "\n"
		}
		begin = len(config)
		config += fragment
	}
	if !strip {
		return config
	}
	end := len(config)
	if i := strings.Index(config[begin:], "\n[all]"); i >= 0 {
		end = begin + i
	}
	lines := strings.Split(config[begin:end], "\n")
	for i, l := range lines {
		if bare, ok := strings.CutPrefix(l, "#"); ok &&
			slices.ContainsFunc(stripLines, func(s string) bool { return strings.HasPrefix(bare, s) }) {
			lines[i] = bare
		}
	}
	return config[:begin] + strings.Join(lines, "\n") + config[end:]
}
