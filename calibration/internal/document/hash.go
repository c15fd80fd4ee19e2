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

// hashKey is the key with the hash of everything else in the file.
const hashKey = "hash"

// Hash returns the hash of a calibration file's content: the SHA-256, in hex, of its
// values as compact JSON with sorted keys, without the hash itself. Spaces, the order of
// keys and the choice of JSON or YAML do not change it; every figure does. A file that
// cannot be decoded has the hash of its bytes.
func Hash(raw []byte, isYAML bool) string {
	if _, sum, err := Hashes(raw, isYAML); err == nil {
		return sum
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Hashes returns the hash stated in the file, "" for none, and that of its content.
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
	plainJSON, err := json.Marshal(normalized(content))
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(plainJSON)
	return stated, hex.EncodeToString(sum[:]), nil
}

// normalized returns a decoded value with every number as a float64 and without negative
// zeros, so JSON and YAML give the same.
func normalized(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = normalized(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = normalized(x)
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

// IsWholeYAML reports whether a YAML document has the end that MarshalYAML writes. YAML
// has no closing bracket; this line distinguishes a complete file from one that lost its
// last keys.
func IsWholeYAML(raw []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(raw, "\r\n"), []byte(YAMLEnd))
}

// IsYAML reports whether a file is YAML by its ending.
func IsYAML(path string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(path)))
}

// Seal returns a file with the hash of its own content. write formats it with a hash, or
// without one for "".
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
