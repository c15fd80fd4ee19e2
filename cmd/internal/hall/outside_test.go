package hall_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
)

// TestAnotherBrokerServesAsWell: with a NATS server of the organiser's, whose users have the
// permissions of docs/hall.md, everything arrives; a hall that it does not know says its key.
func TestAnotherBrokerServesAsWell(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), freeAddress(t)
	_, i := organisers(t, dir, address, t.TempDir())
	r := run(t, dir, func(o *hall.Options) { o.Broker = "nats://" + address })
	p := join(t, i)
	p.book.rule(t, "over another broker", 1000)
	eventually(t, "it is there", func() bool { return r.tile(t, "7").Live && r.tile(t, "7").Rulings == 1 })
	require.NoError(t, r.invites.Revoke("7"))
	eventually(t, "that its invitation ended is said", func() bool {
		return r.says(t, "7", "The broker lets it in, although its invitation was revoked")
	})
	eventually(t, "it is heard as before", func() bool { return r.tile(t, "7").Live })
	eventually(t, "the hall is well", r.well(t))
	status, _ := r.get(t, "/livez")
	assert.Equal(t, 200, status)

	stranger := hall.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Broker: "nats://" + address}
	err := hall.Run(t.Context(), stranger)
	assert.ErrorContains(t, err, "the hall's key there is U")
}

// TestAnotherBrokerThatGoesAwayIsSaid: page and monitors say that the organiser's broker does not
// answer; when it comes back, even with an empty disk, everything arrives.
func TestAnotherBrokerThatGoesAwayIsSaid(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), freeAddress(t)
	s, i := organisers(t, dir, address, t.TempDir())
	r := run(t, dir, func(o *hall.Options) { o.Broker = "nats://" + address })
	p := join(t, i)
	p.book.rule(t, "before", 1000)
	eventually(t, "it is there", func() bool { return r.tile(t, "7").Live && r.tile(t, "7").Rulings == 1 })
	assert.Empty(t, r.trouble(t))
	s.Shutdown()
	s.WaitForShutdown()
	p.book.rule(t, "meanwhile", 1000)
	eventually(t, "it is said", func() bool {
		return strings.Contains(r.trouble(t), "The broker does not answer") && !r.tile(t, "7").Live
	})
	status, text := r.get(t, "/healthz")
	assert.Equal(t, http.StatusServiceUnavailable, status, "%s", text)
	organisers(t, dir, address, t.TempDir()) // with another disk
	eventually(t, "all is there", func() bool { return r.tile(t, "7").Live && r.tile(t, "7").Rulings == 2 && p.client.Sent() == 2 })
	eventually(t, "what happened is said", func() bool { return strings.Contains(r.trouble(t), "was removed or replaced") })
	assert.Empty(t, r.tile(t, "7").Problems)
}

// organisers runs a NATS server of the organiser's that knows a hall and its table 7.
func organisers(t *testing.T, dir, address, store string) (*server.Server, event.Invitation) {
	t.Helper()
	invites, err := hall.OpenInvites(dir, time.Now)
	require.NoError(t, err)
	require.NoError(t, invites.SetBroker("nats://"+address, ""))
	path := filepath.Join(dir, "7.invitation")
	var i event.Invitation
	if text, err := os.ReadFile(path); err == nil {
		i, err = event.ParseInvitation(string(text))
		require.NoError(t, err)
	} else {
		i, err = invites.Invite("7", "", time.Hour)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(i.String()), 0o600))
	}
	public := func(key nkeys.KeyPair, err error) string {
		require.NoError(t, err)
		text, err := key.PublicKey()
		require.NoError(t, err)
		return text
	}
	subjects := event.SubjectsOf(i.Event, "7")
	host, port := address[:9], 0
	for _, c := range address[10:] {
		port = 10*port + int(c-'0')
	}
	s, err := server.NewServer(&server.Options{Host: host, Port: port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: store,
		MaxPayload: event.PayloadMost, Nkeys: []*server.NkeyUser{{Nkey: public(hall.HallKey(dir))},
			{Nkey: public(nkeys.FromSeed([]byte(i.Seed))), Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: []string{subjects.All()}},
				Subscribe: &server.SubjectPermission{Allow: []string{subjects.Ask(">"), event.Inbox(i.Event, "7") + ".>"}},
				Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
			}}}})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(2*time.Minute))
	return s, i
}
