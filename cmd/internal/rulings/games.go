package rulings

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// The log also stores the events of games in their own chain: each event's record has the hash
// of the one before it, of whichever game. This package does not interpret events.

// schema3 adds the events of games.
const schema3 = `
CREATE TABLE game_events (
	number INTEGER PRIMARY KEY CHECK (number > 0),
	game   INTEGER NOT NULL CHECK (game > 0 AND game <= number),
	record TEXT NOT NULL,
	hash   TEXT NOT NULL CHECK (length(hash) = 64)
) STRICT;
CREATE INDEX game_events_by_game ON game_events (game, number);
CREATE TRIGGER game_events_next BEFORE INSERT ON game_events
	WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM game_events)
		OR json_extract(NEW.record, '$.number') IS NOT NEW.number
		OR json_extract(NEW.record, '$.game') IS NOT NEW.game
		OR NEW.number > 1 AND json_extract(NEW.record, '$.previous') IS NOT (SELECT hash FROM game_events ORDER BY number DESC LIMIT 1)
	BEGIN SELECT raise(ABORT, 'games are append-only: an event can only be the next one'); END;
CREATE TRIGGER game_events_no_update BEFORE UPDATE ON game_events
	BEGIN SELECT raise(ABORT, 'games are append-only: an event cannot be changed'); END;
CREATE TRIGGER game_events_no_delete BEFORE DELETE ON game_events
	BEGIN SELECT raise(ABORT, 'games are append-only: an event cannot be deleted'); END;
`

// schema4 declares nothing. It marks that records may be of version 2.
const schema4 = ""

// GameEvent is a stored event of a game.
type GameEvent struct {
	Number int64           `json:"number"` // among the events of all games, from 1
	Game   int64           `json:"game"`   // the number of its game's first event
	Event  json.RawMessage `json:"event"`
	Hash   string          `json:"hash"`
}

// gameRecord is the hashed form of an event.
type gameRecord struct {
	Number   int64           `json:"number"`
	Game     int64           `json:"game"`
	Previous string          `json:"previous"`
	Event    json.RawMessage `json:"event"`
}

// ErrNoGame is in the error for a missing game.
var ErrNoGame = errors.New("no such game")

// settleEvery is the number of game events after which the database file is updated.
const settleEvery = 256

// AppendGame records events of a game, all or none, and returns them once they are durable. game
// is the number of its first event; 0 starts a game.
func (l *Log) AppendGame(ctx context.Context, game int64, events []json.RawMessage) ([]GameEvent, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, errClosed
	case l.o.ReadOnly:
		return nil, errors.New("rulings: the log was opened to be read only")
	}
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := l.tryAppendGame(ctx, game, events)
		if err == nil {
			return out, nil
		}
		why := l.whyMoved(err)
		if why == nil || try == tries {
			return nil, fmt.Errorf("rulings: append to %s: %w", l.dir, full(err))
		}
		l.abandon(why)
		pause(try)
	}
}

func (l *Log) tryAppendGame(ctx context.Context, game int64, events []json.RawMessage) ([]GameEvent, error) {
	if err := l.ensureOpen(ctx); err != nil {
		return nil, err
	}
	out, err := l.insertGame(context.WithoutCancel(ctx), game, events)
	if err != nil {
		return nil, err
	}
	if err := l.moved(); err != nil {
		return nil, err
	}
	if last := out[len(out)-1].Number; last/settleEvery != (out[0].Number-1)/settleEvery {
		return out, l.settle(context.WithoutCancel(ctx))
	}
	return out, nil
}

// insertGame writes events in one transaction.
func (l *Log) insertGame(ctx context.Context, game int64, events []json.RawMessage) (out []GameEvent, err error) {
	if len(events) == 0 {
		return nil, errors.New("expected an event, got none")
	}
	tx, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	number, previous := int64(0), Genesis
	err = tx.QueryRowContext(ctx, "SELECT number, hash FROM game_events ORDER BY number DESC LIMIT 1").Scan(&number, &previous)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	if game != 0 {
		var n int
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM game_events WHERE number = ? AND game = ?", game, game).Scan(&n)
		if err != nil || n == 0 {
			return nil, errors.Join(err, fmt.Errorf("game %d: %w", game, ErrNoGame))
		}
	} else {
		game = number + 1
	}
	for _, event := range events {
		number++
		raw, err := json.Marshal(gameRecord{number, game, previous, event})
		if err != nil {
			return nil, err
		}
		previous = hashOf(raw)
		if _, err := tx.ExecContext(ctx, "INSERT INTO game_events (number, game, record, hash) VALUES (?, ?, ?, ?)", number, game, string(raw),
			previous); err != nil {
			return nil, err
		}
		out = append(out, GameEvent{number, game, event, previous})
	}
	return out, tx.Commit()
}

// Games returns the games in the log, by the numbers of their first events, the newest first.
func (l *Log) Games(ctx context.Context) (games []int64, err error) {
	err = l.eachGame(ctx, "SELECT DISTINCT game FROM game_events ORDER BY game DESC", nil, func(rows *sql.Rows) error {
		var game int64
		err := rows.Scan(&game)
		games = append(games, game)
		return err
	})
	return games, err
}

// Game returns a game's events in order. A changed event is an ErrCorrupt; the events before it
// are returned.
func (l *Log) Game(ctx context.Context, game int64) (events []GameEvent, err error) {
	err = l.eachGame(ctx, "SELECT number, game, record, hash FROM game_events WHERE game = ? ORDER BY number", []any{game},
		func(rows *sql.Rows) error {
			e, _, err := scanGame(rows)
			if err == nil {
				events = append(events, e)
			}
			return err
		})
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("rulings: game %d: %w", game, ErrNoGame)
	}
	return events, err
}

// scanGame reads an event and checks its hash.
func scanGame(rows *sql.Rows) (e GameEvent, previous string, err error) {
	var record []byte
	if err := rows.Scan(&e.Number, &e.Game, &record, &e.Hash); err != nil {
		return e, "", err
	}
	var r gameRecord
	err = json.Unmarshal(record, &r)
	if err != nil || hashOf(record) != e.Hash || r.Number != e.Number || r.Game != e.Game {
		return e, "", fmt.Errorf("%w: event %d of game %d is not as it was recorded", ErrCorrupt, e.Number, e.Game)
	}
	e.Event = r.Event
	return e, r.Previous, nil
}

// eachGame calls use for each row of a query about games. A log of an older version has none.
func (l *Log) eachGame(ctx context.Context, text string, args []any, use func(*sql.Rows) error) error {
	db, err := l.reader()
	if err != nil || db == nil {
		return err
	}
	if has, err := hasGames(ctx, db); err != nil || !has {
		return err
	}
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("rulings: read %s: %w", l.dir, broken(err))
	}
	defer rows.Close()
	for rows.Next() {
		if err := use(rows); err != nil {
			return fmt.Errorf("rulings: %w", err)
		}
	}
	return rows.Err()
}

// hasGames reports whether a database is of a version with games.
func hasGames(ctx context.Context, q queryer) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'game_events'").Scan(&n)
	return n == 1, err
}

// VerifyGames checks the chain of all games' events and returns their number. A changed event is
// an ErrCorrupt that names it.
func (l *Log) VerifyGames(ctx context.Context) (events int64, err error) {
	want := Genesis
	err = l.eachGame(ctx, "SELECT number, game, record, hash FROM game_events ORDER BY number", nil, func(rows *sql.Rows) error {
		e, previous, err := scanGame(rows)
		if err != nil {
			return err
		}
		if events++; e.Number != events || previous != want {
			return fmt.Errorf("%w: event %d of game %d does not continue the one before it", ErrCorrupt, e.Number, e.Game)
		}
		want = e.Hash
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return events, err
}
