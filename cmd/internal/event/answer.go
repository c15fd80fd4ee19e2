package event

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"sightline/cmd/internal/access"
)

// answerWithin is how long a request to one of the table's addresses may take.
const answerWithin = 30 * time.Second

// answer answers a request of the hall.
func (c *Client) answer(ctx context.Context, m *nats.Msg) {
	switch strings.TrimPrefix(m.Subject, c.subjects.Ask("")) {
	case AskClock:
		if body, err := json.Marshal(c.clock()); err == nil {
			_ = m.Respond(body) // if the answer is lost, the hall asks again
		}
	case AskWatch:
		c.watched.Store(c.up(time.Now().Add(Lease)))
	case AskResend:
		var r Resend
		if json.Unmarshal(m.Data, &r) == nil && r.From >= 1 {
			c.o.Log.Info("the hall asks for the record again", "from", r.From)
			c.resend(ctx, r.From)
		}
	case AskHTTP:
		ctx, stop := context.WithTimeout(ctx, answerWithin)
		defer stop()
		if err := m.RespondMsg(c.answerHTTP(ctx, m)); err != nil {
			c.o.Log.Warn("hall: an answer was not sent", "path", m.Header.Get(HeaderPath), "err", err)
		}
	}
}

// resend sets the cursor back, so that the entries from this number on are sent again.
func (c *Client) resend(ctx context.Context, from int64) {
	var hash string
	if from > 1 {
		e, err := c.o.Record.Entry(ctx, from-1)
		if err != nil {
			from = 1
		} else {
			hash = e.Hash
		}
	}
	c.outbox.set(from-1, hash)
	c.wakeOutbox()
}

// busy returns the answer to a request for which there is no room.
func busy(m *nats.Msg) *nats.Msg {
	out := nats.NewMsg(m.Reply)
	out.Header.Set(HeaderStatus, strconv.Itoa(http.StatusServiceUnavailable))
	out.Header.Set("Retry-After", "1")
	out.Data = []byte("The table has too many requests at once and did not carry this one out: try again.\n")
	return out
}

// tooLate reports whether the hall no longer waits for a request. A stalled network delivers
// requests minutes later, when the caller has long been told that the outcome is unknown. A hall of
// an older version, behind another broker, sends no time limit.
func (c *Client) tooLate(until string) bool {
	if until == "" {
		return false
	}
	session, ms, _ := strings.Cut(until, " ")
	up, err := strconv.ParseInt(ms, 10, 64)
	return err != nil || session != c.session || c.up(time.Now()) > up
}

// roles are the roles that the hall may claim for a request.
var roles = map[string]access.Role{"reader": access.Reader, "player": access.Player, "judge": access.Judge}

// answerHTTP answers a request of the hall to one of the table's own addresses.
func (c *Client) answerHTTP(ctx context.Context, m *nats.Msg) *nats.Msg {
	role, known := roles[m.Header.Get(HeaderRole)]
	path := m.Header.Get(HeaderPath)
	out := nats.NewMsg(m.Reply)
	if c.tooLate(m.Header.Get(HeaderUntil)) {
		c.o.Log.Warn("hall: a request came too late, and was not done", "path", path)
		out.Header.Set(HeaderStatus, strconv.Itoa(http.StatusGatewayTimeout))
		return out
	}
	if !known || !strings.HasPrefix(path, "/") {
		out.Header.Set(HeaderStatus, strconv.Itoa(http.StatusBadRequest))
		return out
	}
	ctx = access.WithSession(ctx, access.Session{Role: role, Name: m.Header.Get(HeaderName), Expires: time.Now().Add(time.Hour)})
	header := http.Header{}
	for _, key := range passed {
		if v := m.Header.Get(key); v != "" {
			header.Set(key, v)
		}
	}
	answer := c.ask(ctx, m.Header.Get(HeaderMethod), path, m.Data, header)
	if answer.body.Len() > PictureMost {
		answer = &recorder{header: http.Header{}, status: http.StatusInsufficientStorage}
		answer.body.WriteString("The table's answer is too large for the hall: ask at the table itself.\n")
	}
	out.Header.Set(HeaderStatus, strconv.Itoa(answer.status))
	for _, key := range returned {
		if v := answer.header.Get(key); v != "" {
			out.Header.Set(key, v)
		}
	}
	out.Data = answer.body.Bytes()
	return out
}

// passed lists the request headers that the hall passes to the table; returned lists the response
// headers that it passes back.
var (
	passed   = []string{"Content-Type", "Accept-Language", "If-Match", "If-None-Match"}
	returned = []string{"Content-Type", "Content-Disposition", "Content-Language", "ETag", "Location", "Retry-After",
		"Sightline-Needs", "Sightline-Confirm"}
)

// Returned returns the headers of a table's response that the hall passes back.
func Returned() []string { return returned }

// Passed returns the headers of a request that the hall passes to the table.
func Passed() []string { return passed }

// ask sends a request to the table's own server, in this process.
func (c *Client) ask(ctx context.Context, method, path string, body []byte, header http.Header) *recorder {
	out := &recorder{header: http.Header{}, status: http.StatusOK}
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, io.NopCloser(bytes.NewReader(body)))
	if err != nil {
		out.status = http.StatusBadRequest
		return out
	}
	if header != nil {
		r.Header = header
	}
	r.ContentLength, r.RemoteAddr = int64(len(body)), "127.0.0.1:0"
	defer func() {
		if p := recover(); p != nil { // as net/http does for its clients
			out.status = http.StatusInternalServerError
			c.o.Log.Warn("hall: the table's server failed", "path", path, "err", p)
		}
	}()
	c.o.Serve.ServeHTTP(out, r)
	return out
}

// recorder records a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	wrote  bool
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
}

// Write implements http.ResponseWriter. It keeps only the beginning of a response that is too
// large.
func (r *recorder) Write(p []byte) (int, error) {
	r.wrote = true
	if r.body.Len() > PictureMost {
		return 0, io.ErrShortWrite
	}
	return r.body.Write(p)
}
