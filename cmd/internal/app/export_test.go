package app

import (
	"log/slog"
	"reflect"
	"slices"
)

// SavedCalibration returns the files of the guided calibration that a program would use.
func SavedCalibration(c Config) (lens, table string) {
	log := slog.New(slog.DiscardHandler)
	kept := keptFirst(log)
	c = withSavedCalibration(c, &kept, log)
	return c.Camera.Lens, c.Table.Calibration
}

// ConfigKeys lists every key that the configuration file may hold.
func ConfigKeys() []string { return keysOf(reflect.TypeFor[rawConfig](), "") }

func keysOf(t reflect.Type, prefix string) []string {
	var keys []string
	for i := range t.NumField() {
		f := t.Field(i)
		key := prefix + f.Tag.Get("toml")
		inner := f.Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			keys = append(keys, keysOf(inner, key+".")...)
		} else {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
