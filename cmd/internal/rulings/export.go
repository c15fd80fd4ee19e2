package rulings

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/draw"
	"sightline/cmd/internal/rulebook"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

//go:embed export.html
var exportHTML string

var exportTemplate = template.Must(template.New("ruling").Parse(exportHTML))

// document is the content of a ruling's page.
type document struct {
	*Entry
	When, Seen string
	Overruled  bool
	Faults     []string // of the entry or its files
	Photo      *photo   // nil when PhotoWhy says why
	PhotoWhy   string
	Above      template.URL // the table from above, an SVG as data: URI
	Rows       []row
	Rules      []rulebook.Rule
	Camera     []fact
	Kept       []keptFile
	Data       exported
}

// exported is the machine-readable part of the page: the record, as the text that was hashed.
type exported struct {
	Hash      string `json:"sha256"`
	Signature string `json:"signature,omitempty"` // of the hash, by the key that the record names
	Record    string `json:"record"`
}

// row is a measured answer.
type row struct {
	Question, Answer string
	Value, Margin    string
	Note             string // the margin in sigmas
	Rules            string
	Chosen           bool
}

type fact struct{ Name, Text string }

type keptFile struct{ Name, Hash, Size, Note string }

// ExportHTML writes an entry as a self-contained HTML file without scripts. The page lists the
// faults that it finds in the entry. A missing entry is ErrNoEntry.
func (l *Log) ExportHTML(ctx context.Context, w io.Writer, n int64) error {
	e, err := l.Entry(ctx, n)
	if err != nil {
		return err
	}
	d, err := l.document(ctx, &e)
	if err != nil {
		return fmt.Errorf("rulings: export entry %d: %w", n, err)
	}
	if err := exportTemplate.Execute(w, d); err != nil {
		return fmt.Errorf("rulings: export entry %d: %w", n, err)
	}
	return nil
}

func (l *Log) document(ctx context.Context, e *Entry) (*document, error) {
	d := &document{Entry: e, When: clock(e.At), Overruled: e.Decision != AsMeasured, Data: exported{e.Hash, e.Signature, string(e.raw)}}
	if !e.Captured.IsZero() {
		d.Seen = clock(e.Captured)
	} else if _, ok := e.File(RoleFrame); ok { // a photograph, say
		d.Seen = "taken at an unknown time"
	}
	if e.Damage != "" {
		d.Faults = append(d.Faults, e.Damage)
	}
	if fault, err := l.linkFault(ctx, e); err != nil {
		return nil, err
	} else if fault != "" {
		d.Faults = append(d.Faults, fault)
	}
	if len(e.Scene) == 0 {
		d.PhotoWhy = "The entry cannot be read."
		return d, nil
	}
	d.files(ctx, l)
	scene, err := e.SceneOf()
	if err != nil {
		d.Faults = append(d.Faults, err.Error())
		return d, nil
	}
	table, err := l.calibrationOf(ctx, &e.Record)
	known := err == nil
	if known {
		d.camera(&table)
	}
	d.numbers(&scene)
	d.above(&scene)
	d.photo(ctx, l, &scene, &table, known)
	return d, nil
}

// linkFault returns a fault when the entry does not have the hash of the one before it.
func (l *Log) linkFault(ctx context.Context, e *Entry) (string, error) {
	want := Genesis
	if e.Number > 1 {
		before, err := l.Entry(ctx, e.Number-1)
		if errors.Is(err, ErrNoEntry) {
			return fmt.Sprintf("the entry before it, %d, is missing", e.Number-1), nil
		}
		if err != nil {
			return "", err
		}
		want = before.Hash
	}
	if e.Previous != want {
		return fmt.Sprintf("it does not follow the entry before it: expected the hash %s, found %s", want, cmp.Or(e.Previous, "none")), nil
	}
	return "", nil
}

func clock(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 UTC") }

// files lists and checks the entry's files.
func (d *document) files(ctx context.Context, l *Log) {
	names := map[Role]string{
		RoleFrame: "The picture that was measured", RoleColor: "The picture in colour", RoleCalibration: "The camera's calibration",
		RoleLens: "The lens", RoleCatalogue: "The obstacles that may lie there", RoleEmptyMat: "The empty mat",
		RoleLooks: "The cards that ships were found by",
	}
	for _, f := range d.Files {
		k := keptFile{Name: names[f.Role], Hash: f.SHA256, Size: size(f.Bytes)}
		switch _, err := l.File(ctx, f); {
		case errors.Is(err, ErrPruned):
			k.Note = "removed for its age"
		case err != nil:
			d.Faults = append(d.Faults, err.Error())
			k.Note = "not as it was recorded"
		}
		d.Kept = append(d.Kept, k)
	}
}

func size(n int64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	if n < 1_000_000 {
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// camera describes the calibration.
func (d *document) camera(t *calibration.Table) {
	add := func(name, format string, a ...any) {
		d.Camera = append(d.Camera, fact{name, fmt.Sprintf(format, a...)})
	}
	made := "at a time that is not known"
	if !t.Made.IsZero() {
		made = clock(t.Made)
	}
	add("Calibrated", "%s, from %d markers, %.2f px rms", made, len(t.Used), t.RMS)
	add("Its file", "%s", t.State())
	if len(d.Verified) > 0 {
		var v verify.AnswerJSON
		if err := json.Unmarshal(d.Verified, &v); err == nil {
			add("Verified", "%s", strings.TrimPrefix(v.String(), "verified "))
		}
	} else {
		add("Verified", "never, as far as the program knew")
	}
	add("Hash", "%s", t.Hash)
}

// numbers lists the measurements of the pair, and the rules behind them.
func (d *document) numbers(scene *engine.Scene) {
	if !d.hasVerdict() {
		return
	}
	p, err := parsePair(d.Verdict)
	if err != nil {
		d.Faults = append(d.Faults, err.Error())
		return
	}
	var all []string
	add := func(r row, rule string) {
		r.Rules = rule
		all = append(all, rule)
		d.Rows = append(d.Rows, r)
	}
	contact := engine.No
	if p.Contact == "yes" {
		contact = engine.Yes
	}
	add(d.rangeRow("Range", &p.Range), engine.RangeRule(scene.Rules, contact))
	for i := range p.Arcs {
		a := &p.Arcs[i]
		arc, err := engine.ParseArc(a.Arc)
		if err != nil || a.InArc == "no" && a.Arc != d.Arc {
			continue
		}
		name := sentence.Upper(plain(a.Arc)) + " arc"
		r := row{
			Question: "In the " + strings.ToLower(name), Answer: plain(a.InArc), Value: "by " + plusMinus(a.Margin, a.Sigma),
			Margin: mm(abs(a.Margin)), Note: sigmas(a.Margin, a.Sigma), Chosen: a.Arc == d.Arc,
		}
		add(r, arc.Rule(scene.Rules))
		if a.Attack == nil {
			continue
		}
		r = d.rangeRow("Attack range, "+strings.ToLower(name), &a.Attack.rangeVerdict)
		r.Chosen = a.Arc == d.Arc
		add(r, engine.AttackRule(scene.Rules, arc))
		o := &a.Attack.Obstruction
		r = row{Question: "Obstructed, " + strings.ToLower(name), Answer: o.words(scene.ObstaclesUnseen), Margin: "–", Chosen: a.Arc == d.Arc}
		// An unseen line has no margin, nor has one that nothing on the table could obstruct.
		if o.Verdict != engine.NoView.String() && len(scene.Obstacles)+len(scene.Unknown) > 0 {
			r.Margin = mm(o.Margin)
		}
		add(r, engine.ObstructionRule(scene.Rules))
	}
	seen := map[string]bool{}
	for _, rule := range all {
		for _, r := range rulebook.Of(rule) {
			if !seen[r.Name] {
				seen[r.Name] = true
				d.Rules = append(d.Rules, r)
			}
		}
	}
}

func (d *document) rangeRow(question string, r *rangeVerdict) row {
	return row{
		Question: question, Answer: r.words(), Value: plusMinus(r.Distance, r.Sigma), Margin: mm(r.Margin),
		Note: sigmas(r.Margin, r.Sigma), Chosen: d.Arc == "",
	}
}

func mm(v float64) string { return fmt.Sprintf("%.2f mm", v) }

func plusMinus(v, sigma float64) string {
	if sigma == 0 {
		return mm(v)
	}
	return fmt.Sprintf("%.2f ± %.2f mm", v, sigma)
}

// sigmas formats a margin in standard deviations.
func sigmas(margin, sigma float64) string {
	if sigma <= 0 {
		return ""
	}
	n := abs(margin) / sigma
	if n > 99 {
		return "> 99 σ"
	}
	return fmt.Sprintf("%.1f σ", n)
}

func abs(v float64) float64 { return max(v, -v) }

// above draws the table from above, as a separate picture with its own style.
func (d *document) above(scene *engine.Scene) {
	o := draw.Options{Sigmas: d.Sigmas, Title: "The table from above"}
	has := map[string]bool{}
	for i := range scene.Ships {
		has[scene.Ships[i].ID] = true
	}
	if has[d.From] && has[d.To] && d.hasVerdict() {
		o.From, o.To = d.From, d.To
		if arc, err := engine.ParseArc(d.Arc); err == nil {
			o.Arcs = []engine.Arc{arc}
		}
	}
	svg, err := draw.SVG(scene, o)
	if err != nil {
		d.Faults = append(d.Faults, err.Error())
		return
	}
	d.Above = dataURI("image/svg+xml", svg)
}

func dataURI(mediaType string, raw []byte) template.URL {
	return template.URL("data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(raw))
}
