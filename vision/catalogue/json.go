package catalogue

import (
	"encoding/json"
	"fmt"
)

// pointFile is a corner of an outline, x and y in mm.
type pointFile [2]float64

// UnmarshalJSON implements json.Unmarshaler. It refuses a point with fewer than two coordinates.
func (p *pointFile) UnmarshalJSON(raw []byte) error {
	var v []*float64
	if json.Unmarshal(raw, &v) != nil || len(v) != 2 || v[0] == nil || v[1] == nil {
		return fmt.Errorf("a point: expected [x, y] in mm, got %.40s", raw)
	}
	*p = pointFile{*v[0], *v[1]}
	return nil
}
