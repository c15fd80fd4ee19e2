package hall

import (
	"time"

	"sightline/cmd/internal/access"
)

// FloodMost lets a table send so many messages in a second, and returns how many before.
func FloodMost(n int64) (before int64) {
	before, floodMost = floodMost, n
	return before
}

// Roles says of each of the hall's addresses who may ask.
func Roles() map[string]string {
	h := &Hall{guard: access.NewGuard(access.Options{}, time.Now)}
	out := map[string]string{}
	for _, r := range h.routes() {
		out[r.Pattern] = r.Role.String()
	}
	return out
}
