package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
)

// Source is the judges' record of a table. Numbers begin at 1.
type Source interface {
	// Head returns the last entry's number and hash; 0 and "" if there is none.
	Head(ctx context.Context) (number int64, hash string, err error)
	// Entry returns an entry.
	Entry(ctx context.Context, number int64) (Entry, error)
}

// Entry is an entry of the record in the form sent to the hall.
type Entry struct {
	Number  int64
	Hash    string // SHA-256 of Record, in hex
	At      time.Time
	Record  []byte // in canonical form
	Picture []byte // nil: none, or too large
	SHA256  string // of Picture, in hex
	Type    string // of Picture: "image/jpeg"
}

// outbox sends the record to the hall, entry by entry, and stores its position.
type outbox struct {
	c    *Client
	file string

	mu       sync.Mutex // guards the fields below
	cursor   cursor
	readHead time.Time
	head     Record
}

// cursor is the last entry that the hall acknowledged.
type cursor struct {
	Event  string `json:"event"`
	Table  string `json:"table"`
	Number int64  `json:"number"`
	Hash   string `json:"hash"`
}

const cursorMost = 1 << 10 // bytes of its file

// load reads the cursor. If its file cannot be read or belongs to another event, it starts at 0:
// the hall stores an entry that it already has only once.
func (b *outbox) load() {
	i := b.c.o.Invitation
	b.cursor = cursor{Event: i.Event, Table: i.Table}
	if b.file == "" {
		return
	}
	raw, err := regularfile.Read(b.file, cursorMost)
	var read cursor
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil || json.Unmarshal(raw, &read) != nil || read.Number < 0:
		b.c.o.Log.Warn("hall: how far the record was handed on cannot be read: all of it is sent again", "file", b.file, "err", err)
	case read.Event == i.Event && read.Table == i.Table:
		b.cursor = read
	}
}

// set moves the cursor.
func (b *outbox) set(number int64, hash string) {
	b.mu.Lock()
	b.cursor.Number, b.cursor.Hash = number, hash
	now := b.cursor
	b.mu.Unlock()
	if b.file == "" {
		return
	}
	raw, err := json.Marshal(now)
	if err == nil {
		err = atomicfile.Write(b.file, append(raw, '\n'), 0o600)
	}
	if err != nil { // the hall gets it again after the next start, and stores it once
		b.c.o.Log.Warn("hall: how far the record was handed on cannot be kept", "err", err)
	}
}

// headEvery is the least time between two reads of the record's head.
const headEvery = 400 * time.Millisecond

// standing returns the state of the record.
func (b *outbox) standing(ctx context.Context) Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.readHead) >= headEvery {
		number, hash, err := b.c.o.Record.Head(ctx)
		b.head, b.readHead = Record{Number: number, Hash: hash}, time.Now()
		if err != nil {
			b.head.Error = cut(err.Error())
		}
	}
	r := b.head
	r.Sent = b.cursor.Number
	return r
}

// Sent returns the number of the last entry that the hall acknowledged.
func (c *Client) Sent() int64 {
	c.outbox.mu.Lock()
	defer c.outbox.mu.Unlock()
	return c.outbox.cursor.Number
}

// behind reports whether the record has entries that were not sent, or others than were sent.
func (b *outbox) behind(r Record) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return r.Error == "" && (r.Number != b.cursor.Number || r.Number > 0 && r.Hash != b.cursor.Hash)
}

// run sends new entries whenever it is woken, until ctx is cancelled.
func (b *outbox) run(ctx context.Context, conn *nats.Conn) {
	said := "" // last logged error
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.c.wake:
		}
		for ctx.Err() == nil && conn.IsConnected() {
			more, err := b.next(ctx, conn)
			if err != nil && ctx.Err() == nil {
				if text := err.Error(); text != said {
					b.c.o.Log.Warn("hall: a ruling was not acknowledged; it is sent again until it is", "err", err)
					said = text
				}
				select {
				case <-ctx.Done():
				case <-time.After(outboxEvery):
				}
				continue
			}
			said = ""
			if !more {
				break
			}
		}
	}
}

// next sends one entry. more reports that there may be another.
func (b *outbox) next(ctx context.Context, conn *nats.Conn) (more bool, err error) {
	head, _, err := b.c.o.Record.Head(ctx)
	if err != nil {
		return false, err
	}
	b.mu.Lock()
	at := b.cursor
	b.mu.Unlock()
	if b.another(ctx, at, head) { // send all of it again, so that the hall sees the whole new record
		b.c.o.Log.Warn("hall: the record is another one than was handed on: all of it is sent", "number", at.Number)
		b.set(0, "")
		return true, nil
	}
	if at.Number >= head {
		return false, nil
	}
	e, err := b.c.o.Record.Entry(ctx, at.Number+1)
	if err != nil {
		return false, err
	}
	if err := b.send(ctx, conn, &e); err != nil {
		return false, err
	}
	b.mu.Lock()
	moved := b.cursor != at // the hall asked for it again meanwhile
	b.mu.Unlock()
	if !moved {
		b.set(e.Number, e.Hash)
	}
	return true, nil
}

// another reports whether the record no longer holds the entry sent last: it lost its end, or is
// another record.
func (b *outbox) another(ctx context.Context, at cursor, head int64) bool {
	if at.Number == 0 || at.Number > head {
		return at.Number > head
	}
	last, err := b.c.o.Record.Entry(ctx, at.Number)
	return err == nil && last.Hash != at.Hash
}

// send sends an entry, its picture first, and waits until both are stored.
func (b *outbox) send(ctx context.Context, conn *nats.Conn, e *Entry) error {
	c := b.c
	table := c.o.Invitation.Table
	if len(e.Picture) > 0 && len(e.Picture) <= PictureMost {
		m := c.message(c.subjects.Picture(e.SHA256), "picture", table+":"+e.SHA256, e.At, e.Picture)
		m.Header["Content-Type"] = []string{e.Type}
		if err := publish(ctx, conn, m); err != nil {
			return fmt.Errorf("event: picture of ruling %d: %w", e.Number, err)
		}
	}
	if len(e.Record) > PictureMost {
		return fmt.Errorf("event: ruling %d has %d bytes, and at most %d fit in a message", e.Number, len(e.Record), PictureMost)
	}
	m := c.message(c.subjects.Ruling(e.Number, e.Hash), "ruling", table+":"+e.Hash, e.At, e.Record)
	if err := publish(ctx, conn, m); err != nil {
		return fmt.Errorf("event: ruling %d: %w", e.Number, err)
	}
	return nil
}

// duplicateCode is JetStream's error for a second message on a subject that keeps one. The message
// is already stored.
const duplicateCode = 10077

// publish publishes a message and waits until it is on the broker's disk. Its subject, with number
// and hash, makes it unique there. It has no Nats-Msg-Id: the broker has one list of them for all
// tables, and would acknowledge it unread if another table had used the same id.
func publish(ctx context.Context, conn *nats.Conn, m *nats.Msg) error {
	ctx, stop := context.WithTimeout(ctx, ackWithin)
	defer stop()
	answer, err := conn.RequestMsgWithContext(ctx, m)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the hall did not acknowledge it within %v", ackWithin)
	}
	if err != nil {
		return err
	}
	var ack struct {
		Stream string `json:"stream"`
		Seq    uint64 `json:"seq"`
		Error  *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(answer.Data, &ack); {
	case err != nil:
		return fmt.Errorf("the hall's answer cannot be read: %w", err)
	case ack.Error != nil && ack.Error.Code == duplicateCode:
		return nil
	case ack.Error != nil:
		return errors.New(ack.Error.Description)
	case ack.Seq == 0:
		return errors.New("the hall did not say that it keeps it")
	}
	return nil
}
