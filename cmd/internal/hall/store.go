package hall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sightline/cmd/internal/event"
)

const (
	streamName = "Rulings and pictures of the event's tables."

	streamHeartbeat = 3 * time.Second  // after two missing ones the stream is read again from where it stopped
	streamQuiet     = 10 * time.Second // silence after which an announced message is not there
	streamAnswers   = 2 * time.Second
	openWithin      = time.Minute // for the broker to open a stream: its disk may be slow
	lossShown       = 10 * time.Minute
)

// opened describes the open streams. It belongs to the goroutine that opens them: Run, then
// lookAfterStreams.
type opened struct {
	created time.Time // of the stream of rulings; another time means another stream
	reading jetstream.ConsumeContext
}

// openStreams opens or makes the streams, and reads the rulings. Another call forgets what was read
// before.
func (h *Hall) openStreams(ctx context.Context) error {
	all := event.SubjectsOf(h.event, "*")
	opening, stop := context.WithTimeout(ctx, openWithin)
	defer stop()
	stream, err := h.js.CreateOrUpdateStream(opening, jetstream.StreamConfig{
		Name: event.Stream(h.event), Description: streamName, Subjects: []string{all.Rulings(), all.Pictures()},
		Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1, MaxBytes: -1,
		MaxMsgs: -1, DenyDelete: true, DenyPurge: true, MaxMsgSize: event.PayloadMost,
	})
	if err != nil {
		return fmt.Errorf("hall: the stream of rulings: %w", err)
	}
	games, err := h.js.CreateOrUpdateKeyValue(opening, jetstream.KeyValueConfig{Bucket: event.Stream(h.event) + "_games"})
	if err != nil {
		return fmt.Errorf("hall: the games: %w", err)
	}
	if h.stream == nil { // keep the first ones: they refer to the streams by name
		h.stream, h.games = stream, games
	}
	info, err := stream.Info(opening)
	if err != nil {
		return fmt.Errorf("hall: the stream of rulings: %w", err)
	}
	if h.opened.reading != nil {
		h.opened.reading.Stop()
	}
	h.mu.Lock()
	h.owners = map[string]*table{}
	for _, t := range h.tables {
		t.chain, t.resent, t.alike = chain{}, time.Time{}, nil
	}
	h.mu.Unlock()
	if h.broker != nil {
		h.broker.noteFolder(event.Stream(h.event))
	}
	if err := h.readRulings(ctx, stream); err != nil {
		return err
	}
	h.opened.created = info.Created
	return nil
}

// readRulings reads the whole stream of rulings, and then each new one.
func (h *Hall) readRulings(ctx context.Context, stream jetstream.Stream) error {
	opening, stop := context.WithTimeout(ctx, openWithin)
	defer stop()
	consumer, err := stream.OrderedConsumer(opening, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{event.SubjectsOf(h.event, "*").Rulings()}, DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return fmt.Errorf("hall: the stream of rulings: %w", err)
	}
	waiting := uint64(0)
	if c, err := consumer.Info(opening); err == nil {
		waiting = c.NumPending
	}
	read, came, done := uint64(0), make(chan struct{}, 1), make(chan struct{})
	finish := sync.OnceFunc(func() { close(done) })
	if waiting == 0 {
		finish()
	}
	h.opened.reading, err = consumer.Consume(func(m jetstream.Msg) {
		h.recorded(m.Subject(), m.Data())
		if read++; read >= waiting {
			finish()
		}
		select {
		case came <- struct{}{}:
		default:
		}
	}, jetstream.PullHeartbeat(streamHeartbeat), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		h.o.Log.Warn("hall: the stream of rulings", "err", err)
	}))
	if err != nil {
		return fmt.Errorf("hall: the stream of rulings: %w", err)
	}
	context.AfterFunc(ctx, h.opened.reading.Stop)
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-came:
		case <-time.After(streamQuiet):
			h.o.Log.Error("hall: not every ruling could be read; tables that are here are asked for theirs again", "counted", waiting)
			return nil
		}
	}
}

// recorded adds an entry of a table's record.
func (h *Hall) recorded(subject string, raw []byte) {
	name, rest, ok := h.parse(subject)
	if !ok || len(rest) != 3 {
		return
	}
	number, err := strconv.ParseInt(rest[1], 10, 64)
	if err != nil || number < 1 {
		return
	}
	r := readRuling(name, number, rest[2], raw)
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.table(name)
	if !t.chain.add(r, time.Now()) {
		return
	}
	h.figures.rulings.Add(1)
	if first := h.owners[r.Hash]; first == nil {
		h.owners[r.Hash] = t
	} else {
		t.sharing(first)
		first.sharing(t)
	}
}

// lookAfterStreams checks once a second that the broker answers and still has the streams, until
// ctx is cancelled. It opens missing or replaced streams again; the tables then send what is
// missing.
func (h *Hall) lookAfterStreams(ctx context.Context) {
	every(ctx, checkEvery, func() {
		gone := h.broker != nil && h.broker.checkStore()
		err := h.lookAtStreams(ctx, gone)
		text := ""
		if err != nil {
			text = fmt.Sprintf("The broker does not answer or keeps nothing; rulings wait at the tables: %v.", err)
		}
		h.mu.Lock()
		was := h.outage
		h.outage = text
		h.mu.Unlock()
		if text != was && ctx.Err() == nil && text != "" {
			h.o.Log.Error("hall: the broker", "err", err)
		}
	})
}

// lookAtStreams opens the streams again if they are gone.
func (h *Hall) lookAtStreams(ctx context.Context, gone bool) error {
	asked, stop := context.WithTimeout(ctx, streamAnswers)
	defer stop()
	info, err := h.stream.Info(asked)
	switch {
	case gone, errors.Is(err, jetstream.ErrStreamNotFound), err == nil && !info.Created.Equal(h.opened.created):
	case err != nil:
		return fmt.Errorf("hall: the stream of rulings: %w", err)
	default:
		return nil
	}
	h.o.Log.Error("hall: what the broker kept is gone; tables that are here are asked for theirs again")
	if err := h.openStreams(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	h.lost = h.o.Now()
	games := maps.Clone(h.played)
	h.mu.Unlock()
	for key, g := range games {
		if raw, err := json.Marshal(g); err == nil {
			h.putGame(key, raw)
		}
	}
	return nil
}
