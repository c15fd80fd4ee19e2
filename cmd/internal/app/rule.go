package app

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/enrol"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/look"
)

// judges records the rulings on the held picture: it is the page's web.Rulings over the log. It
// opens the log when it is first needed, and again after a failure, so a folder that comes back
// needs no restart.
type judges struct {
	game    *game.Game
	where   Rulings
	dir     string // of the log, for people
	version string // the program's

	// The files with which obstacles were found; "": none.
	catalogue, emptyMat string
	looks               string // folder of the cards by which ships are found
	// newLocator makes a locator for a single picture, including its obstacles. The pipeline's own
	// locator searches for obstacles in the background.
	newLocator func(calibration.Table) (pipeline.Locator, error)
	log        *slog.Logger
	now        func() time.Time

	ruling sync.Mutex // held while a ruling is made: one judge at a time

	mu   sync.Mutex // guards the fields below
	open *rulings.Log
}

var _ web.Rulings = (*judges)(nil)

// newJudges returns the record of a program. newLocator makes the pipeline's locators.
func newJudges(c Config, g *game.Game, newLocator func(calibration.Table) (pipeline.Locator, error), o Options) *judges {
	where := c.Rulings
	if where.Key == "" && o.StateDir != "" {
		where.Key = filepath.Join(o.StateDir, rulingsKey)
	}
	return &judges{
		game: g, where: where, dir: absolute(where.Folder()), version: o.Version,
		catalogue: c.Table.Catalogue, emptyMat: c.Table.EmptyMat, looks: looksDir(c), newLocator: singleLocator(c, newLocator),
		log: o.Log, now: time.Now,
	}
}

// singleLocator returns a function that makes locators for single pictures.
func singleLocator(c Config, newLocator func(calibration.Table) (pipeline.Locator, error)) func(calibration.Table) (pipeline.Locator,
	error) {
	if c.Table.Catalogue == "" {
		return newLocator
	}
	return func(t calibration.Table) (pipeline.Locator, error) {
		o, err := locatorOptions(c, "table.empty_mat")
		if err != nil {
			return nil, err
		}
		if o.Looks, err = look.Load(looksDir(c)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return nil, err
		}
		return openLocator(t, o)
	}
}

// record returns the log. Reading needs no key.
func (j *judges) record() (*rulings.Log, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open != nil {
		return j.open, nil
	}
	l, err := j.where.Open(j.tell)
	if err != nil {
		return nil, j.problem(err)
	}
	j.open = l
	j.prune(l)
	return l, nil
}

// recordToSign returns the log with its signing key.
func (j *judges) recordToSign() (*rulings.Log, error) {
	l, err := j.record()
	if err != nil {
		return nil, err
	}
	first := l.Key() == nil
	again, err := j.where.Sign(l)
	if err != nil {
		return nil, j.problem(err)
	}
	if first {
		j.noteOtherKey(l)
	}
	if again {
		j.tell("The file of the key that signs rulings was gone. It was written again, with the same key.")
	}
	return l, nil
}

// noteOtherKey reports that a log continues with another key than that of its last entry.
func (j *judges) noteOtherKey(l *rulings.Log) {
	last, err := l.Last(context.Background(), 1)
	if err == nil && len(last) > 0 && last[0].Key != "" && last[0].Key != rulings.PublicOf(l.Key()) {
		j.tell(fmt.Sprintf("The record in %s continues with another key from ruling %d on: the key that signed the last one, %s, is not on "+
			"this machine. "+
			"Verification reports that until you give both keys.", j.dir, last[0].Number+1, last[0].Key))
	}
}

// prune deletes pictures older than the configured age.
func (j *judges) prune(l *rulings.Log) {
	switch n, err := l.Prune(context.Background(), j.now()); {
	case err != nil:
		j.log.Warn("old pictures of rulings are still there", "err", err)
	case n > 0:
		j.log.Info("pictures of rulings were removed for their age", "files", n)
	}
}

// tell reports an event of the record on the page and in the program's log.
func (j *judges) tell(text string) {
	j.log.Warn(text)
	j.game.Note(text)
}

// check reports at the start what would prevent the first ruling. It creates nothing.
func (j *judges) check(ctx context.Context) {
	if dir := j.where.Earlier(); dir != "" {
		j.tell(fmt.Sprintf("An earlier version kept rulings in %s. They are kept in %s now. To continue the earlier record, "+
			"stop the program and move that folder there, or name it as rulings.dir in the configuration.", dir, j.dir))
	}
	err := rulings.Probe(ctx, j.dir)
	if errors.Is(err, rulings.ErrGone) {
		j.tell("In " + j.dir + " " + rulings.ErrGone.Error() + ". The next ruling begins a new record there.")
		err = nil
	}
	if err == nil {
		err = j.where.checkKey()
	}
	if err == nil {
		return
	}
	j.log.Warn("no ruling could be recorded now", "dir", j.dir, "err", err)
	// Even without a configured judge's secret: the program makes one.
	trouble := "No ruling could be recorded now: " + rulingsTrouble(err, j.dir)
	j.game.SetRulingsTrouble(trouble, trouble)
}

// newerRemedy is the advice for a record of a newer program.
const newerRemedy = "Install the newer program, or move the folder away to begin a new record."

// rulingsTrouble tells people why rulings cannot be recorded.
func rulingsTrouble(err error, dir string) string {
	switch {
	case errors.Is(err, errKey):
		return err.Error() + "."
	case errors.Is(err, rulings.ErrCorrupt):
		return "the record in " + dir + " is damaged or another program's. Run sightline rulings verify, and keep the folder as it is."
	case errors.Is(err, fs.ErrPermission):
		return "the folder " + dir + " is not writable."
	case errors.Is(err, rulings.ErrNewer):
		return "a newer program made the record in " + dir + ". It is shown here, and nothing is recorded in it. " + newerRemedy
	}
	return "the folder " + dir + " cannot be used (" + err.Error() + ")."
}

// Close closes the log.
func (j *judges) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open == nil {
		return nil
	}
	j.prune(j.open) // which records how long the machine ran
	err := j.open.Close()
	j.open = nil
	return err
}

// problem describes an error of the record, and what to do about it.
func (j *judges) problem(err error) error {
	kind, text := live.ErrUnwritten, ""
	const kept = " What you wrote is still in the form."
	switch {
	case errors.Is(err, rulings.ErrNoEntry), errors.Is(err, rulings.ErrPruned):
		return fmt.Errorf("%w: %w", live.ErrNoRuling, err)
	case errors.Is(err, rulings.ErrRuling):
		kind, text = live.ErrInvalid, "This ruling cannot be recorded: "+err.Error()+"."
	case errors.Is(err, errKey):
		text = "The ruling cannot be signed: nothing was recorded (" + err.Error() + ")." + kept
	case errors.Is(err, rulings.ErrOverwritten):
		kind = live.ErrDamaged
		text = "Another file was copied over rulings.db in " + j.dir + " while the program ran, and rulings that were recorded are not in it: " +
			"nothing was recorded. To begin a new record, move the folder away and record it again; to continue the copy, start the program again." +
			kept
	case errors.Is(err, rulings.ErrMoved):
		text = "The rulings in " + j.dir + " were moved or removed while this one was written: it could not be kept. Record it again." + kept
	case errors.Is(err, rulings.ErrFull):
		text = "There is no room on the disk: nothing was recorded. Make room in " + j.dir + " and record it again." + kept
	case errors.Is(err, fs.ErrPermission):
		text = "The rulings folder, " + j.dir + ", is not writable: nothing was recorded." + kept
	case errors.Is(err, rulings.ErrNewer):
		text = "A newer program made the record in " + j.dir + ": nothing was recorded. " + newerRemedy + kept
	case errors.Is(err, rulings.ErrInUse):
		kind, text = live.ErrInUse, "Another program is writing the rulings in "+j.dir+": nothing was recorded. Stop it, then record again."+
			kept
	case errors.Is(err, rulings.ErrCorrupt):
		kind = live.ErrDamaged
		text = "The record of rulings in " + j.dir + " is damaged: nothing was recorded. Run sightline rulings verify, and keep the folder as " +
			"it is." + kept
	default:
		text = "The ruling could not be written to " + j.dir + ": nothing was recorded (" + err.Error() + ")." + kept
	}
	j.log.Warn("rulings", "err", err)
	if kind != live.ErrInvalid { // of the record, not of this ruling: it stays until a ruling succeeds
		j.game.SetRulingsTrouble(strings.TrimSuffix(text, kept))
	}
	return &live.Refusal{Kind: kind, Text: text}
}

// Rule implements web.Rulings. It records the held picture and never another one.
func (j *judges) Rule(r live.RuleRequest) (live.Ruling, error) {
	j.ruling.Lock()
	defer j.ruling.Unlock()
	h, last := j.game.Judged()
	switch {
	case h == nil || h.Number != r.Held:
		return live.Ruling{}, live.ErrHeldChanged
	case last != nil && last.Number != r.After:
		return live.Ruling{}, live.RuledInBetween(last)
	}
	out, err := live.NewRuling(h, r)
	if err != nil {
		return out, err
	}
	log, err := j.recordToSign()
	if err != nil {
		return out, err
	}
	out.At, out.Program = j.now(), j.version
	out.PictureGivesSame, out.PictureDifference = j.alone(h, r.Choice)
	files, err := j.files(h)
	if err != nil {
		return out, j.problem(err)
	}
	e, err := log.Append(context.Background(), j.entry(h, &out), files)
	if err != nil {
		return out, j.problem(err)
	}
	j.prune(log)
	out.Number, out.EntryHash = uint64(e.Number), e.Hash
	j.game.SetRuling(&out)
	return out, nil
}

// entry returns a ruling in the form that the log stores.
func (j *judges) entry(h *live.Held, v *live.Ruling) rulings.Ruling {
	e := rulings.Ruling{
		At: v.At, Captured: h.Located.Captured, Program: j.version, Source: h.Source, Scene: h.Scene(), Sigmas: h.Sigmas,
		From: v.From, To: v.To, Arc: v.Arc, Verified: h.Register.Verified,
		Question: v.Question, AskedBy: v.AskedBy, Answer: v.Measured + aloneNote(v), Decision: rulings.Decision(v.Decision),
		Title: v.Title, Ruled: ruledOf(v.Ruled), Reason: v.Reason, Judge: v.Judge,
	}
	short := *v
	short.Reason = "" // stored separately
	e.Text = live.RulingText(&short)
	if e.Sigmas == 0 {
		e.Sigmas = engine.DefaultSigmas
	}
	if e.Pair, e.Unanswered = h.Pair(v.From, v.To); e.Pair != nil {
		e.Unanswered = ""
	}
	return e
}

// ruledOf returns the judge's ruling as the entry stores it, with the page's keys.
func ruledOf(r live.Ruled) map[string]string {
	out := map[string]string{}
	for key, value := range map[string]string{"range": r.Range, "in_arc": r.InArc, "obstructed": r.Obstructed, "may_attack": r.MayAttack} {
		if value != "" {
			out[key] = value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// The note behind the program's answer in an entry: whether the one stored picture gives the same
// answer as the mean of several pictures, which was shown.
const (
	aloneMark = "; the stored picture alone: "
	aloneSame = "the same"
)

func aloneNote(v *live.Ruling) string {
	if v.PictureGivesSame {
		return aloneMark + aloneSame
	}
	return aloneMark + v.PictureDifference
}

// alone measures the held picture on its own. It reports whether the pair's answers are the same,
// and otherwise the difference.
func (j *judges) alone(h *live.Held, c live.Choice) (same bool, differs string) {
	if h.Marked {
		return false, "a person marked the ships in it"
	}
	if _, _, why := j.obstacles(h); why != "" {
		return false, why
	}
	if j.changedCards(h) && slices.ContainsFunc(h.Scene().Ships, func(s engine.Ship) bool { return s.Look != "" }) {
		return false, cardsChanged
	}
	locator, err := j.newLocator(h.Table)
	if err != nil {
		return false, "it cannot be located: " + err.Error()
	}
	located, err := locator.Locate(h.Frame)
	if err != nil {
		return false, "it cannot be located: " + err.Error()
	}
	if l, ok := locator.(interface {
		Again(vision.Frame, []engine.Ship, *vision.Located) error
	}); ok {
		ofPair := slices.DeleteFunc(slices.Clone(h.Located.Scene.Ships), func(s engine.Ship) bool { return s.ID != c.From && s.ID != c.To })
		if err := l.Again(h.Frame, ofPair, &located); err != nil {
			return false, "it cannot be located: " + err.Error()
		}
	}
	scene := &located.Scene
	scene.Rules, scene.Profile, scene.Dimensions = h.Located.Scene.Rules, h.Located.Scene.Profile, h.Located.Scene.Dimensions
	if h.Play != nil {
		h.Play.Printed.Apply(scene)
	}
	one := *h
	one.Located, one.Tracks = located, nil
	one.ObstaclesWatched = located.Obstacles != nil && located.Obstacles.Unseen == ""
	if one.Result, err = engine.Measure(scene, h.Touch.Options(scene, h.Sigmas)); err != nil {
		return false, "it cannot be measured: " + err.Error()
	}
	if is := one.Measured(c); is != h.Measured(c) {
		return false, is
	}
	return true, ""
}

// files returns the files on which a ruling is based.
func (j *judges) files(h *live.Held) (f rulings.Files, err error) {
	f = rulings.Files{Frame: h.Frame.Gray, Calibration: h.Register.File}
	if len(f.Calibration) == 0 {
		return f, fmt.Errorf("%w: the held picture has no calibration", rulings.ErrRuling)
	}
	if c := h.Frame.Color; c != nil {
		f.Color = image.Image(c)
	}
	if f.Looks, err = j.looksOf(h); err != nil {
		j.log.Warn("a ruling is recorded without the cards that its ships were found by", "err", err)
	}
	var why string
	if f.Catalogue, f.EmptyMat, why = j.obstacles(h); why != "" {
		j.log.Warn("a ruling is recorded without catalogue and empty mat", "why", why)
	}
	return f, nil
}

// obstacles returns the catalogue and the empty mat by which a held picture was measured; none without obstacles. If they are no longer
// there, it returns none and says why: a picture may be ruled on an hour after it was held, and by other files it would be answered
// differently.
func (j *judges) obstacles(h *live.Held) (tokens, mat []byte, why string) {
	if j.catalogue == "" || !h.ObstaclesWatched || h.Marked {
		return nil, nil, ""
	}
	tokens, err := regularfile.Read(j.catalogue, mostLearnt)
	if err == nil {
		mat, err = regularfile.Read(j.emptyMat, mostLearnt)
	}
	switch {
	case err != nil:
		j.log.Warn("rulings", "err", err)
		return nil, nil, "the obstacles by which it was measured can no longer be read"
	case h.Learnt != (live.Learnt{}) && (versionOf(tokens) != h.Learnt.Catalogue || versionOf(mat) != h.Learnt.EmptyMat):
		return nil, nil, "obstacles were learnt again since it was held"
	}
	return tokens, mat, ""
}

const cardsChanged = "the cards of its ships were changed since it was held"

// changedCards reports whether the cards by which ships were found have changed since a picture was held.
func (j *judges) changedCards(h *live.Held) bool {
	return h.Learnt != (live.Learnt{}) && enrol.StampOf(j.looks) != h.Learnt.Looks
}

// looksOf returns the looks with which ships of the held picture were found, or nil.
func (j *judges) looksOf(h *live.Held) ([]byte, error) {
	var names []string
	for _, s := range h.Scene().Ships {
		if s.Look != "" {
			names = append(names, s.Look)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if j.changedCards(h) {
		return nil, errors.New(cardsChanged)
	}
	all, err := look.Load(j.looks)
	if err != nil {
		return nil, err
	}
	used := all.Only(names)
	if len(used.Looks) == 0 {
		return nil, &fs.PathError{Op: "look", Path: j.looks, Err: fs.ErrNotExist}
	}
	return used.Encode()
}

// viewOf returns an entry for the page's list.
func viewOf(e *rulings.Entry) live.Ruling {
	v := live.Ruling{
		Number: uint64(e.Number), At: e.At, From: e.From, To: e.To, Title: e.Title, Decision: live.Decision(e.Decision), Reason: e.Reason,
		Question: e.Question, AskedBy: e.AskedBy, Judge: e.Judge, EntryHash: e.Hash, Program: e.Program,
	}
	v.Measured, v.PictureDifference, _ = strings.Cut(e.Answer, aloneMark)
	if v.PictureDifference == aloneSame {
		v.PictureGivesSame, v.PictureDifference = true, ""
	}
	if arc, err := engine.ParseArc(e.Arc); err == nil {
		v.Arc = arc
	}
	if e.Damage != "" {
		v.Title = "Cannot be trusted: " + e.Damage
	}
	if v.Text = live.RulingText(&v); e.Damage == "" && e.Text != "" { // with the pilots of its game
		v.Text = strings.TrimSpace(e.Text + " " + reasonText(e.Reason))
	}
	return v
}

func reasonText(reason string) string {
	if reason == "" {
		return ""
	}
	return "Reason: " + reason
}

// List implements web.Rulings.
func (j *judges) List(before uint64, limit int) ([]live.Ruling, error) {
	log, err := j.record()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	var entries []rulings.Entry
	if before == 0 {
		entries, err = log.Last(ctx, limit)
	} else if before > 1 {
		from := max(1, int64(before)-int64(limit))
		entries, err = log.Entries(ctx, from, int(int64(before)-from))
		for a, b := 0, len(entries)-1; a < b; a, b = a+1, b-1 {
			entries[a], entries[b] = entries[b], entries[a]
		}
	}
	if err != nil {
		return nil, j.problem(err)
	}
	var out []live.Ruling
	for i := range entries {
		out = append(out, viewOf(&entries[i]))
	}
	return out, nil
}

// find returns an entry, and the log that has it.
func (j *judges) find(n uint64) (*rulings.Log, rulings.Entry, error) {
	log, err := j.record()
	if err != nil {
		return nil, rulings.Entry{}, err
	}
	e, err := log.Entry(context.Background(), int64(n))
	if err != nil {
		return nil, e, j.problem(err)
	}
	return log, e, nil
}

// Entry implements web.Rulings.
func (j *judges) Entry(n uint64) ([]byte, error) {
	_, e, err := j.find(n)
	if err != nil {
		return nil, err
	}
	return e.Canonical(), nil
}

// Picture implements web.Rulings, with the colour picture if there is one.
func (j *judges) Picture(n uint64) ([]byte, string, error) {
	log, e, err := j.find(n)
	if err != nil {
		return nil, "", err
	}
	ref, ok := e.File(rulings.RoleColor)
	if !ok {
		ref, ok = e.File(rulings.RoleFrame)
	}
	if !ok {
		return nil, "", fmt.Errorf("%w: the entry has no picture", live.ErrNoRuling)
	}
	data, err := log.File(context.Background(), ref)
	if err != nil {
		return nil, "", j.problem(err)
	}
	return data, ref.Type, nil
}

// Export implements web.Rulings.
func (j *judges) Export(w io.Writer, n uint64) error {
	log, err := j.record()
	if err == nil {
		if err = log.ExportHTML(context.Background(), w, int64(n)); err != nil {
			err = j.problem(err)
		}
	}
	return err
}

// ExportAll implements web.Rulings.
func (j *judges) ExportAll(w io.Writer) error {
	log, err := j.record()
	if err == nil {
		if err = log.ExportZip(context.Background(), w); err != nil {
			err = j.problem(err)
		}
	}
	return err
}
