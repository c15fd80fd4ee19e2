package rulings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sightline/calibration/verify"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/scenefile"
)

// Decision is the judge's decision about the measured answer.
type Decision string

// The decisions.
const (
	AsMeasured Decision = "as_measured"
	Decided    Decision = "decided" // the measurement left something open, and the judge chose
	Overruled  Decision = "overruled"
)

func (d Decision) known() bool { return d == AsMeasured || d == Decided || d == Overruled }

// Ruling is a judge's ruling, for [Log.Append]. Scene, Pair and Sigmas are what people saw: the
// measured scene (the resting ships), the verdict on the chosen pair, and the number of standard
// deviations that a margin had to exceed.
type Ruling struct {
	At       time.Time // of the ruling
	Captured time.Time // of the picture; zero without one
	Program  string    // the program's version
	Source   string    // the camera, as it names itself

	Scene  engine.Scene
	Sigmas float64

	From, To string              // the chosen pair; both empty for a ruling about no pair
	Arc      engine.Arc          // the chosen arc; 0 for none
	Pair     *engine.PairVerdict // nil when the program had no answer, see Unanswered

	Unanswered string             // why there is no Pair, in a few words
	Verified   *verify.AnswerJSON // the calibration's last verification; nil for none

	Question string // what was asked, in words: "Is B1 at range 2 of A1?"
	AskedBy  string // who asked: a name, or "player 1", "the box"
	Answer   string // the program's answer in a few words, as people saw it: "Range 2, in the front arc"
	Decision Decision
	Title    string            // the ruling in a few words: "Range 2, in the front arc"; "" for a short Text
	Ruled    map[string]string // what the judge ruled differently, by the caller's keys; may be nil
	Text     string            // the ruling in words
	Reason   string            // required unless Decision is AsMeasured
	Judge    string            // the judge's name
}

// Record is the content of an entry, in the order of the keys in the canonical form.
type Record struct {
	Version  int               `json:"version"` // 1, or 2 with looks among the files; rises when a meaning changes
	Number   int64             `json:"number"`  // from 1, without gaps
	At       time.Time         `json:"at"`      // UTC
	Captured time.Time         `json:"captured,omitzero"`
	Program  string            `json:"program"`
	Source   string            `json:"source"`
	Edition  string            `json:"edition"` // the scene's rules: 1e, 2.0, 2.5
	Profile  string            `json:"profile"` // the name of the scene's profile
	Sigmas   float64           `json:"sigmas"`
	From     string            `json:"from"`
	To       string            `json:"to"`
	Arc      string            `json:"arc"` // "" when none was chosen
	Question string            `json:"question"`
	AskedBy  string            `json:"asked_by"`
	Answer   string            `json:"answer"`
	Decision Decision          `json:"decision"`
	Title    string            `json:"title"`
	Ruled    map[string]string `json:"ruled,omitempty"` // keys in the order of their bytes
	Text     string            `json:"ruling"`
	Reason   string            `json:"reason"`
	Judge    string            `json:"judge"`

	Scene      json.RawMessage `json:"scene"`              // as in a scene file
	Verdict    json.RawMessage `json:"verdict"`            // a pair as in a result file; null without an answer
	Unanswered string          `json:"unanswered"`         // why Verdict is null
	Verified   json.RawMessage `json:"verified,omitempty"` // the calibration's last verification
	Files      []FileRef       `json:"files"`              // in the order of the roles
	Key        PublicKey       `json:"key,omitempty"`      // of the machine that signed it; "" before signing was introduced
	Previous   string          `json:"previous"`           // hash of the entry before; Genesis in the first
}

// Entry is an entry read from the log.
type Entry struct {
	Record
	Hash string // SHA-256 of the canonical record, in hex, from the log

	// Damage says why the entry cannot be trusted; "" when its hash fits its content. A
	// damaged record holds what could still be read, perhaps only the number.
	Damage string
	// Newer says that the only Damage is that a newer program recorded the entry.
	Newer bool

	// Signature is the machine's signature of the hash, in hex; "" for none.
	Signature string

	raw []byte
}

// Canonical returns the hashed bytes of the entry.
func (e *Entry) Canonical() []byte { return bytes.Clone(e.raw) }

// SceneOf returns the entry's scene.
func (e *Entry) SceneOf() (engine.Scene, error) {
	scenes, list, err := scenefile.Parse(e.Scene)
	if err == nil && list {
		err = errors.New("expected one scene, got a list")
	}
	if err != nil {
		return engine.Scene{}, fmt.Errorf("rulings: entry %d: scene: %w", e.Number, err)
	}
	return scenes[0], nil
}

// File returns the reference to the file with a role.
func (r *Record) File(role Role) (FileRef, bool) {
	for _, f := range r.Files {
		if f.Role == role {
			return f, true
		}
	}
	return FileRef{}, false
}

// Genesis is the previous hash of the first entry.
var Genesis = strings.Repeat("0", 2*sha256.Size)

const (
	recordVersion = 2        // 1 has no looks among its files
	maxText       = 4000     // bytes of any text in a ruling
	maxRecord     = 16 << 20 // bytes; a crowded table is 20 kB
)

// canonical returns a record in the form that is hashed.
func canonical(r *Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// hashOf returns the hash of a canonical record, or of a file.
func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// ParseRecord parses a record. A text that is not in canonical form to the byte, or that no log
// would have written, is an error. For a record of a later version it is an ErrNewer, with the
// known part of the record. (The schema's version rises with the record's.)
func ParseRecord(raw []byte) (Record, error) {
	if len(raw) > maxRecord {
		return Record{}, fmt.Errorf("expected at most %d bytes, got %d", maxRecord, len(raw))
	}
	if !utf8.Valid(raw) {
		return Record{}, errors.New("it is not UTF-8")
	}
	var r Record
	if json.Unmarshal(raw, &r) == nil && r.Version > recordVersion {
		return r, fmt.Errorf("%w: the record is of version %d, and this program reads %d", ErrNewer, r.Version, recordVersion)
	}
	r = Record{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Record{}, fmt.Errorf("it is not a record: %w", err)
	}
	again, err := canonical(&r)
	if err != nil {
		return r, err
	}
	if !bytes.Equal(raw, again) && !(r.Key == "" && bytes.Equal(raw, untitled(again))) {
		return r, errors.New("it is not in canonical form")
	}
	return r, r.validate()
}

// untitled returns a record as the first programs wrote it, without a title.
func untitled(canonical []byte) []byte {
	return bytes.Replace(canonical, []byte(`,"title":""`), nil, 1)
}

// versionFor returns the version of a record with these files.
func versionFor(files []FileRef) int {
	if slices.ContainsFunc(files, func(f FileRef) bool { return f.Role == RoleLooks }) {
		return recordVersion
	}
	return 1
}

// validate checks a record.
func (r *Record) validate() error {
	switch {
	case r.Version != versionFor(r.Files):
		return fmt.Errorf("version: expected %d, got %d", versionFor(r.Files), r.Version)
	case r.Number < 1:
		return fmt.Errorf("number: expected at least 1, got %d", r.Number)
	case r.At.IsZero() || r.At.Location() != time.UTC:
		return errors.New("at: expected a time in UTC")
	case !r.Decision.known():
		return fmt.Errorf("decision: expected %s, %s or %s, got %q", AsMeasured, Decided, Overruled, r.Decision)
	case !isHash(r.Previous):
		return fmt.Errorf("previous: expected a SHA-256 in hex, got %q", r.Previous)
	case r.Key != "" && !isHash(string(r.Key)):
		return fmt.Errorf("key: expected a public key in hex, got %q", r.Key)
	case r.Files == nil:
		return errors.New("files: expected a list")
	}
	for i, f := range r.Files {
		if err := f.validate(); err != nil {
			return fmt.Errorf("files[%d]: %w", i, err)
		}
		if i > 0 && f.Role.order() <= r.Files[i-1].Role.order() {
			return fmt.Errorf("files[%d]: %s out of its order", i, f.Role)
		}
	}
	var scene struct {
		Rules   string `json:"rules"`
		Profile any    `json:"profile"`
	}
	if err := json.Unmarshal(r.Scene, &scene); err != nil {
		return fmt.Errorf("scene: %w", err)
	}
	if scene.Rules != r.Edition || profileName(scene.Profile) != r.Profile {
		return fmt.Errorf("edition, profile: the record has %s %s and its scene %s %s",
			r.Edition, r.Profile, scene.Rules, profileName(scene.Profile))
	}
	if r.hasVerdict() == (r.Unanswered != "") {
		return errors.New("verdict, unanswered: expected exactly one of them")
	}
	return nil
}

func (r *Record) hasVerdict() bool { return len(r.Verdict) > 0 && string(r.Verdict) != "null" }

// profileName returns the name of the profile in a scene file.
func profileName(v any) string {
	if m, ok := v.(map[string]any); ok {
		v = m["name"]
	}
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	return "nominal"
}

func isHash(s string) bool {
	if len(s) != 2*sha256.Size || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}

// readEntry returns an entry from its row in the database. A fault becomes its Damage. after says
// that an earlier entry is signed.
func readEntry(number int64, raw []byte, hash, signature string, after bool) Entry {
	e := Entry{Hash: hash, Signature: signature, raw: raw}
	var err error
	e.Record, err = ParseRecord(raw)
	switch actual := hashOf(raw); {
	case actual != hash:
		e.Damage = fmt.Sprintf("its hash does not fit its content: expected %s, found %s", hash, actual)
	case err != nil:
		e.Damage, e.Newer = err.Error(), errors.Is(err, ErrNewer)
	case e.Number != number:
		e.Damage = fmt.Sprintf("it stands at place %d and says that it is entry %d", number, e.Number)
	default:
		e.Damage = signatureFault(e.Key, hash, signature, after)
	}
	if e.Damage != "" {
		e.Number = number
	}
	return e
}

// ErrRuling is in every error about an invalid ruling. Other errors are the log's or the disk's.
var ErrRuling = errors.New("this ruling cannot be recorded")

func refuse(format string, a ...any) error {
	return fmt.Errorf("rulings: %w: %s", ErrRuling, fmt.Sprintf(format, a...))
}

// record returns the record of a ruling, without its number, files and previous hash.
func (r *Ruling) record() (Record, error) {
	if err := r.check(); err != nil {
		return Record{}, err
	}
	out := Record{
		At: r.At.UTC().Round(0), Program: r.Program, Source: r.Source,
		Edition: r.Scene.Rules.String(), Sigmas: r.Sigmas, From: r.From, To: r.To,
		Question: r.Question, AskedBy: r.AskedBy, Answer: r.Answer, Decision: r.Decision, Title: r.title(),
		Ruled: r.Ruled, Text: r.Text, Reason: r.Reason, Judge: r.Judge,
		Verdict: json.RawMessage("null"), Unanswered: r.Unanswered,
	}
	if !r.Captured.IsZero() {
		out.Captured = r.Captured.UTC().Round(0)
	}
	if r.Arc != 0 {
		out.Arc = r.Arc.String()
	}
	var err error
	if out.Scene, err = scenefile.Marshal(r.Scene); err != nil {
		return out, refuse("scene: %v", err)
	}
	var scene struct {
		Profile any `json:"profile"`
	}
	if err := json.Unmarshal(out.Scene, &scene); err != nil {
		return out, refuse("scene: %v", err)
	}
	out.Profile = profileName(scene.Profile)
	if r.Verified != nil {
		if out.Verified, err = json.Marshal(r.Verified); err != nil {
			return out, refuse("verified: %v", err)
		}
	}
	if r.Pair != nil {
		out.Verdict, err = r.verdict(&out)
	}
	return out, err
}

// title returns the ruling's title, or its text if that is short.
func (r *Ruling) title() string {
	const short = 120
	if r.Title == "" && len(r.Text) <= short {
		return r.Text
	}
	return r.Title
}

// verdict returns the pair's verdict measured in the stored scene, so it can be recomputed to the
// last digit. Headings are stored in degrees, which changes them by some 1e-14, and margins by
// more. When that changes the answer, next to a tie, what people saw is recorded. A verdict on
// another scene is refused.
func (r *Ruling) verdict(out *Record) (json.RawMessage, error) {
	shown, err := pairJSON(*r.Pair)
	if err != nil {
		return nil, refuse("verdict: %v", err)
	}
	again, err := out.measure()
	if err != nil {
		return nil, refuse("scene: %v", err)
	}
	diffs, err := differences(shown, again)
	if err != nil {
		return nil, refuse("verdict: %v", err)
	}
	same := true
	for _, d := range diffs {
		if d.Key == "range.distance_mm" { // which changes no more than the headings
			return nil, refuse("the verdict is not what the scene gives: %s is %s, and %s when it is measured again", d.Key, d.Recorded, d.Now)
		}
		same = same && figure(d.Key)
	}
	if !same {
		return shown, nil
	}
	return again, nil
}

// check validates the ruling.
func (r *Ruling) check() error {
	switch {
	case r.At.IsZero():
		return refuse("at: expected the time of the ruling")
	case (r.From == "") != (r.To == ""):
		return refuse("from, to: expected both ships of the pair or none, got %q and %q", r.From, r.To)
	case r.Pair != nil && (r.Pair.From != r.From || r.Pair.To != r.To):
		return refuse("verdict: expected that of %s to %s, got %s to %s", r.From, r.To, r.Pair.From, r.Pair.To)
	case r.Pair == nil && r.Unanswered == "":
		return refuse("verdict: expected one, or why there is none")
	case r.Pair != nil && r.Unanswered != "":
		return refuse("unanswered: expected nothing with a verdict, got %q", r.Unanswered)
	case !(r.Sigmas > 0) || r.Sigmas > 1000:
		return refuse("sigmas: expected more than 0, got %g", r.Sigmas)
	case !r.Decision.known():
		return refuse("decision: expected %s, %s or %s, got %q", AsMeasured, Decided, Overruled, r.Decision)
	case r.Decision != Overruled && r.Pair == nil:
		return refuse("decision: nothing was measured (%s), so it is the judge's own: expected %s with a reason", r.Unanswered, Overruled)
	case r.Decision != AsMeasured && strings.TrimSpace(r.Reason) == "":
		return refuse("reason: expected why the judge rules so, where the measurement does not say it")
	case strings.TrimSpace(r.Text) == "":
		return refuse("ruling: expected the ruling in words")
	}
	if len(r.Ruled) > 20 {
		return refuse("ruled: expected at most 20 keys, got %d", len(r.Ruled))
	}
	for k, v := range r.Ruled {
		if err := errors.Join(checkText("ruled", k), checkText("ruled."+k, v)); err != nil {
			return err
		}
	}
	for _, t := range []struct{ name, text string }{
		{"title", r.Title}, {"program", r.Program}, {"source", r.Source}, {"from", r.From}, {"to", r.To}, {"unanswered", r.Unanswered},
		{"question", r.Question},
		{"asked by", r.AskedBy}, {"answer", r.Answer}, {"ruling", r.Text}, {"reason", r.Reason}, {"judge", r.Judge},
	} {
		if err := checkText(t.name, t.text); err != nil {
			return err
		}
	}
	return nil
}

func checkText(name, text string) error {
	switch {
	case len(text) > maxText:
		return refuse("%s: expected at most %d bytes, got %d", name, maxText, len(text))
	case !utf8.ValidString(text):
		return refuse("%s: expected UTF-8", name)
	}
	if strings.ContainsFunc(text, sentence.Invisible) {
		return refuse("%s: expected text without control characters and others that cannot be seen", name)
	}
	return nil
}
