package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"

	"sightline/calibration/strictjson"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
)

// readJSON reads one JSON object with known keys, each once, and nothing after it; problem
// is a sentence for people. What is no object is refused, as are null and "": the decoder
// would take null for an object with nothing in it.
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
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			return fmt.Sprintf("%s must be %s, got a JSON %s. The request must be JSON such as %s.", kind.Field, kindWords(kind.Type.Kind()),
				kind.Value, example)
		}
		return fmt.Sprintf("The request must be JSON such as %s: %s.", example, strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "The request must be one JSON object and nothing after it."
	}
	if key := strictjson.KeyTwice(raw); key != "" {
		return sentence.Of(strictjson.Twice(key))
	}
	return ""
}

// bodyAtMost is how large a request's body may be; most handlers take less.
const bodyAtMost = 64 << 10

// shortened keeps every body to bodyAtMost, or to what is named for its method and path.
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

// ReadBody reads a request's JSON object of at most so many bytes, as strictly as this
// server's own addresses do, or answers what is wrong with it and reports false.
func ReadBody(w http.ResponseWriter, r *http.Request, into any, most int64, example string) bool {
	problem := readJSON(http.MaxBytesReader(w, r.Body, most), into, example)
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
	}
	return problem == ""
}

// readBody reads a request's small JSON object, or answers what is wrong with it and
// reports false.
func readBody(w http.ResponseWriter, r *http.Request, into any, example string) bool {
	return ReadBody(w, r, into, bodyMost, example)
}

// refusalStatus are the statuses of what the table refuses.
var refusalStatus = []struct {
	kind   error
	status int
}{
	{live.ErrInvalid, http.StatusBadRequest}, {live.ErrForbidden, http.StatusForbidden}, {live.ErrOvertaken, http.StatusConflict},
	{live.ErrNoAnswers, http.StatusServiceUnavailable}, {live.ErrInUse, http.StatusServiceUnavailable},
	{live.ErrUnwritten, http.StatusInsufficientStorage},
}

// Refuse answers with a refusal's sentence and the status of its kind.
func Refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	for _, known := range refusalStatus {
		if errors.Is(err, known.kind) {
			status = known.status
		}
	}
	http.Error(w, err.Error(), status)
}

// readNothing reports whether a request has no body, as one must that says all by its
// address. It answers one that has.
func readNothing(w http.ResponseWriter, r *http.Request) bool {
	if n, _ := io.ReadFull(r.Body, make([]byte, 1)); n > 0 {
		http.Error(w, "This request takes no body.", http.StatusBadRequest)
		return false
	}
	return true
}

// kindWords says what of JSON a field takes.
func kindWords(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text in quotation marks"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct, reflect.Map:
		return "an object in braces"
	case reflect.Slice, reflect.Array:
		return "a list in brackets"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number that is not negative"
}
