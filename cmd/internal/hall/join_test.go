package hall_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
)

// dial connects to the hall's broker with an invitation, as a program that is not ours might.
func dial(i event.Invitation) (*nats.Conn, error) {
	key, err := nkeys.FromSeed([]byte(i.Seed))
	if err != nil {
		return nil, err
	}
	return connected(i.URL, i.Fingerprint, key, nats.CustomInboxPrefix(event.Inbox(i.Event, i.Table)), nats.NoReconnect(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
}

// connected connects to a broker. On a machine that is much too slow the broker gives up waiting for
// the handshake: then it is tried again.
func connected(url, fingerprint string, key nkeys.KeyPair, options ...nats.Option) (conn *nats.Conn, err error) {
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	options = append(options, nats.Nkey(public, key.Sign), nats.Secure(event.TLSConfig(fingerprint)), nats.TLSHandshakeFirst(),
		nats.Timeout(time.Minute))
	for range 5 {
		conn, err = nats.Connect(url, options...)
		if err == nil || errors.Is(err, nats.ErrAuthorization) || strings.Contains(err.Error(), "certificate") {
			break
		}
	}
	return conn, err
}

// TestOnlyInvitedTablesJoin: a stranger's key, an expired one, a revoked one and one that was
// replaced are refused, and so is a broker with another certificate.
func TestOnlyInvitedTablesJoin(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	good := r.invite(t, "7")
	stranger, revoked := good, r.invite(t, "9")
	key, err := nkeys.CreateUser()
	require.NoError(t, err)
	seed, err := key.Seed()
	require.NoError(t, err)
	stranger.Seed = string(seed)
	yesterday, err := hall.OpenInvites(r.dir, func() time.Time { return time.Now().Add(-24 * time.Hour) })
	require.NoError(t, err)
	expired, err := yesterday.Invite("8", "", time.Hour)
	require.NoError(t, err)
	require.NoError(t, r.invites.Revoke("9"))
	replaced := r.invite(t, "10")
	again := r.invite(t, "10")
	other := good
	other.Fingerprint = strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		i    event.Invitation
		want error // nil: it joins
		text string
	}{
		"invited":               {i: good},
		"invited again":         {i: again},
		"a stranger's key":      {i: stranger, want: nats.ErrAuthorization},
		"an expired one":        {i: expired, want: nats.ErrAuthorization},
		"a revoked one":         {i: revoked, want: nats.ErrAuthorization},
		"a replaced one":        {i: replaced, want: nats.ErrAuthorization},
		"another hall's broker": {i: other, text: "certificate is not the one"},
	} {
		conn, err := dial(c.i)
		switch {
		case c.want != nil:
			assert.ErrorIs(t, err, c.want, name)
		case c.text != "":
			assert.ErrorContains(t, err, c.text, name)
		default:
			assert.NoError(t, err, name)
		}
		if conn != nil {
			conn.Close()
		}
	}
}

// TestATableSpeaksForItselfOnly: table 7 may neither write as table 8, nor hear what table 8 is
// asked, nor read or change the hall's streams.
func TestATableSpeaksForItselfOnly(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	r.invite(t, "8")
	own, others := event.SubjectsOf(i.Event, "7"), event.SubjectsOf(i.Event, "8")
	hash := strings.Repeat("a", 64)
	for name, c := range map[string]struct {
		publish, subscribe string
		allowed            bool
	}{
		"its own health":              {publish: own.Health(), allowed: true},
		"its own ruling":              {publish: own.Ruling(1, hash), allowed: true},
		"what it is asked":            {subscribe: own.Ask(">"), allowed: true},
		"another table's health":      {publish: others.Health()},
		"another table's ruling":      {publish: others.Ruling(1, hash)},
		"what another table is asked": {subscribe: others.Ask(">")},
		"another table's health, too": {subscribe: others.Health()},
		"all tables":                  {subscribe: "sl.>"},
		"everything":                  {subscribe: ">"},
		"answers to others":           {subscribe: "_INBOX.>"},
		"deleting the stream":         {publish: "$JS.API.STREAM.DELETE." + event.Stream(i.Event)},
		"reading the stream":          {publish: "$JS.API.STREAM.MSG.GET." + event.Stream(i.Event)},
	} {
		conn, err := dial(i)
		require.NoError(t, err, name)
		if c.publish != "" {
			require.NoError(t, conn.Publish(c.publish, []byte("x")), name)
		} else {
			_, err := conn.SubscribeSync(c.subscribe)
			require.NoError(t, err, name)
		}
		require.NoError(t, conn.FlushTimeout(time.Minute), name) // what refuses it comes before the answer
		if c.allowed {
			assert.NoError(t, conn.LastError(), name)
		} else {
			assert.ErrorIs(t, conn.LastError(), nats.ErrPermissionViolation, name)
		}
		conn.Close()
	}
}

// TestARevokedTableIsSentHome: a table that is there when its invitation ends goes at once, and
// plays on.
func TestARevokedTableIsSentHome(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	told := make(chan string, 100)
	p := join(t, r.invite(t, "7"), func(o *event.Options) { o.Notice = func(text string) { told <- text } })
	eventually(t, "the table is heard", func() bool { return r.tile(t, "7").Live })
	require.NoError(t, r.invites.Revoke("7"))
	eventually(t, "the table is sent home", func() bool { return !p.client.Here() })
	eventually(t, "its tile is grey", func() bool { return !r.tile(t, "7").Live })
	hears(t, told, "has expired, was revoked or is in use")
}

func TestInvitationsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	invites, err := hall.OpenInvites(t.TempDir(), time.Now)
	require.NoError(t, err)
	require.NoError(t, invites.SetBroker("tls://192.168.7.1:4222", strings.Repeat("ab", 32)))
	i, err := invites.Invite("7", "", time.Hour)
	require.NoError(t, err)
	again, err := event.ParseInvitation("# table 7\n\n" + i.String() + "\n")
	require.NoError(t, err)
	i.Expires = i.Expires.UTC()
	assert.Equal(t, i, again)
	for text, want := range map[string]string{
		"": "begins with sightline-hall:?", "hello": "begins with", i.String() + "\n" + i.String(): "found two",
		i.String() + "&table=8":                                     "is given 2 times",
		strings.Replace(i.String(), "table=7", "table=7.8", 1):      "1 to 16 letters",
		strings.Replace(i.String(), "table=7", "table=%3E", 1):      "1 to 16 letters",
		strings.Replace(i.String(), "seed=SU", "seed=SA", 1):        "nkey seed",
		strings.Replace(i.String(), "sha256=ab", "sha256=a", 1):     "64 hex digits",
		strings.Replace(i.String(), "tls%3A", "http%3A", 1):         "tls://HOST:PORT",
		strings.Replace(i.String(), "expires=", "expires=x", 1):     "expected a time",
		strings.Replace(i.String(), "url=tls%3A", "url=nats%3A", 1): "tls:// only",
	} {
		_, err := event.ParseInvitation(text)
		assert.ErrorContains(t, err, want, text)
	}
	for _, table := range []string{"", "program", "a b", "7.8", "*", strings.Repeat("7", 17)} {
		_, err := invites.Invite(table, "", time.Hour)
		assert.Error(t, err, table)
	}
}

func FuzzParseInvitation(f *testing.F) {
	f.Add("sightline-hall:?event=e&expires=2026-11-22T12%3A00%3A00Z&seed=SUAA&sha256=ab&table=7&url=tls%3A%2F%2F192.168.7.1%3A4222")
	f.Fuzz(func(t *testing.T, text string) {
		i, err := event.ParseInvitation(text)
		if err != nil {
			return
		}
		again, err := event.ParseInvitation(i.String())
		if err != nil || again.String() != i.String() {
			t.Errorf("%q is read as %q, and that as %q: %v", text, i, again, err)
		}
	})
}

// TestTheHealthIsSmall: what every table says all the time is about a kilobyte.
func TestTheHealthIsSmall(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	join(t, i)
	eventually(t, "the table is heard", func() bool { return r.tile(t, "7").Live })
	raw, err := json.Marshal(r.tile(t, "7").Health)
	require.NoError(t, err)
	assert.Less(t, len(raw), 1100, "%s", raw)
}

// TestAHallThatItsTablesCannotFindSaysSo: with another certificate or at another address the tables
// that were invited before stay away, and the hall's page says what to do. A table that was told
// another address on purpose is none of them.
func TestAHallThatItsTablesCannotFindSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	r.invite(t, "7")
	_, err := r.invites.Invite("8", "tls://hall.example:4222", time.Hour)
	require.NoError(t, err)
	assert.Empty(t, r.tile(t, "7").Problems)
	r.stop()
	r = run(t, dir, func(o *hall.Options) { o.URL = "tls://192.168.7.9:4222" })
	assert.True(t, r.says(t, "7", "and it is at tls://192.168.7.9:4222: invite this table again"))
	assert.Empty(t, r.tile(t, "8").Problems)
	r.stop()
	require.NoError(t, os.Remove(filepath.Join(dir, "broker.pem")))
	r = run(t, dir)
	for _, table := range []string{"7", "8"} {
		assert.True(t, r.says(t, table, "another certificate than the hall has now"), table)
	}
	join(t, r.invite(t, "7"))
	eventually(t, "it is there", func() bool { k := r.tile(t, "7"); return k.Live && len(k.Problems) == 0 })
}

// TestACallOfARevokedTableIsOver: its page cannot be opened through the hall any more.
func TestACallOfARevokedTableIsOver(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	p.ask(4711, "Ada")
	calls := func() int {
		var is struct{ Calls []hall.OpenCall }
		_, body := r.get(t, "/api/hall")
		require.NoError(t, json.Unmarshal(body, &is))
		return len(is.Calls)
	}
	eventually(t, "it calls", func() bool { return calls() == 1 })
	require.NoError(t, r.invites.Revoke("7"))
	eventually(t, "the call is over", func() bool { return calls() == 0 })
	assert.True(t, r.says(t, "7", "its invitation was revoked"))
}
