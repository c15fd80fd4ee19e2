package engine

import (
	"slices"
	"strings"
)

// Between returns what a result says from one ship to another, or to an object; "" stands
// for all. The result itself stays as it is.
func (r Result) Between(from, to string) Result {
	other := func(f, t string) bool {
		part := strings.HasPrefix(t, to+".") // of a device of several cards
		return from != "" && f != from || to != "" && t != to && !part
	}
	r.Pairs = slices.DeleteFunc(slices.Clone(r.Pairs), func(p PairVerdict) bool { return other(p.From, p.To) })
	r.Objects = slices.DeleteFunc(slices.Clone(r.Objects), func(o ObjectVerdict) bool { return other(o.From, o.To) })
	r.Standing = slices.DeleteFunc(slices.Clone(r.Standing), func(s Standing) bool { return from != "" && s.ID != from })
	return r
}
