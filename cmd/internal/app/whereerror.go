package app

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"sightline/calibration/regularfile"
	firmwareconfig "sightline/firmware-config"
)

// keyOf finds the configuration key at the beginning of an error: "camera.lens: …".
var keyOf = regexp.MustCompile(`^([a-z]+\.[a-z_]+): `)

// InFile adds the file and line to an error about a configured value, as errors of the file have
// them. It returns other errors unchanged, and those about a value that is not from the file.
func (o Overrides) InFile(path string, err error) error {
	if err == nil {
		return nil
	}
	m := keyOf.FindStringSubmatch(err.Error())
	if m == nil || o.has(m[1]) {
		return err
	}
	if path == "" {
		path = defaultConfigPath
	}
	text, readErr := regularfile.Read(path, maxConfig)
	if readErr != nil {
		return err // the value is a default
	}
	var tree map[string]any
	meta, readErr := toml.Decode(string(text), &tree)
	key := toml.Key(strings.Split(m[1], "."))
	if readErr != nil || !firmwareconfig.HasKey(meta, key) {
		return err
	}
	return fmt.Errorf("config: %s: %s: %w", path, placeOf(string(text), key), err)
}

// has reports whether the command line set the value of a key.
func (o Overrides) has(key string) bool {
	return map[string]string{
		"camera.source": o.Source, "camera.lens": o.Lens, "table.calibration": o.Calibration, "web.listen": o.Listen, "rules.edition": o.Rules,
	}[key] != ""
}
