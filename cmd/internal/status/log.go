// Package status is the page /status: the state of the program, its cameras and gauges, and the end
// of its log, to read and to copy into a bug report.
package status

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"
)

// tailMost is the number of records in the tail of the log.
const tailMost = 200

// Record is a line of the log without secrets.
type Record struct {
	AtMS  int64  `json:"at_unix_ms"`
	Level string `json:"level"`
	Text  string `json:"text"`
}

// Tail is a slog.Handler that passes everything on to another one and keeps the last records,
// without secrets. It is safe for concurrent use.
type Tail struct {
	next   slog.Handler
	prefix string // prefix of attribute keys: the open groups
	attrs  string // of With, formatted
	kept   *kept
}

// kept is a ring of records that all handlers of one Tail share.
type kept struct {
	mu   sync.Mutex
	ring []Record
	from int // index of the oldest, once the ring is full
}

// NewTail returns a handler that passes records on to next.
func NewTail(next slog.Handler) *Tail { return &Tail{next: next, kept: &kept{}} }

// Enabled implements slog.Handler.
func (t *Tail) Enabled(ctx context.Context, level slog.Level) bool { return t.next.Enabled(ctx, level) }

// Handle implements slog.Handler.
func (t *Tail) Handle(ctx context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(hide(r.Message))
	b.WriteString(t.attrs)
	r.Attrs(func(a slog.Attr) bool {
		write(&b, t.prefix, a)
		return true
	})
	t.kept.add(Record{AtMS: r.Time.UnixMilli(), Level: r.Level.String(), Text: b.String()})
	return t.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (t *Tail) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *t
	var b strings.Builder
	b.WriteString(t.attrs)
	for _, a := range attrs {
		write(&b, t.prefix, a)
	}
	out.next, out.attrs = t.next.WithAttrs(attrs), b.String()
	return &out
}

// WithGroup implements slog.Handler.
func (t *Tail) WithGroup(name string) slog.Handler {
	out := *t
	out.next, out.prefix = t.next.WithGroup(name), t.prefix+name+"."
	return &out
}

// Records returns the kept records, oldest first.
func (t *Tail) Records() []Record {
	t.kept.mu.Lock()
	defer t.kept.mu.Unlock()
	return append(append([]Record{}, t.kept.ring[t.kept.from:]...), t.kept.ring[:t.kept.from]...)
}

func (k *kept) add(r Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.ring) < tailMost {
		k.ring = append(k.ring, r)
		return
	}
	k.ring[k.from] = r
	k.from = (k.from + 1) % tailMost
}

// write writes an attribute as " key=value".
func write(b *strings.Builder, prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		for _, inner := range value.Group() {
			write(b, prefix+a.Key+".", inner)
		}
		return
	}
	text := value.String()
	if value.Kind() == slog.KindTime {
		text = value.Time().Format(time.RFC3339)
	}
	if secretKey.MatchString(a.Key) {
		text = hidden
	}
	b.WriteString(" " + prefix + a.Key + "=" + hide(text))
}

const hidden = "•••"

var (
	secretKey = regexp.MustCompile(`(?i)code|token|secret|password|cookie|session`)
	// name and password in the address of a camera's stream
	userInfo = regexp.MustCompile(`://[^/\s@"]+@`)
	inQuery  = regexp.MustCompile(`(?i)\b(token|code|secret|password|key)=[^\s&"]+`)
)

// hide replaces secrets in a text.
func hide(text string) string {
	text = userInfo.ReplaceAllString(text, "://"+hidden+"@")
	return inQuery.ReplaceAllString(text, "$1="+hidden)
}
