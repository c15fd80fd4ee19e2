package document

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// hashKey is the key that holds the hash of everything else in the file.
const hashKey = "hash"

// Hash returns the hash of what a calibration file says: SHA-256, in hex, of
// its content as compact JSON with sorted keys, without the hash itself. Spaces, the
// order of keys and the choice of JSON or YAML do not change it; every figure does.
// A file that says nothing (a foreign one) has the hash of its bytes.
func Hash(raw []byte, isYAML bool) string {
	if _, sum, err := Hashes(raw, isYAML); err == nil {
		return sum
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Hashes returns the hash that the file states, "" for none, and the one that its
// content has.
func Hashes(raw []byte, isYAML bool) (stated, actual string, err error) {
	var content map[string]any
	decode := json.Unmarshal
	if isYAML {
		decode = yaml.Unmarshal
	}
	if err := decode(raw, &content); err != nil {
		return "", "", err
	}
	stated, _ = content[hashKey].(string)
	delete(content, hashKey)
	plainJSON, err := json.Marshal(evened(content))
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(plainJSON)
	return stated, hex.EncodeToString(sum[:]), nil
}

// evened returns a decoded value with every number as a float64 and without negative
// zeros, so that JSON and YAML give the same.
func evened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = evened(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = evened(x)
		}
		return out
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		if v == 0 {
			return 0.0 // without its sign
		}
	}
	return v
}

// YAMLEnd ends a YAML document.
const YAMLEnd = "..."

// IsWholeYAML reports whether a YAML document ends as marshalYAML ends it. YAML has no
// closing bracket: this line is how a whole file is told from one that lost its last
// keys.
func IsWholeYAML(raw []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(raw, "\r\n"), []byte(YAMLEnd))
}

// IsYAML tells YAML from anything else by the file's ending.
func IsYAML(path string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(path)))
}

// Seal returns a file that holds the hash of its own content. write writes it with
// a hash, or without one when that is "".
func Seal(isYAML bool, write func(hash string) ([]byte, error)) ([]byte, error) {
	raw, err := write("")
	if err != nil {
		return nil, err
	}
	_, sum, err := Hashes(raw, isYAML)
	if err != nil {
		return nil, err
	}
	return write(sum)
}
