package event

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Invitation is what a table needs to join a hall. It contains a secret: whoever has it can pose as
// the table.
type Invitation struct {
	URL         string // of the broker: "tls://192.168.7.1:4222"
	Event       string // the hall's name for the event
	Table       string // "7"
	Seed        string // of the table's nkey
	Fingerprint string // SHA-256 of the broker's certificate, 64 hex digits; "": a trusted authority signed it
	Expires     time.Time
}

const (
	invitationScheme = "sightline-hall:?"
	// InvitationMost is the largest size of an invitation, in bytes.
	InvitationMost = 1024
)

// names matches the names of events and tables, each of which is one token of a subject.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,15}$`)

// CheckName returns an error if the name of a table or an event is invalid.
func CheckName(what, name string) error {
	if !names.MatchString(name) || name == program {
		return fmt.Errorf("%s: expected 1 to 16 letters, digits or hyphens, such as \"7\", got %q", what, name)
	}
	return nil
}

// program stands for the table on air in addresses, so no table may have this name.
const program = "program"

// String returns the invitation as one line of text.
func (i Invitation) String() string {
	q := url.Values{"url": {i.URL}, "event": {i.Event}, "table": {i.Table}, "seed": {i.Seed},
		"expires": {i.Expires.UTC().Format(time.RFC3339)}}
	if i.Fingerprint != "" {
		q.Set("sha256", i.Fingerprint)
	}
	return invitationScheme + q.Encode()
}

// ParseInvitation parses an invitation. It skips empty lines and those that begin with #.
func ParseInvitation(text string) (i Invitation, err error) {
	var line string
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		switch {
		case l == "" || strings.HasPrefix(l, "#"):
		case line != "":
			return i, errors.New("invitation: expected one line, found two")
		default:
			line = l
		}
	}
	rest, ok := strings.CutPrefix(line, invitationScheme)
	if !ok || len(line) > InvitationMost {
		return i, fmt.Errorf("invitation: expected a line that begins with %s, as sightline hall invite prints it", invitationScheme)
	}
	q, err := url.ParseQuery(rest)
	if err != nil {
		return i, errors.New("invitation: it is damaged: " + err.Error())
	}
	for key, values := range q {
		if len(values) != 1 {
			return i, fmt.Errorf("invitation: %q is given %d times", key, len(values))
		}
	}
	i = Invitation{URL: q.Get("url"), Event: q.Get("event"), Table: q.Get("table"), Seed: q.Get("seed"), Fingerprint: q.Get("sha256")}
	if i.Expires, err = time.Parse(time.RFC3339, q.Get("expires")); err != nil {
		return i, fmt.Errorf("invitation: expires: expected a time such as 2026-11-21T18:00:00Z, got %q", q.Get("expires"))
	}
	return i, i.validate()
}

func (i *Invitation) validate() error {
	if err := CheckName("invitation: event", i.Event); err != nil {
		return err
	}
	if err := CheckName("invitation: table", i.Table); err != nil {
		return err
	}
	u, err := url.Parse(i.URL)
	if err != nil || u.Host == "" || u.Scheme != "tls" && u.Scheme != "nats" || u.User != nil {
		return fmt.Errorf("invitation: url: expected tls://HOST:PORT, got %q", i.URL)
	}
	if i.Fingerprint != "" {
		if raw, err := hex.DecodeString(i.Fingerprint); err != nil || len(raw) != sha256.Size {
			return fmt.Errorf("invitation: sha256: expected %d hex digits, got %q", 2*sha256.Size, i.Fingerprint)
		}
		if u.Scheme != "tls" {
			return errors.New("invitation: a fingerprint goes with tls:// only")
		}
	}
	if _, err := nkeys.FromSeed([]byte(i.Seed)); err != nil || !strings.HasPrefix(i.Seed, "SU") {
		return errors.New("invitation: seed: it is no user's nkey seed")
	}
	return nil
}

// errOtherHall is the error for a broker's certificate that is not the invitation's.
var errOtherHall = errors.New("event: the hall's certificate is not the one of the invitation")

// TLSConfig returns the client's TLS configuration: TLS 1.3, and if there is a fingerprint, only
// the certificate with it.
func TLSConfig(fingerprint string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	if fingerprint == "" {
		return c
	}
	c.InsecureSkipVerify = true // the fingerprint replaces authorities and names
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 || Fingerprint(s.PeerCertificates[0].Raw) != strings.ToLower(fingerprint) {
			return errOtherHall
		}
		return nil
	}
	return c
}

// Fingerprint returns the SHA-256 of a certificate in DER, in hex.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
