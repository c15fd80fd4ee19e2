package vision

import (
	"cmp"
)

// CompareIDs orders ships' names for people: A2 before A10.
func CompareIDs(a, b string) int {
	if a != "" && b != "" && a[0] != b[0] {
		return cmp.Compare(a[0], b[0])
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
