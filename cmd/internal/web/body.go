package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"sightline/calibration/strictjson"
	"sightline/cmd/internal/live"
)

// readJSON reads one JSON object with known keys, each at most once, and nothing after it. problem
// is a sentence for people. It refuses everything else, also null and "": the decoder would take
// null for an empty object.
func readJSON(body io.Reader, into any, example string) (problem string) {
	raw, err := io.ReadAll(body)
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return fmt.Sprintf("The request is too large: it is longer than %d bytes.", large.Limit)
		}
		return "The request cannot be read: " + err.Error() + "."
	}
	switch {
	case !utf8.Valid(raw):
		return "The request is not UTF-8."
	case !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")):
		return fmt.Sprintf("The request must be JSON such as %s: an object in braces.", example)
	}
	if err := strictjson.Decode(raw, into); err != nil {
		return fmt.Sprintf("The request must be JSON such as %s: %v.", example, err)
	}
	return ""
}

// bodyAtMost is the largest body of a request, in bytes; most handlers accept less.
const bodyAtMost = 64 << 10

// shortened limits every body to bodyAtMost, or to the size given for its method and path.
func shortened(longer map[string]int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most, ok := longer[r.Method+" "+r.URL.Path]
		if !ok {
			most = bodyAtMost
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		next.ServeHTTP(w, r)
	})
}

// ReadBody reads a request's JSON object of at most the given size, as strictly as this server's
// own handlers. If it is invalid, it answers the request and reports false.
func ReadBody(w http.ResponseWriter, r *http.Request, into any, most int64, example string) bool {
	problem := readJSON(http.MaxBytesReader(w, r.Body, most), into, example)
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
	}
	return problem == ""
}

// readBody is ReadBody for small objects.
func readBody(w http.ResponseWriter, r *http.Request, into any, example string) bool {
	return ReadBody(w, r, into, bodyMost, example)
}

// refusalStatus has the HTTP status of each kind of refusal.
var refusalStatus = []struct {
	kind   error
	status int
}{
	{live.ErrInvalid, http.StatusBadRequest}, {live.ErrForbidden, http.StatusForbidden}, {live.ErrOvertaken, http.StatusConflict},
	{live.ErrNoAnswers, http.StatusServiceUnavailable}, {live.ErrInUse, http.StatusServiceUnavailable},
	{live.ErrUnwritten, http.StatusInsufficientStorage},
}

// Refuse answers with a refusal's sentence and its status.
func Refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	for _, known := range refusalStatus {
		if errors.Is(err, known.kind) {
			status = known.status
		}
	}
	http.Error(w, err.Error(), status)
}

// readNothing reports whether a request has no body, and answers one that has: its address must say
// everything.
func readNothing(w http.ResponseWriter, r *http.Request) bool {
	if n, _ := io.ReadFull(r.Body, make([]byte, 1)); n > 0 {
		http.Error(w, "This request takes no body.", http.StatusBadRequest)
		return false
	}
	return true
}
