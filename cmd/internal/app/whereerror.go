package app

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"sightline/calibration/regularfile"
)

// keyOf finds the key that an error of Run begins with: "camera.lens: …".
var keyOf = regexp.MustCompile(`^([a-z]+\.[a-z_]+): `)

// InFile says of an error about a configured value in which file and line it stands,
// as errors of the file itself do. An error about something else, or about a value
// that does not come from the file, stays as it is.
func (o Overrides) InFile(path string, err error) error {
	if err == nil {
		return nil
	}
	m := keyOf.FindStringSubmatch(err.Error())
	if m == nil || o.has(m[1]) {
		return err
	}
	if path == "" {
		path = DefaultConfigPath
	}
	text, readErr := regularfile.Read(path, maxConfig)
	if readErr != nil {
		return err // the value is a default
	}
	var tree map[string]any
	meta, readErr := toml.Decode(string(text), &tree)
	key := toml.Key(strings.Split(m[1], "."))
	if readErr != nil || !hasKey(meta, key) {
		return err
	}
	return fmt.Errorf("config: %s: %s: %w", path, placeOf(string(text), key), err)
}

// has reports whether the command line gave the value of a key.
func (o Overrides) has(key string) bool {
	return map[string]string{
		"camera.source": o.Source, "camera.lens": o.Lens, "table.calibration": o.Calibration, "web.listen": o.Listen, "rules.edition": o.Rules,
	}[key] != ""
}
