package hall

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/event"
)

const (
	certificateFile = "broker.pem" // the certificate and its key
	certificateMost = 16 << 10     // bytes
	storeFolder     = "jetstream"
	readyWithin     = 20 * time.Second
	checkEvery      = time.Second // interval between checks of the connected tables' invitations
	clientsMost     = 1024
)

// certificate returns the broker's certificate and its fingerprint. It makes the certificate at the
// first start, without a host name: tables check the fingerprint.
func certificate(dir string, now time.Time) (tls.Certificate, string, error) {
	path := filepath.Join(dir, certificateFile)
	raw, err := regularfile.Read(path, certificateMost)
	if errors.Is(err, fs.ErrNotExist) {
		if raw, err = newCertificate(now); err == nil {
			err = atomicfile.WriteNew(path, raw, 0o600)
		}
	}
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("hall: %w", err)
	}
	pair, err := tls.X509KeyPair(raw, raw)
	if err != nil {
		return pair, "", fmt.Errorf("hall: %s: %w", path, err)
	}
	return pair, event.Fingerprint(pair.Certificate[0]), nil
}

// newCertificate makes a certificate with its key, as PEM.
func newCertificate(now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	like := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Sightline hall"}, NotBefore: now.Add(-24 * time.Hour),
		NotAfter: now.AddDate(20, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, like, like, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}

// broker is the embedded broker.
type broker struct {
	server   *server.Server
	door     *door
	dir      string
	reopened time.Time // last time its files were read again
	folder   string    // folder of the rulings
	noted    os.FileInfo

	mu    sync.Mutex // guards the fields below
	stuck error      // why it stores nothing; nil: it does
}

// door decides which programs may connect and what they may publish.
type door struct {
	invites *Invites
	own     string // the hall's public key
	log     *slog.Logger
	event   string
	server  *server.Server

	mu       sync.Mutex        // guards the fields below
	inside   map[uint64]*guest // connected tables
	sent     map[string]sentHome
	second   map[string]sentHome
	stranger struct { // the last program whose key is in no invitation
		at   time.Time
		from string
	}
}

// guest is a connected table.
type guest struct {
	key, table string
	name       string // of its program's session
	messages   int64  // messages that it had sent at the last check
	floods     int    // how often in a row it sent too many
}

// sentHome is the last incident with a table's program.
type sentHome struct {
	at  time.Time
	why string
}

func newDoor(invites *Invites, own, event string, log *slog.Logger) *door {
	return &door{invites: invites, own: own, log: log, event: event, inside: map[uint64]*guest{}, sent: map[string]sentHome{},
		second: map[string]sentHome{}}
}

// A table sends seven messages a second, and many small rulings at once after it was disconnected.
// One that sends more than floodMost in a second, twice in a row, is kept out for floodOut.
const (
	floodOut = time.Minute
	freedIn  = 10 // attempts, freedEvery apart, until a closed connection is gone

	freedEvery = 100 * time.Millisecond
)

var floodMost int64 = 20_000 // smaller in tests

var _ server.Authentication = (*door)(nil)

// Check implements server.Authentication.
func (d *door) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if problem := signed(o.Nkey, o.Sig, c.GetNonce()); problem != "" {
		d.log.Warn("hall: a connection is refused", "from", c.RemoteAddress(), "why", problem)
		return false
	}
	if o.Nkey == d.own {
		return true
	}
	i, problem := d.invites.byKey(o.Nkey)
	switch problem {
	case "":
		problem = d.enter(c, i)
	case unknownKey:
		d.mu.Lock()
		d.stranger.at, d.stranger.from = time.Now(), hostOf(c.RemoteAddress())
		d.mu.Unlock()
	}
	if problem != "" {
		d.log.Warn("hall: a table is refused", "from", c.RemoteAddress(), "table", i.Table, "why", problem)
		return false
	}
	c.RegisterUser(&server.User{Username: o.Nkey, Permissions: permissions(d.event, i.Table)})
	return true
}

// enter admits an invited table, unless another program is connected with its invitation; it then
// returns the reason. It closes an earlier connection of the same program, which Wi-Fi may have
// left half open.
func (d *door) enter(c server.ClientAuthentication, i Invite) (problem string) {
	name := c.GetOpts().Name
	for try := 0; ; try++ {
		d.mu.Lock()
		if home := d.sent[i.Table]; time.Since(home.at) < floodOut {
			d.mu.Unlock()
			return home.why
		}
		free := true
		for id, g := range d.inside {
			switch {
			case g.key != i.Key || d.server.GetClient(id) == nil:
			case g.name == name:
				go func() { _ = d.server.DisconnectClientByID(id) }() // it may be gone already
			default:
				free = false
			}
		}
		if free {
			d.inside[c.GetID()] = &guest{key: i.Key, table: i.Table, name: name}
			d.mu.Unlock()
			return ""
		}
		if try == freedIn {
			d.second[i.Table] = sentHome{time.Now(), fmt.Sprintf("A second program, at %v, tries to join with this table's invitation, "+
				"and is refused. Invite a table of its own for it.", c.RemoteAddress())}
			d.mu.Unlock()
			return "another program uses its invitation"
		}
		d.mu.Unlock()
		time.Sleep(freedEvery) // a program that has just ended may still be connected
	}
}

// hostOf returns an address without its port.
func hostOf(a net.Addr) string {
	if host, _, err := net.SplitHostPort(a.String()); err == nil {
		return host
	}
	return a.String()
}

// unknown describes the last program that was refused because its key is in no invitation; "" if
// there was none of late.
func (d *door) unknown() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stranger.from == "" || time.Since(d.stranger.at) >= troubleShown {
		return ""
	}
	return fmt.Sprintf("A program at %s was refused: no table was invited with its key. If it is a table's, invite that table again.",
		d.stranger.from)
}

// problems describes what is wrong with a table's programs.
func (d *door) problems(table string) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.second[table]; time.Since(s.at) < troubleShown {
		out = append(out, s.why)
	}
	if s := d.sent[table]; time.Since(s.at) < floodOut {
		out = append(out, "The hall turned the table away for a minute: "+s.why+".")
	}
	return out
}

// check disconnects a table whose invitation is no longer valid, or that floods. The caller holds
// mu.
func (d *door) check(id uint64, g *guest, messages int64) {
	_, problem := d.invites.byKey(g.key)
	sent := messages - g.messages
	g.messages = messages
	if sent <= floodMost {
		g.floods = 0
	} else if g.floods++; g.floods > 1 && problem == "" {
		problem = fmt.Sprintf("it sent %d messages in a second", sent)
		d.sent[g.table] = sentHome{time.Now(), problem}
	}
	if problem == "" {
		return
	}
	d.log.Warn("hall: a table is turned away", "table", g.table, "why", problem)
	delete(d.inside, id)
	_ = d.server.DisconnectClientByID(id) // it may be gone already
}

// signed checks the signature of a broker's nonce, and returns what is wrong with it.
func signed(key, signature string, nonce []byte) string {
	public, err := nkeys.FromPublicKey(key)
	if err != nil {
		return "it has no key"
	}
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		if raw, err = base64.StdEncoding.DecodeString(signature); err != nil {
			return "its signature cannot be read"
		}
	}
	if len(nonce) == 0 || public.Verify(nonce, raw) != nil {
		return "its signature was made with another key"
	}
	return ""
}

// permissions returns what a table may publish and receive: everything under its own subject,
// answers to its requests, and one answer to each request of the hall.
func permissions(eventName, table string) *server.Permissions {
	s := event.SubjectsOf(eventName, table)
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{s.All()}},
		Subscribe: &server.SubjectPermission{Allow: []string{s.Ask(">"), event.Inbox(eventName, table) + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
	}
}

// startBroker starts the embedded broker.
func startBroker(address, dir string, d *door, pair tls.Certificate) (*broker, error) {
	host, port, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "sightline-hall", Host: host, Port: port, NoSigs: true, NoLog: true, MaxConn: clientsMost,
		JetStream: true, StoreDir: filepath.Join(dir, storeFolder), JetStreamMaxStore: storeMost, SyncAlways: true, MaxPayload: event.PayloadMost,
		TLS: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, TLSHandshakeFirst: true,
		TLSTimeout: 10, AuthTimeout: 12, PingInterval: 2 * time.Second, MaxPingsOut: 2, WriteDeadline: 10 * time.Second,
		CustomClientAuthentication: d, AlwaysEnableNonce: true, DisableShortFirstPing: true,
	})
	if err != nil {
		return nil, fmt.Errorf("hall: broker: %w", err)
	}
	s.SetLogger(brokerLog{d.log}, false, false)
	d.server = s
	go s.Start()
	if !s.ReadyForConnections(readyWithin) {
		s.Shutdown()
		return nil, fmt.Errorf("hall: the broker cannot listen on %s: is the address in use?", address)
	}
	return &broker{server: s, door: d, dir: dir}, nil
}

func splitAddress(address string) (host string, port int, err error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return "", 0, fmt.Errorf("hall: %s: expected host:port such as :4222: %w", address, err)
	}
	host = "0.0.0.0"
	if a.IP != nil {
		host = a.IP.String()
	}
	if a.Port == 0 {
		return host, server.RANDOM_PORT, nil
	}
	return host, a.Port, nil
}

// watch disconnects tables that may not stay, until ctx is cancelled.
func (b *broker) watch(ctx context.Context) {
	every(ctx, checkEvery, func() {
		now, err := b.server.Connz(&server.ConnzOptions{Limit: clientsMost})
		if err != nil {
			b.door.log.Warn("hall: broker", "err", err)
			return
		}
		messages := map[uint64]int64{}
		for _, c := range now.Conns {
			messages[c.Cid] = c.InMsgs
		}
		b.door.mu.Lock()
		for id, g := range b.door.inside {
			if n, there := messages[id]; there {
				b.door.check(id, g, n)
			} else if b.server.GetClient(id) == nil {
				delete(b.door.inside, id)
			}
		}
		b.door.mu.Unlock()
	})
}

// stop stops the broker and waits until its files are closed.
func (b *broker) stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

// connect connects the hall to its own broker.
func (b *broker) connect(key nkeys.KeyPair) (*nats.Conn, error) {
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Connect("", nats.InProcessServer(b.server), nats.Nkey(public, key.Sign), nats.Timeout(readyWithin), nats.MaxReconnects(-1),
		nats.Name("hall"))
}

// brokerLog passes the broker's messages to the log.
type brokerLog struct{ log *slog.Logger }

// Noticef implements server.Logger.
func (l brokerLog) Noticef(format string, v ...any) {
	l.log.Debug("broker: " + fmt.Sprintf(format, v...))
}

// Warnf implements server.Logger.
func (l brokerLog) Warnf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if strings.Contains(text, "TLS Handshake First") { // intended: every invitation asks for it
		l.Debugf("%s", text)
		return
	}
	l.log.Warn("broker: " + text)
}

// Errorf implements server.Logger. A client's error is no error of the hall.
func (l brokerLog) Errorf(format string, v ...any) {
	l.log.Debug("broker: " + fmt.Sprintf(format, v...))
}

// Fatalf implements server.Logger.
func (l brokerLog) Fatalf(format string, v ...any) {
	l.log.Error("broker: " + fmt.Sprintf(format, v...))
}

// Debugf implements server.Logger.
func (l brokerLog) Debugf(string, ...any) {}

// Tracef implements server.Logger.
func (l brokerLog) Tracef(string, ...any) {}
