package hall

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nkeys"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/event"
)

// Invites are the tables that may join, in a file of the hall's state folder. Several programs may
// change the file; the hall reads it again after every change.
type Invites struct {
	path string
	now  func() time.Time

	mu   sync.Mutex // guards the fields below
	read fs.FileInfo
	book book
}

// book is the content of the file.
type book struct {
	Event  string   `json:"event"`
	URL    string   `json:"url"`    // address at which tables reach the broker; "": not known yet
	SHA256 string   `json:"sha256"` // of the broker's certificate; "": a trusted authority signed it
	Tables []Invite `json:"tables"`
}

// Invite is one table's key. A new invitation of a table has a new key and ends the old one.
type Invite struct {
	Table   string    `json:"table"`
	Key     string    `json:"key"` // public
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
	Revoked bool      `json:"revoked,omitempty"`
	URL     string    `json:"url,omitempty"`    // address of the hall in the invitation; "": unknown
	SHA256  string    `json:"sha256,omitempty"` // fingerprint of the broker's certificate in the invitation
}

const (
	invitesFile = "tables.json"
	invitesMost = 1 << 20 // bytes
	// inviteLongest is the longest validity of an invitation.
	inviteLongest = 366 * 24 * time.Hour
)

// OpenInvites opens the invites of a state folder, and makes the folder if needed.
func OpenInvites(dir string, now func() time.Time) (*Invites, error) {
	if err := atomicfile.MkdirAll(atomicfile.OS{}, dir, 0o700); err != nil {
		return nil, fmt.Errorf("hall: %w", err)
	}
	v := &Invites{path: filepath.Join(dir, invitesFile), now: now}
	err := v.change(func(b *book) error { return nil })
	return v, err
}

// load reads the file if it has changed. The caller holds mu.
func (v *Invites) load() error {
	info, err := os.Stat(v.path)
	if errors.Is(err, fs.ErrNotExist) {
		if v.book.Event != "" {
			return fmt.Errorf("hall: %s is gone", v.path)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	if v.read != nil && os.SameFile(v.read, info) && info.ModTime().Equal(v.read.ModTime()) && info.Size() == v.read.Size() {
		return nil
	}
	raw, err := regularfile.Read(v.path, invitesMost)
	if err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	var b book
	if err := json.Unmarshal(raw, &b); err != nil {
		return fmt.Errorf("hall: %s: %w", v.path, err)
	}
	if err := event.CheckName("event", b.Event); err != nil {
		return fmt.Errorf("hall: %s: %w", v.path, err)
	}
	if v.book.Event != "" && b.Event != v.book.Event {
		return fmt.Errorf("hall: %s is of another event, %s: start the hall again for it", v.path, b.Event)
	}
	v.read, v.book = info, b
	return nil
}

// change changes the file under a lock that other programs respect.
func (v *Invites) change(f func(*book) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	lock, err := os.OpenFile(v.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	defer lock.Close() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("hall: lock %s: %w", v.path, err)
	}
	if err := v.load(); err != nil {
		return err
	}
	b := v.book
	b.Tables = slices.Clone(b.Tables)
	if b.Event == "" {
		b.Event = strings.ToLower(rand.Text()[:6])
	}
	if err := f(&b); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	if err := atomicfile.Write(v.path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	v.read = nil
	return v.load()
}

// current returns the content of the file. If the file cannot be read, the last content stays
// valid, so no table is disconnected; Trouble returns the error.
func (v *Invites) current() (book, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.load()
	if v.book.Event != "" {
		return v.book, nil
	}
	return v.book, err
}

// Trouble returns why the file cannot be read; nil if it can.
func (v *Invites) Trouble() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.load()
}

// Event returns the event's name.
func (v *Invites) Event() (string, error) {
	b, err := v.current()
	return b.Event, err
}

// SetBroker stores the address at which tables reach the broker, and its certificate's fingerprint.
func (v *Invites) SetBroker(url, fingerprint string) error {
	if b, err := v.current(); err == nil && b.URL == url && b.SHA256 == fingerprint {
		return nil
	}
	return v.change(func(b *book) error {
		b.URL, b.SHA256 = url, fingerprint
		return nil
	})
}

// Invite makes a key for a table. holds is its validity; url is the address at which the table
// reaches the broker, or "" for the hall's own.
func (v *Invites) Invite(table, url string, holds time.Duration) (event.Invitation, error) {
	if err := event.CheckName("table", table); err != nil {
		return event.Invitation{}, err
	}
	if holds < time.Minute || holds > inviteLongest {
		return event.Invitation{}, fmt.Errorf("for: expected a minute to a year, got %v", holds)
	}
	key, err := nkeys.CreateUser()
	if err != nil {
		return event.Invitation{}, fmt.Errorf("hall: %w", err)
	}
	public, err := key.PublicKey()
	if err != nil {
		return event.Invitation{}, fmt.Errorf("hall: %w", err)
	}
	seed, err := key.Seed()
	if err != nil {
		return event.Invitation{}, fmt.Errorf("hall: %w", err)
	}
	var out event.Invitation
	err = v.change(func(b *book) error {
		said := ""
		if url == "" {
			said, url = b.URL, b.URL
		}
		if url == "" {
			return fmt.Errorf("no hall has run with the folder %s, so its address is not known: start sightline hall first; if yours runs with "+
				"--state, name that here too; or name the hall's address with --url tls://HOST:PORT", filepath.Dir(v.path))
		}
		out = event.Invitation{URL: url, Event: b.Event, Table: table, Seed: string(seed), Fingerprint: b.SHA256,
			Expires: v.now().Add(holds).Truncate(time.Second)}
		if _, err := event.ParseInvitation(out.String()); err != nil {
			return err
		}
		for i := range b.Tables {
			k := &b.Tables[i]
			if k.Table != table && plain(k.Table) == plain(table) && k.refused(v.now()) == "" {
				return fmt.Errorf("table %q is invited, which people take for table %q: revoke it first, or choose another name", k.Table, table)
			}
			if k.Table == table {
				k.Revoked = true
			}
		}
		b.Tables = append(b.Tables, Invite{Table: table, Key: public, Made: v.now().UTC(), Expires: out.Expires, URL: said, SHA256: b.SHA256})
		return nil
	})
	return out, err
}

// plain returns a table's name as people say it: 07 is 7, a is A.
func plain(table string) string { return strings.ToLower(strings.TrimLeft(table, "0")) }

// Revoke ends a table's invitation.
func (v *Invites) Revoke(table string) error {
	return v.change(func(b *book) error {
		found := false
		for i := range b.Tables {
			if t := &b.Tables[i]; t.Table == table && !t.Revoked {
				t.Revoked, found = true, true
			}
		}
		if !found {
			return fmt.Errorf("no table %q is invited in the folder %s", table, filepath.Dir(v.path))
		}
		return nil
	})
}

// Valid returns the valid invitations, one per table.
func (v *Invites) Valid() ([]Invite, error) {
	b, err := v.current()
	if err != nil {
		return nil, err
	}
	var out []Invite
	for _, i := range b.Tables {
		if i.refused(v.now()) == "" {
			out = append(out, i)
		}
	}
	return out, nil
}

// astray describes why a table cannot find the hall with its valid invitation; "": it can, as far
// as the hall knows.
func (v *Invites) astray(i Invite) string {
	b, _ := v.current() // on an error nothing is known
	switch {
	case b.SHA256 != "" && i.SHA256 != "" && i.SHA256 != b.SHA256:
		return "Its invitation names another certificate than the hall has now: invite this table again."
	case b.URL != "" && i.URL != "" && i.URL != b.URL:
		return fmt.Sprintf("Its invitation says that the hall is at %s, and it is at %s: invite this table again, or give this machine its "+
			"address back.", i.URL, b.URL)
	}
	return ""
}

// ended describes why a table's last invitation is invalid; "": it is valid, or there is none.
func (v *Invites) ended(table string) (why string) {
	b, _ := v.current() // on an error there is none
	for _, i := range b.Tables {
		if i.Table == table {
			why = i.refused(v.now())
		}
	}
	return why
}

// revoked reports whether a table's last invitation was revoked.
func (v *Invites) revoked(table string) (yes bool) {
	b, _ := v.current() // on an error there is none
	for _, i := range b.Tables {
		if i.Table == table {
			yes = i.Revoked
		}
	}
	return yes
}

// refused describes why an invitation is invalid; "": it is valid.
func (i *Invite) refused(now time.Time) string {
	switch {
	case i.Revoked:
		return "its invitation was revoked"
	case !now.Before(i.Expires):
		return "its invitation expired at " + i.Expires.Format(time.RFC3339)
	}
	return ""
}

// byKey returns the invitation with a key, and why it is invalid.
func (v *Invites) byKey(key string) (i Invite, problem string) {
	b, err := v.current()
	if err != nil {
		return i, err.Error()
	}
	for _, i := range b.Tables {
		if i.Key == key {
			return i, i.refused(v.now())
		}
	}
	return i, unknownKey
}

// unknownKey describes a key that is in no invitation.
const unknownKey = "its key is unknown here"
