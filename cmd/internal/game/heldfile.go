package game

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/kept"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/token"
)

// What is held is kept in two files of the data directory, so that a crash or a power cut does not lose a picture that a judge is to see.
// heldFile describes it: all that was measured, the game and the chosen pair. It names its picture, whose file is named by its content.
// The description is replaced whole and removed in the moment of the release.
const (
	heldFile    = "held.gob"
	pictureFile = "held-*.pixels" // * is a part of the hash
	heldEvery   = 200 * time.Millisecond
	heldAgain   = 5 * time.Second  // after a failure
	heldRenew   = 10 * time.Minute // its time is written anew when the clock has gone on, or was set, by so much
	heldMost    = 16 << 20
	pixelsMost  = 256 << 20 // a picture has at most 32 million pixels, of four bytes
)

// keptHeld is what the files have. Only keepHeld writes pictures; mu guards the fields, as it does the game's.
type keptHeld struct {
	picture *image.Gray // nil: none
	hash    string      // of its file
	shown   *shown      // as described; nil: there is no description
	choice  live.Choice
	ruling  *live.Ruling
	at      time.Time // when that was written, by the clock that people set
	told    bool      // that it failed
	again   time.Time // nothing is tried before: it failed
}

// heldDocument is the description.
type heldDocument struct {
	Held          live.Held // without the pictures and the table, which Register.File gives
	Picture       string    // the SHA-256 of the picture's file
	Width, Height int
	Color         bool
	Written       kept.Stamp
	Choice        live.Choice
	Ruling        *live.Ruling  // the one on this picture; nil: none
	ReleasedAt    time.Time     // of a released picture; zero: it is held
	ReleasedFor   time.Duration // before this was written
	ReleasedBy    string
	Unskilled     []string // ships of the game whose initiative is 0, which gob takes for none
}

// heldEnvelope is the content of the file. A program of another version does not read Document: it may mean something else there.
type heldEnvelope struct {
	Program, Types string
	Document       []byte
	Hash           string // of Document
}

// typesOf names all types of which a value consists, with their fields.
func typesOf(t reflect.Type, seen map[reflect.Type]bool, out *strings.Builder) {
	if seen[t] {
		return
	}
	seen[t] = true
	fmt.Fprintln(out, t.String(), t.Kind())
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		typesOf(t.Elem(), seen, out)
	case reflect.Map:
		typesOf(t.Key(), seen, out)
		typesOf(t.Elem(), seen, out)
	case reflect.Struct:
		for i := range t.NumField() {
			fmt.Fprintln(out, t.Field(i).Name, t.Field(i).Type)
			typesOf(t.Field(i).Type, seen, out)
		}
	}
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func heldTypes() string {
	var out strings.Builder
	typesOf(reflect.TypeFor[heldDocument](), map[reflect.Type]bool{}, &out)
	return hashOf([]byte(out.String()))
}

// describedHeld returns the description of a picture whose file has a hash.
func describedHeld(h *live.Held, picture string, written kept.Stamp) heldDocument {
	w, ht := h.Frame.Size()
	return heldDocument{Held: *h, Picture: picture, Width: w, Height: ht, Color: h.Frame.Color != nil, Written: written}
}

// encodeHeld returns the content of the file.
func encodeHeld(d heldDocument, program string) ([]byte, error) {
	d.Held.Frame.Gray, d.Held.Frame.Color, d.Held.Table = nil, nil, calibration.Table{}
	if d.Held.Play != nil {
		for _, s := range d.Held.Play.Ships {
			if s.Initiative != nil && *s.Initiative == 0 {
				d.Unskilled = append(d.Unskilled, s.ID)
			}
		}
	}
	var raw, out bytes.Buffer
	if err := gob.NewEncoder(&raw).Encode(d); err != nil {
		return nil, err
	}
	err := gob.NewEncoder(&out).Encode(heldEnvelope{program, heldTypes(), raw.Bytes(), hashOf(raw.Bytes())})
	return out.Bytes(), err
}

// errOtherProgram refuses what another version kept.
var errOtherProgram = errors.New("another version of the program kept it")

// decodeHeld reads the content of the file. The document lacks the pictures.
func decodeHeld(raw []byte, program string) (d heldDocument, err error) {
	var e heldEnvelope
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&e); err != nil {
		return d, fmt.Errorf("it is damaged: %w", err)
	}
	switch {
	case hashOf(e.Document) != e.Hash:
		return d, errors.New("it is damaged")
	case e.Program != program || e.Types != heldTypes():
		return d, errOtherProgram
	}
	if err := gob.NewDecoder(bytes.NewReader(e.Document)).Decode(&d); err != nil {
		return d, fmt.Errorf("it is damaged: %w", err)
	}
	for _, id := range d.Unskilled {
		if s := d.Held.Play.Ship(id); s != nil {
			s.Initiative = new(int)
		}
	}
	if d.Held.Table, err = calibration.ParseTableFile(d.Held.Register.File); err != nil {
		return d, fmt.Errorf("its calibration: %w", err)
	}
	return d, measureAgain(&d.Held)
}

// measureAgain gives a held picture the parts of its result that a file does not have. It fails if the result is not the same. A picture
// that was held before it was measured, right after the edition was changed, has no result and gets none.
func measureAgain(h *live.Held) error {
	if reflect.DeepEqual(h.Result, engine.Result{}) {
		return nil
	}
	scene := h.Scene()
	again, err := engine.Measure(&scene, h.Touch.Options(&scene, h.Sigmas))
	if err != nil {
		return fmt.Errorf("it cannot be measured again: %w", err)
	}
	same, err := throughGob(again)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(same, h.Result) {
		return errors.New("measured again it gives another answer")
	}
	h.Result = again
	return nil
}

// throughGob returns a result as it comes out of a file.
func throughGob(r engine.Result) (out engine.Result, err error) {
	var raw bytes.Buffer
	if err = gob.NewEncoder(&raw).Encode(r); err == nil {
		err = gob.NewDecoder(&raw).Decode(&out)
	}
	return out, err
}

// pixelsOf returns the content of a picture's file: the grey picture and, behind it, the one in colour.
func pixelsOf(f vision.Frame) []byte {
	w, h := f.Size()
	out := make([]byte, 0, w*h+3*w*h)
	for y := range h {
		at := f.Gray.PixOffset(f.Gray.Rect.Min.X, f.Gray.Rect.Min.Y+y)
		out = append(out, f.Gray.Pix[at:at+w]...)
	}
	if f.Color != nil {
		out = append(out, f.Color.Pix...)
	}
	return out
}

// readPixels gives the frame the pictures of a file.
func (d *heldDocument) readPixels(path string) error {
	raw, err := regularfile.Read(path, pixelsMost)
	if err != nil {
		return fmt.Errorf("its picture: %w", err)
	}
	gray, want := d.Width*d.Height, d.Width*d.Height
	if d.Color {
		want += 3 * gray
	}
	if d.Width < 1 || d.Height < 1 || len(raw) != want || hashOf(raw) != d.Picture {
		return errors.New("its picture is damaged")
	}
	d.Held.Frame.Gray = &image.Gray{Pix: raw[:gray:gray], Stride: d.Width, Rect: image.Rect(0, 0, d.Width, d.Height)}
	if d.Color {
		d.Held.Frame.Color = &vision.BGR{Pix: raw[gray:], Width: d.Width, Height: d.Height}
	}
	return nil
}

// pictureName returns the name of a picture's file.
func pictureName(hash string) string {
	return strings.Replace(pictureFile, "*", hash[:min(len(hash), 16)], 1)
}

// keepHeld keeps what is held in the files until ctx is cancelled.
func (g *Game) keepHeld(ctx context.Context) {
	ticker := time.NewTicker(heldEvery)
	defer ticker.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-ticker.C:
		}
		g.storeHeld()
		g.storeReleased()
	}
}

// storeHeld brings the files up to date.
func (g *Game) storeHeld() {
	g.mu.Lock()
	var frame vision.Frame
	if g.held != nil && g.held.hold != nil {
		frame = g.held.Frame
	}
	known := frame.Gray != nil && g.kept.picture == frame.Gray
	idle := frame.Gray == nil && g.kept.picture == nil && g.kept.shown == nil || g.o.Now().Before(g.kept.again)
	g.mu.Unlock()
	if idle {
		return
	}
	var hash string
	var err error
	if frame.Gray != nil && !known { // it takes a while, and the table goes on meanwhile
		raw := pixelsOf(frame)
		hash = hashOf(raw)
		err = atomicfile.Write(g.file(pictureName(hash)), raw, 0o600)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !known {
		g.kept.picture, g.kept.hash = nil, ""
		if err == nil && frame.Gray != nil {
			g.kept.picture, g.kept.hash = frame.Gray, hash
		}
	}
	switch {
	case err != nil:
		g.unkept(err)
	case g.held == nil:
		g.dropHeld() // if that failed when it was released
	default:
		g.describeHeld()
	}
	g.removePictures()
}

// describeHeld writes the description if what is held has changed and its picture is there. The caller holds mu.
func (g *Game) describeHeld() {
	if g.held == nil || g.held.hold == nil || g.kept.picture == nil || g.kept.picture != g.held.Frame.Gray {
		return
	}
	ruling := g.ruling
	if ruling != nil && ruling.Held != g.held.hold.Number {
		ruling = nil
	}
	now := g.o.Now().Round(0)
	if g.kept.shown == g.held && g.kept.choice == g.choice && g.kept.ruling == ruling && now.Sub(g.kept.at).Abs() < heldRenew {
		return
	}
	h := g.held.hold
	d := describedHeld(h, g.kept.hash, g.o.Clock.Stamp(now))
	d.Choice, d.Ruling = g.choice, ruling
	raw, err := encodeHeld(d, g.o.Version)
	if err == nil {
		err = atomicfile.Write(g.file(heldFile), raw, 0o600)
	}
	if err != nil {
		g.unkept(err)
		return
	}
	g.kept.shown, g.kept.choice, g.kept.ruling, g.kept.at, g.kept.told = g.held, g.choice, ruling, now, false
}

// unkept says that what is held is not kept. The caller holds mu.
func (g *Game) unkept(err error) {
	g.dropHeld() // what is there is of another moment
	if !g.kept.told {
		g.o.Log.Warn("the held picture is not kept for a restart", "err", err)
		g.note(heldUnsaved)
	}
	g.kept.told, g.kept.again = true, g.o.Now().Add(heldAgain)
}

// dropHeld removes the description, without which the picture counts for nothing. The caller holds mu.
func (g *Game) dropHeld() {
	if g.o.Dir == "" || g.kept.shown == nil {
		return
	}
	err := os.Remove(g.file(heldFile))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		g.kept.shown = nil
		err = atomicfile.OS{}.SyncDir(g.o.Dir)
	}
	if err == nil {
		return
	}
	if !g.kept.told {
		g.o.Log.Warn("what was held may be held again after a restart", "err", err)
	}
	g.kept.told, g.kept.again = true, g.o.Now().Add(heldAgain)
}

// removePictures removes the files of pictures that are not held, and what killed writes left of them: no other program writes these.
// The caller holds mu.
func (g *Game) removePictures() {
	g.removeFiles(pictureFile, func(name string) bool { return g.kept.hash != "" && name == pictureName(g.kept.hash) })
}

// removeFiles removes the files of a pattern that are not to be kept, and what killed writes left of such files.
func (g *Game) removeFiles(pattern string, keep func(name string) bool) {
	paths, _ := filepath.Glob(g.file(pattern))
	left, _ := filepath.Glob(g.file(atomicfile.Temporary(pattern) + "*"))
	for _, path := range append(paths, left...) {
		if !keep(filepath.Base(path)) {
			_ = os.Remove(path)
		}
	}
}

// readHeld returns what was held when the program ended; nil: nothing was. The document has its pictures.
func (g *Game) readHeld() (*heldDocument, error) {
	raw, err := regularfile.Read(g.file(heldFile), heldMost)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := decodeHeld(raw, g.o.Version)
	if err != nil {
		return nil, err
	}
	return &d, d.readPixels(g.file(pictureName(d.Picture)))
}

// resumeHeld holds again what was held when the program ended, unless that was long ago as far as the machine's clock tells.
func (g *Game) resumeHeld() {
	d, err := g.readHeld()
	if err == nil && d != nil {
		if age, known := g.o.Clock.Since(d.Written, g.o.Now()); known && age > agreementFor {
			err = fmt.Errorf("it was held on %s", d.Held.At.Local().Format("2006-01-02 at 15:04"))
		}
	}
	if err != nil {
		g.o.Log.Warn("what was held before the restart is not held again", "err", err)
		g.kept.shown = &shown{} // there is a file
		g.dropHeld()
	}
	if err != nil || d == nil {
		g.removePictures()
		return
	}
	h := &d.Held
	g.held = heldAsShown(h)
	g.holds, g.ruling = h.Number, d.Ruling
	if g.ruling != nil && g.ruling.At.After(g.o.Now()) {
		g.ruling.Undated = true
	}
	g.choice, g.numbered = d.Choice, map[string]engine.Ship{}
	for _, id := range []string{g.choice.From, g.choice.To} {
		if token.Unidentified(id) { // another base may have its number now
			k, _ := vision.Tracked{Tracks: h.Tracks}.Track(id)
			g.numbered[id] = k.Ship
		}
	}
	g.kept = keptHeld{picture: h.Frame.Gray, hash: d.Picture, shown: g.held, choice: g.choice, ruling: g.ruling, at: d.Written.At}
	g.note(heldAgainText(h))
}

// heldAsShown returns what is shown while a picture of a file is held.
func heldAsShown(h *live.Held) *shown {
	seen := Seen{Frame: h.Frame, Region: h.Region, Register: h.Register, Mat: h.Table.Layout, Located: h.Located, Tracks: h.Tracks,
		Result: h.Result}
	return &shown{Seen: seen, hold: h}
}
