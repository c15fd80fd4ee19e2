// Package hall is the hall of an event. The invited tables send their state and their records. On
// one page people see all tables, rule where a judge is called, and choose what a stream shows.
//
// A NATS broker, embedded or separate, connects hall and tables. The hall stores the tables'
// records in a stream of the broker; everything else can be asked for again.
package hall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
)

// Options are a hall's addresses and folder.
type Options struct {
	Dir     string // state folder
	Listen  string // of the pages: ":8090"
	Tables  string // of the embedded broker: ":4222"
	URL     string // address at which tables reach the broker; "": the machine's own
	Broker  string // URL of a separate broker; "": the embedded one
	SHA256  string // of the separate broker's certificate; "": a trusted authority signed it
	Access  access.Options
	Version string
	Log     *slog.Logger
	Ready   func(pages, tables string) // called with the addresses once both listen
	Now     func() time.Time           // nil: time.Now
}

// Hall is a running hall.
type Hall struct {
	o       Options
	invites *Invites
	event   string
	guard   *access.Guard
	broker  *broker // nil: a separate broker
	conn    *nats.Conn
	js      jetstream.JetStream
	stream  jetstream.Stream
	games   jetstream.KeyValue
	opened  opened
	began   time.Duration // on the steady clock

	mu      sync.Mutex // guards the fields below
	tables  map[string]*table
	program string // the table on air; "": none
	played  map[string]Game
	pairs   []Pairing
	onAir   chan struct{} // closed when another table goes on air
	outage  string        // why the broker does not answer; "": it does
	lost    time.Time     // when stored rulings were last found missing; zero: never
	owners  map[string]*table

	figures struct{ rulings, states, staleStates, asks atomic.Uint64 }
}

const (
	seedFile    = "hall.seed"
	lockFile    = "hall.lock"
	programFile = "program.json"
	smallMost   = 4 << 10 // bytes of the two

	lockTries = 20
	lockPause = 50 * time.Millisecond
)

// Run runs a hall until ctx is cancelled.
func Run(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Hall{o: o, began: steady(), tables: map[string]*table{}, played: map[string]Game{}, onAir: make(chan struct{}),
		owners: map[string]*table{}}
	var err error
	if h.invites, err = OpenInvites(o.Dir, o.Now); err != nil {
		return err
	}
	if h.event, err = h.invites.Event(); err != nil {
		return err
	}
	if err := h.readSmall(); err != nil {
		return err
	}
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	o.Access.Log, o.Access.Hall = o.Log, true
	h.guard = access.NewGuard(o.Access, o.Now)
	listener, err := listen(o.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	tables, err := h.join()
	if err != nil {
		return err
	}
	defer h.leave()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := h.open(ctx); err != nil {
		return err
	}
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	if h.broker != nil {
		group.Go(func() { h.broker.watch(ctx) })
	}
	group.Go(func() { h.lookAfterStreams(ctx) })
	group.Go(func() { h.measureClocks(ctx) })
	group.Go(func() { h.renewWatches(ctx) })
	if o.Ready != nil {
		o.Ready(ownAddress(listener.Addr()), tables)
	}
	return h.serve(ctx, listener)
}

// lockFolder keeps a second hall out of a state folder until the file is closed. Two would write
// into the same streams.
func lockFolder(dir string) (*os.File, error) {
	for try := 0; ; try++ {
		lock, err := regularfile.Lock(filepath.Join(dir, lockFile), 0o600)
		switch {
		case err == nil:
			return lock, nil
		case !errors.Is(err, regularfile.ErrLocked):
			return nil, fmt.Errorf("hall: %w", err)
		case try == lockTries:
			return nil, fmt.Errorf("hall: another hall runs with the folder %s; end it, or choose another with --state", dir)
		}
		time.Sleep(lockPause) // another program may be in Runs
	}
}

// Runs reports whether a hall runs with a state folder.
func Runs(dir string) bool {
	lock, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return false
	}
	defer lock.Close()
	return errors.Is(syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// join starts the embedded broker or connects to the separate one. It returns the address at which
// tables reach it.
func (h *Hall) join() (url string, err error) {
	key, err := h.key()
	if err != nil {
		return "", err
	}
	public, err := key.PublicKey()
	if err != nil {
		return "", fmt.Errorf("hall: %w", err)
	}
	if h.o.Broker != "" {
		return h.joinOther(key, public)
	}
	pair, fingerprint, err := certificate(h.o.Dir, h.o.Now())
	if err != nil {
		return "", err
	}
	d := newDoor(h.invites, public, h.event, h.o.Log)
	if h.broker, err = startBroker(h.o.Tables, h.o.Dir, d, pair); err != nil {
		return "", err
	}
	if h.conn, err = h.broker.connect(key); err != nil {
		h.broker.stop()
		return "", fmt.Errorf("hall: %w", err)
	}
	if url = h.o.URL; url == "" {
		url = "tls://" + ownAddress(h.broker.server.Addr())
	}
	return url, h.invites.SetBroker(url, fingerprint)
}

// otherPing is the interval between pings of a separate broker; otherWithin limits how long
// connecting to it may take.
const (
	otherPing   = 2 * time.Second
	otherWithin = 10 * time.Second
)

// joinOther connects to a separate broker.
func (h *Hall) joinOther(key nkeys.KeyPair, public string) (string, error) {
	url := h.o.Broker
	options := []nats.Option{nats.Nkey(public, key.Sign), nats.MaxReconnects(-1), nats.Name("hall"), nats.IgnoreAuthErrorAbort(),
		nats.Timeout(otherWithin), nats.PingInterval(otherPing), nats.MaxPingsOutstanding(2), nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { h.o.Log.Warn("hall: the broker is gone", "url", url, "err", err) }),
		nats.ReconnectHandler(func(*nats.Conn) { h.o.Log.Info("hall: the broker is back", "url", url) })}
	if strings.HasPrefix(url, "tls:") {
		options = append(options, nats.Secure(event.TLSConfig(h.o.SHA256)), nats.TLSHandshakeFirst())
	}
	conn, err := nats.Connect(url, options...)
	if err != nil {
		return "", fmt.Errorf("hall: broker %s: %w (the hall's key there is %s)", url, err, public)
	}
	h.conn = conn
	if h.o.URL != "" {
		url = h.o.URL
	}
	return url, h.invites.SetBroker(url, h.o.SHA256)
}

// leave closes the connection and stops the embedded broker.
func (h *Hall) leave() {
	h.conn.Close()
	if h.broker != nil {
		h.broker.stop()
	}
}

// key returns the hall's own key.
func (h *Hall) key() (nkeys.KeyPair, error) { return HallKey(h.o.Dir) }

// HallKey returns the key of the hall in a state folder, and makes it if there is none.
func HallKey(dir string) (nkeys.KeyPair, error) {
	path := filepath.Join(dir, seedFile)
	raw, err := regularfile.Read(path, smallMost)
	if errors.Is(err, os.ErrNotExist) {
		var key nkeys.KeyPair
		if key, err = nkeys.CreateUser(); err == nil {
			if raw, err = key.Seed(); err == nil {
				err = atomicfile.WriteNew(path, raw, 0o600)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("hall: %w", err)
	}
	key, err := nkeys.FromSeed(raw)
	if err != nil {
		return nil, fmt.Errorf("hall: %s: %w", path, err)
	}
	return key, nil
}

// open opens the streams, reads the records, and subscribes to the tables.
func (h *Hall) open(ctx context.Context) error {
	all := event.SubjectsOf(h.event, "*")
	var err error
	if h.js, err = jetstream.New(h.conn); err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	if err := h.openStreams(ctx); err != nil {
		return err
	}
	if err := h.readGames(ctx); err != nil {
		return err
	}
	for subject, f := range map[string]func(string, *nats.Msg){all.Health(): h.heard, all.State(): h.saw} {
		_, err := h.conn.Subscribe(subject, func(m *nats.Msg) {
			if name, _, ok := h.parse(m.Subject); ok {
				f(name, m)
			}
		})
		if err != nil {
			return fmt.Errorf("hall: %w", err)
		}
	}
	return h.conn.Flush()
}

// parse splits a subject into its table and the rest.
func (h *Hall) parse(subject string) (table string, rest []string, ok bool) {
	parts := strings.Split(subject, ".")
	if len(parts) < 5 || parts[2] != h.event || event.CheckName("table", parts[3]) != nil {
		return "", nil, false
	}
	return parts[3], parts[4:], true
}

// up returns the time on the hall's steady clock.
func (h *Hall) up() time.Duration { return steady() - h.began }

// readSmall reads the table on air, and the pairings.
func (h *Hall) readSmall() error {
	raw, err := regularfile.Read(filepath.Join(h.o.Dir, programFile), smallMost)
	if err == nil {
		var is programJSON
		if json.Unmarshal(raw, &is) == nil && (is.Table == "" || event.CheckName("table", is.Table) == nil) {
			h.program = is.Table
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("hall: %w", err)
	}
	h.pairs, err = readPairings(h.o.Dir)
	return err
}

// programJSON is the table on air.
type programJSON struct {
	Table string `json:"table"` // "": none
}

// setProgram puts a table on air.
func (h *Hall) setProgram(name string) error {
	raw, err := json.Marshal(programJSON{name})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := atomicfile.Write(filepath.Join(h.o.Dir, programFile), append(raw, '\n'), 0o600); err != nil {
		return err
	}
	if h.program != name {
		h.program = name
		close(h.onAir)
		h.onAir = make(chan struct{})
	}
	return nil
}

// onProgram returns the table on air, and a channel that is closed when that changes.
func (h *Hall) onProgram() (string, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.program, h.onAir
}

// Game is a game in the state in which a table last sent it.
type Game struct {
	Table string `json:"table"`
	event.Game
	AtMS int64 `json:"at_unix_ms"` // the hall's clock

	unkept bool // the stream lacks this state
}

// has reports whether every word occurs in the game.
func (g *Game) has(words []string) bool {
	text := strings.ToLower(strings.Join([]string{"table " + g.Table, g.Players[0], g.Players[1], g.Phase, g.Over,
		"round " + strconv.Itoa(g.Round)}, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// readGames reads the event's games.
func (h *Hall) readGames(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, openWithin)
	defer stop()
	keys, err := h.games.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil
	}
	for _, key := range keys {
		var g Game
		if e, err := h.games.Get(ctx, key); err == nil && json.Unmarshal(e.Value(), &g) == nil {
			h.played[key] = g
		}
	}
	if err != nil {
		return fmt.Errorf("hall: the games: %w", err)
	}
	return nil
}

// keepGame stores a table's game if it has changed. The caller holds mu.
func (h *Hall) keepGame(name string, g *event.Game) {
	if g == nil {
		return
	}
	key := fmt.Sprintf("%s.%d", name, g.ID)
	was, there := h.played[key]
	if !there && h.gamesOf(name) >= gamesMost {
		h.cannotRead(h.table(name), fmt.Errorf("expected at most %d games of one table", gamesMost))
		return
	}
	now := Game{Table: name, Game: *g, AtMS: h.o.Now().UnixMilli()}
	h.played[key] = now
	same := was.Game
	same.Turn = g.Turn
	if same == *g && !was.unkept {
		return
	}
	raw, err := json.Marshal(now)
	if err == nil {
		go h.putGame(key, raw)
	}
}

// gamesMost is the largest number of stored games of one table: more than any event plays.
const gamesMost = 200

// gamesOf counts the games of a table. The caller holds mu.
func (h *Hall) gamesOf(name string) (n int) {
	for _, g := range h.played {
		if g.Table == name {
			n++
		}
	}
	return n
}

// putGame stores a game in its stream. If that fails, it is tried again when the table next sends
// the game.
func (h *Hall) putGame(key string, raw []byte) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	_, err := h.games.Put(ctx, key, raw)
	if err == nil || h.conn.IsClosed() {
		return
	}
	h.o.Log.Warn("hall: a game is not kept", "game", key, "err", err)
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.played[key]
	g.unkept = true
	h.played[key] = g
}
