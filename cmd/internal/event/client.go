package event

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"sightline/cmd/internal/live"
)

// Options are the dependencies of a client.
type Options struct {
	Invitation Invitation
	Newest     func() live.State
	Record     Source
	// Serve answers the table's own addresses with the session in the request's context.
	Serve   http.Handler
	Cursor  string            // file with the last acknowledged entry; "": it is not stored
	Version string            // of the program
	Log     *slog.Logger      // nil: slog.Default()
	Notice  func(text string) // reports to the people at the table; may be nil

	dial func() nats.CustomDialer // for tests; nil: package net
}

// How often messages are sent.
const (
	healthEvery = 500 * time.Millisecond // at most
	healthLeast = time.Second            // at least
	stateEvery  = 200 * time.Millisecond // while someone watches
	pingEvery   = time.Second
	dialWithin  = 2 * time.Second
	ackWithin   = 10 * time.Second
	outboxEvery = time.Second // interval between attempts while an entry is unacknowledged
	asksAtOnce  = 8           // concurrent requests to the table's addresses
	asksMost    = 64          // the same, including those that wait
	turnWithin  = 10 * time.Second
)

// Client joins a table to a hall.
type Client struct {
	o        Options
	subjects Subjects
	session  string
	began    time.Time
	outbox   outbox

	watched atomic.Int64 // time until which someone watches, ms of the steady clock
	wake    chan struct{}
	status  status
}

// New returns a client. It reads the cursor's file, but does not connect.
func New(o Options) (*Client, error) {
	if err := o.Invitation.validate(); err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	c := &Client{
		o: o, subjects: SubjectsOf(o.Invitation.Event, o.Invitation.Table), session: rand.Text()[:12], began: time.Now(),
		wake: make(chan struct{}, 1),
	}
	c.outbox = outbox{c: c, file: o.Cursor}
	c.outbox.load()
	return c, nil
}

// String names the task.
func (c *Client) String() string { return "hall" }

// up converts a time to the client's steady clock, in ms.
func (c *Client) up(t time.Time) int64 { return t.Sub(c.began).Milliseconds() }

func (c *Client) clock() Clock {
	now := time.Now()
	return Clock{Session: c.session, UpMS: c.up(now), AtMS: now.UnixMilli()}
}

// Run talks to the hall until ctx is cancelled. If the hall is absent, disappears or refuses the
// table, that is no error: the table continues, and the record waits.
func (c *Client) Run(ctx context.Context) error {
	conn, err := c.connect()
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	defer conn.Close()
	sub, err := conn.Subscribe(c.subjects.Ask(">"), c.answerInTurn(ctx))
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	defer sub.Unsubscribe()
	var group sync.WaitGroup
	for _, loop := range []func(context.Context, *nats.Conn){c.tellHealth, c.tellState, c.outbox.run} {
		group.Go(func() { loop(ctx, conn) })
	}
	<-ctx.Done()
	conn.Close() // ends whatever waits for an answer
	group.Wait()
	return nil
}

// answerInTurn returns a handler of the hall's requests, of which asksAtOnce are answered at the same time and others wait. A
// caller repeats what is answered with busy.
func (c *Client) answerInTurn(ctx context.Context) nats.MsgHandler {
	asks, turns := make(chan struct{}, asksMost), make(chan struct{}, asksAtOnce)
	await := func(m *nats.Msg) {
		defer func() { <-asks }()
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
			c.answer(ctx, m)
		case <-time.After(turnWithin):
			_ = m.RespondMsg(busy(m))
		}
	}
	return func(m *nats.Msg) {
		if what := m.Subject; what == c.subjects.Ask(AskClock) || what == c.subjects.Ask(AskWatch) {
			c.answer(ctx, m) // at once: the hall uses the clock to decide what is live
			return
		}
		select {
		case asks <- struct{}{}:
			go await(m)
		default:
			_ = m.RespondMsg(busy(m))
		}
	}
}

// connect returns a connection that is established, and re-established, in the background.
func (c *Client) connect() (*nats.Conn, error) {
	i := c.o.Invitation
	key, err := nkeys.FromSeed([]byte(i.Seed))
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	options := []nats.Option{
		nats.Name(c.session), nats.Nkey(public, key.Sign), nats.CustomInboxPrefix(Inbox(i.Event, i.Table)),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second),
		nats.ReconnectBufSize(-1), // messages from the time without a hall are never sent late
		nats.IgnoreAuthErrorAbort(), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.Timeout(dialWithin),
		nats.FlusherTimeout(dialWithin), nats.NoEcho(),
		nats.ConnectHandler(func(*nats.Conn) { c.connected() }), nats.ReconnectHandler(func(*nats.Conn) { c.connected() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.status.lost(c, err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.status.lost(c, err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if refused(err) {
				c.status.lost(c, err)
				return
			}
			c.o.Log.Warn("hall", "err", err)
		}),
	}
	if c.o.dial != nil {
		options = append(options, nats.SetCustomDialer(c.o.dial()))
	}
	if i.URL[:4] == "tls:" {
		secure := TLSConfig(i.Fingerprint)
		if verify := secure.VerifyConnection; verify != nil { // no handler is told about a refused certificate
			secure.VerifyConnection = func(s tls.ConnectionState) error {
				err := verify(s)
				c.status.lost(c, err)
				return err
			}
		}
		options = append(options, nats.Secure(secure), nats.TLSHandshakeFirst())
	}
	return nats.Connect(i.URL, options...)
}

func (c *Client) connected() {
	c.status.found(c)
	c.wakeOutbox()
}

func (c *Client) wakeOutbox() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// message returns a message with a body and its time.
func (c *Client) message(subject, kind, id string, at time.Time, body []byte) *nats.Msg {
	m := nats.NewMsg(subject)
	i := c.o.Invitation
	for key, value := range map[string]string{
		"ce-specversion": "1.0", "ce-id": id, "ce-source": "/sightline/" + i.Event + "/" + i.Table, "ce-type": "sightline." + kind + ".v1",
		"ce-time": at.UTC().Format(time.RFC3339Nano), "Content-Type": "application/json",
		headerSession: c.session, headerUp: strconv.FormatInt(c.up(at), 10), headerAt: strconv.FormatInt(at.UnixMilli(), 10),
	} {
		m.Header[key] = []string{value}
	}
	m.Data = body
	return m
}

// tellHealth sends the table's health when it changes, at most every healthEvery and at least every
// healthLeast.
func (c *Client) tellHealth(ctx context.Context, conn *nats.Conn) {
	ticker := time.NewTicker(healthEvery)
	defer ticker.Stop()
	var last string
	var said time.Time
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		state := c.o.Newest()
		h := HealthOf(&state, c.up)
		h.Version = c.o.Version
		h.Record = c.outbox.standing(ctx)
		if c.outbox.behind(h.Record) {
			c.wakeOutbox()
		}
		body, err := json.Marshal(h)
		if err != nil {
			c.o.Log.Warn("hall: the health cannot be written", "err", err)
			continue
		}
		if string(body) == last && time.Since(said) < healthLeast-healthEvery/2 || !conn.IsConnected() {
			continue
		}
		at := state.At
		if at.IsZero() {
			at = time.Now()
		}
		id := fmt.Sprintf("%s:%d", c.session, n)
		if conn.PublishMsg(c.message(c.subjects.Health(), "health", id, at, body)) == nil {
			last, said = string(body), time.Now()
		}
	}
}

// tellState sends the newest whole state while someone watches.
func (c *Client) tellState(ctx context.Context, conn *nats.Conn) {
	ticker := time.NewTicker(stateEvery)
	defer ticker.Stop()
	var last uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if c.up(time.Now()) >= c.watched.Load() || !conn.IsConnected() {
			last = 0
			continue
		}
		state := c.o.Newest()
		if state.Seq == last {
			continue
		}
		answer := c.ask(ctx, http.MethodGet, "/api/state", nil, nil)
		var is struct {
			Seq  uint64 `json:"seq"`
			AtMS int64  `json:"at_unix_ms"`
		}
		if answer.status != http.StatusOK || json.Unmarshal(answer.body.Bytes(), &is) != nil {
			continue
		}
		// The body may be newer than state, never older.
		id := fmt.Sprintf("%s:state:%d", c.session, is.Seq)
		if conn.PublishMsg(c.message(c.subjects.State(), "state", id, state.At, answer.body.Bytes())) == nil {
			last = is.Seq
		}
	}
}

// status reports once when the hall is found, and once when it is lost.
type status struct {
	mu   sync.Mutex // guards the fields below
	here bool
	told string
}

// refused reports whether the hall does not, or no longer, know the table.
func refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked)
}

func (s *status) found(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.told != ""
	s.here, s.told = true, ""
	c.o.Log.Info("the hall is found", "url", c.o.Invitation.URL, "table", c.o.Invitation.Table)
	if lost && c.o.Notice != nil {
		c.o.Notice("The hall is there again.")
	}
}

func (s *status) lost(c *Client, err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := "The hall does not answer. The table plays on, and what is recorded waits."
	switch {
	case errors.Is(err, errOtherHall):
		text = "Another hall answers in the place of the one that invited this table: its certificate differs. If it is the right one, " +
			"invite the table again. The table plays on, and what is recorded waits."
	case refused(err):
		text = "The hall refuses this table: its invitation has expired, was revoked or is in use by another program. The hall's page " +
			"says which. The table plays on."
	}
	s.here = false
	if s.told == text {
		return
	}
	s.told = text
	c.o.Log.Warn(text, "url", c.o.Invitation.URL, "err", err)
	if c.o.Notice != nil {
		c.o.Notice(text)
	}
}

// Here reports whether the client is connected to the hall.
func (c *Client) Here() bool {
	c.status.mu.Lock()
	defer c.status.mu.Unlock()
	return c.status.here
}
