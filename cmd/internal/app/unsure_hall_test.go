package app

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
	"sightline/cmd/internal/live"
	"sightline/engine"
)

// TestADoubtfulNameReachesNoHall joins the table to a hall through its broker: what the hall shows, keeps and hands on says no
// doubtful name either.
func TestADoubtfulNameReachesNoHall(t *testing.T) {
	u := newUnsureCourt(t, unsure["one of two"])
	u.now = time.Now() // the hall's clock is no test's
	u.aPicture()
	u.game.Choose(live.Choice{From: "?1", To: "B1", Arc: engine.ArcFront})
	u.picture(deskFrame)
	u.game.AskJudgeFor("player 1")
	u.ships[0].ID, u.ships[0].NameDoubt = "A1", nil // while it is held a person says which ship it is
	u.picture(deskFrame)
	_, err := u.rule(func(r *live.RuleRequest) { r.From, r.Judge = "?1", "Jo" })
	require.NoError(t, err)
	u.ships[0].ID, u.ships[0].NameDoubt = "?1", unsure["one of two"]
	u.picture(deskFrame)

	page, invites := runHall(t)
	i, err := invites.Invite("7", "", time.Hour)
	require.NoError(t, err)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	client, err := event.New(event.Options{Invitation: i, Newest: u.hub.Newest, Record: handedOn{u.judges}, Serve: u.page, Version: "test",
		Log: quiet, Notice: func(string) {}})
	require.NoError(t, err)
	inBackground(t, client.Run)

	ways := map[string]string{}
	read := func(path string, until ...string) {
		require.Eventually(t, func() bool {
			u.hub.Update(func(s live.State) live.State { s.At = time.Now(); return s }) // else it is soon too old to be shown
			ways[path] = hallSays(t, page+path)
			for _, s := range until {
				if !strings.Contains(ways[path], s) {
					return false
				}
			}
			return true
		}, 3*time.Minute, 50*time.Millisecond, "%s: %q", path, until)
	}
	read("/api/hall", `"table":"7"`, `"?1"`)
	read("/t/7/api/state", `"id":"?1"`)
	read("/t/7/api/held")
	read("/t/7/api/rulings/1", "?1 (A1 or A2)")
	read("/api/search?q=range", "?1 (A1 or A2)")
	read("/metrics", `table="7"`)
	without(t, ways)
	for path, text := range ways {
		assert.NotEmpty(t, text, path)
	}
}

// runHall starts a hall until the test's end.
func runHall(t *testing.T) (page string, invites *hall.Invites) {
	t.Helper()
	dir, ready := t.TempDir(), make(chan string, 1)
	inBackground(t, func(ctx context.Context) error {
		return hall.Run(ctx, hall.Options{Dir: dir, Listen: "127.0.0.1:0", Tables: "127.0.0.1:0", Version: "test",
			Access: access.Options{JudgeSecret: "a judge's secret of tests"}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Ready: func(pages, _ string) { ready <- pages }})
	})
	page = "http://" + <-ready
	invites, err := hall.OpenInvites(dir, time.Now)
	require.NoError(t, err)
	return page, invites
}

// inBackground runs something until the test's end.
func inBackground(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
}

// hallSays is what an address of the hall answers; "": nothing.
func hallSays(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(text)
}
