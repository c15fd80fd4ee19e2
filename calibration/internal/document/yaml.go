package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var yamlUnknown = regexp.MustCompile(`line (\d+): field (.*) not found in type`)

// DecodeYAML decodes exactly one YAML document without unknown keys.
func DecodeYAML(raw []byte, to any) error {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	err := d.Decode(to)
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty, expected YAML")
	}
	if err != nil {
		if m := yamlUnknown.FindStringSubmatch(err.Error()); m != nil {
			return fmt.Errorf("line %s: unknown key %q", m[1], m[2])
		}
		return errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("something follows the YAML document")
	}
	return nil
}

// MarshalYAML formats one YAML document with an explicit end.
func MarshalYAML(v any) ([]byte, error) {
	raw, err := yaml.Marshal(v)
	return append(raw, YAMLEnd+"\n"...), err
}
