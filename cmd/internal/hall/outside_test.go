package hall_test

import (
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
	dir := t.TempDir()
	address := freeAddress(t)
	invites, err := hall.OpenInvites(dir, time.Now)
	require.NoError(t, err)
	require.NoError(t, invites.SetBroker("nats://"+address, ""))
	i, err := invites.Invite("7", "", time.Hour)
	require.NoError(t, err)
	key, err := nkeys.FromSeed([]byte(i.Seed))
	require.NoError(t, err)
	table, err := key.PublicKey()
	require.NoError(t, err)
	key, err = hall.HallKey(dir)
	require.NoError(t, err)
	own, err := key.PublicKey()
	require.NoError(t, err)
	subjects := event.SubjectsOf(i.Event, "7")
	host, port := address[:9], 0
	for _, c := range address[10:] {
		port = 10*port + int(c-'0')
	}
	s, err := server.NewServer(&server.Options{Host: host, Port: port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
		MaxPayload: event.PayloadMost, Nkeys: []*server.NkeyUser{{Nkey: own}, {Nkey: table, Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{subjects.All()}},
			Subscribe: &server.SubjectPermission{Allow: []string{subjects.Ask(">"), event.Inbox(i.Event, "7") + ".>"}},
			Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
		}}}})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(20*time.Second))

	r := run(t, dir, func(o *hall.Options) { o.Broker = "nats://" + address })
	p := join(t, i)
	p.book.rule(t, "over another broker", 1000)
	eventually(t, "it is there", func() bool { return r.tile(t, "7").Live && r.tile(t, "7").Rulings == 1 })
	status, _ := r.get(t, "/healthz")
	assert.Equal(t, 200, status)
	status, _ = r.get(t, "/livez")
	assert.Equal(t, 200, status)

	stranger := hall.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Broker: "nats://" + address}
	err = hall.Run(t.Context(), stranger)
	assert.ErrorContains(t, err, "the hall's key there is U")
}
