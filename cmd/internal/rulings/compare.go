package rulings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/engine"
	"sightline/engine/scenefile"
)

// noise is the accepted difference between two computations of the same figure: processors
// round sines and fused products differently, by some 1e-13 mm, which a margin near a sharp
// corner amplifies. It is a ten-thousandth of the smallest stated sigma.
const noise = 1e-6

// Difference is a key of a verdict whose value differs.
type Difference struct {
	Key      string `json:"key"` // "arcs[0].attack.obstruction.verdict"
	Recorded string `json:"recorded"`
	Now      string `json:"now"`
}

// figure reports whether a key holds a measured figure and not an answer.
func figure(key string) bool {
	return strings.HasSuffix(key, "_mm") || strings.Contains(key, "lines_mm")
}

// absent is the value of a key that a verdict does not have.
const absent = "absent"

// partition separates the differences of answers from those of figures. Figures that only the present engine states are in neither,
// since the older program did not know them; added names them.
func partition(all []Difference) (answers, figures []Difference, added []string) {
	for _, d := range all {
		switch {
		case !figure(d.Key):
			answers = append(answers, d)
		case d.Recorded == absent:
			added = append(added, d.Key)
		default:
			figures = append(figures, d)
		}
	}
	return answers, figures, added
}

// pairJSON returns a pair's verdict as result files have it.
func pairJSON(p engine.PairVerdict) (json.RawMessage, error) {
	doc, err := scenefile.MarshalResult(engine.Result{Pairs: []engine.PairVerdict{p}})
	if err != nil {
		return nil, err
	}
	var result struct {
		Pairs []json.RawMessage `json:"pairs"`
	}
	if err := json.Unmarshal(doc, &result); err != nil {
		return nil, err
	}
	if len(result.Pairs) != 1 {
		return nil, errors.New("the engine wrote no pair")
	}
	return result.Pairs[0], nil
}

// measure measures the record's pair in its scene, as its edition and sigmas ask.
func (r *Record) measure() (json.RawMessage, error) {
	scene, err := (&Entry{Record: *r}).SceneOf()
	if err != nil {
		return nil, err
	}
	p, err := engine.MeasurePair(&scene, r.From, r.To, engine.Options{Sigmas: r.Sigmas})
	if err != nil {
		return nil, err
	}
	return pairJSON(p)
}

// differences lists where two JSON documents differ by more than noise.
func differences(recorded, now json.RawMessage) ([]Difference, error) {
	var a, b any
	if err := json.Unmarshal(recorded, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(now, &b); err != nil {
		return nil, err
	}
	var out []Difference
	differ("", a, b, &out)
	return out, nil
}

func differ(key string, a, b any, out *[]Difference) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			differKeys(key, x, y, out)
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				differ(key+"["+strconv.Itoa(i)+"]", x[i], y[i], out)
			}
			return
		}
	case float64:
		if y, ok := b.(float64); ok && math.Abs(x-y) <= noise {
			return
		}
	}
	if x, y := plainJSON(a), plainJSON(b); x != y {
		*out = append(*out, Difference{key, x, y})
	}
}

func differKeys(key string, a, b map[string]any, out *[]Difference) {
	var keys []string
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		at := k
		if key != "" {
			at = key + "." + k
		}
		x, inA := a[k]
		y, inB := b[k]
		switch {
		case !inA:
			*out = append(*out, Difference{at, absent, plainJSON(y)})
		case !inB:
			*out = append(*out, Difference{at, plainJSON(x), absent})
		default:
			differ(at, x, y, out)
		}
	}
}

// plainJSON formats a value briefly.
func plainJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 80
	if len(raw) > most {
		return string(raw[:most]) + "…"
	}
	return string(raw)
}
