package tablesim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// Options are those of the source "sim:".
type Options struct {
	Width, Height int     // of the pictures; 0: 1920×1080
	Seed          uint64  // of the mat, the miniatures and the noise
	FPS           float64 // frames per second; 0: as fast as possible, with 5 frames to a second of the game
	Workers       int     // goroutines to render with; 0: one for each processor

	// Board, if set, is held before the camera by scripted hands (BoardStops), one stop after the
	// other and then away for a while, repeatedly.
	Board *calibration.Board

	// Card lays the check card on the table instead of the ships, at CardPlaces in turn, for calibrate
	// verify.
	Card bool

	// Paper, if positive, shows instead of the game how obstacle tokens are taught: the empty mat, the
	// tokens on sheets of white paper, and the tokens on the mat, each for this long, repeatedly.
	Paper time.Duration

	// Jig, if positive, shows instead of the game how stock ships are taught: bases with stock cards
	// on the jig sheet, in four quarter turns, each for this long, repeatedly.
	Jig time.Duration

	Nudge *Nudge         // a push of the camera; nil: none
	Tilt  *[2]geom.Angle // about the picture's x and y axes, as ObliqueCamera's; nil: the camera hangs over the table
	Huge  int            // number of huge ships, among others that stand still, instead of the game; 0: the game
	Pause time.Duration  // how long the table rests before each move; 0: 4.2 s
	Still bool           // the ships stay as at the game's beginning, and there are no hands
	Small bool           // a game with four ships on a mat of 420 mm: much quicker at the same scale
	Model *CameraModel   // the camera model; nil: a plain camera, which saturates at full scale
	Mat   MatStyle       // the mat's print

	// Unlearnt makes a program that opens this source learn the empty mat and the obstacles from its
	// user, instead of taking them from Bare and Obstacles.
	Unlearnt bool

	// Projector hangs over the mat and projects the picture last given to Source.Project or, for a
	// source opened by name, the one in its file; nil: there is none.
	Projector *Projector

	rest   string // the options of a source opened by name that String does not write itself, each after a comma
	thrown string // the file of the projector's picture; "": it comes by Project

	// Now and Sleep are the clock; nil: the real one. Sleep returns ctx.Err() when
	// the context ends first.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// DefaultFPS is the frame rate of a source opened by name, DefaultPause how long its table rests
// before each move: a slow machine needs seconds to search for obstacles again.
const (
	DefaultFPS   = 5
	DefaultPause = 10 * time.Second
)

// mostHuge is how many huge ships fit on a mat among others.
const mostHuge = 4

// maxPixels limits the picture: 64 MB for each of its parts.
const maxPixels = 8192 * 8192 / 2

// specFields are the forms of what may follow "sim:", for errors.
var specFields = []string{"WIDTHxHEIGHT", "seed=N", "fps=F", "board=BOARD", "card=1", "paper=SECONDS", "jig=SECONDS",
	"nudge=SECONDS:DEGREES", "tilt=X:Y", "huge=N", "pause=SECONDS", "still=1", "learnt=0", "projector=FILE", "mat=NAME", "camera=NAME",
	"gain=F", "quality=N", "tone=F"}

// ParseSpec reads a source's name: "sim:", followed by any of these, with commas between them.
//
//   - 1280x720: the size of the pictures
//   - seed=7, fps=10
//   - board=chessboard:9x6:25mm: a board that is held before the camera
//   - nudge=20:0.05: the camera is pushed after 20 seconds, by 0.05 degrees
//   - card=1: the check card in place of the game
//   - tilt=35:0: a camera that looks from player 1's edge, as ObliqueCamera's, in degrees
//   - paper, paper=60: tokens on white paper in place of the game, 60 seconds for each stage
//   - jig, jig=6: ships' cards on the jig sheet in place of the game, 6 seconds for each turn
//   - huge=2: huge ships among others that stand still, in place of the game
//   - pause=4: seconds for which the table rests before each move
//   - still=1: ships that stand still
//   - learnt=0: a table whose empty mat and obstacles must be learnt
//   - projector=shown.png: a projector over the mat and its picture, which is read again whenever the file changes
//   - camera=webcam: a camera model, one of CameraNames
//   - gain=1.5, quality=60, tone=0.3: a factor of its exposure, its JPEG quality and local tone mapping, after the camera
//   - mat=wood: the mat's print, one of MatNames
func ParseSpec(spec string) (Options, error) {
	o := Options{Width: 1920, Height: 1080, FPS: DefaultFPS, Pause: DefaultPause}
	rest, ok := strings.CutPrefix(spec, "sim:")
	if !ok {
		return o, fmt.Errorf("source %q: expected sim:[%s]", spec, strings.Join(specFields, "][,"))
	}
	for field := range strings.SplitSeq(rest, ",") {
		if field == "" {
			continue
		}
		if err := o.set(field); err != nil {
			return o, fmt.Errorf("source %q: %w", spec, err)
		}
		switch key, _, has := strings.Cut(field, "="); {
		case key == "seed", key == "mat", key[0] >= '0' && key[0] <= '9' && !has: // of the size
		default:
			o.rest += "," + field
		}
	}
	return o, o.validate()
}

func (o *Options) set(field string) (err error) {
	key, value, _ := strings.Cut(field, "=")
	switch key {
	case "seed":
		if o.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("seed: expected a whole number, got %q", value)
		}
	case "fps":
		if o.FPS, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("fps: expected a number, got %q", value)
		}
	case "board":
		b, err := calibration.ParseBoard(value)
		if err != nil {
			return err
		}
		o.Board = &b
	case "pause":
		o.Pause, err = parseStay(key, value)
		return err
	case "card", "still", "learnt":
		return o.setSwitch(key, value)
	case "paper":
		o.Paper, err = parsePaper(value)
		return err
	case "jig":
		o.Jig, err = parseJig(value)
		return err
	case "huge":
		if o.Huge, err = strconv.Atoi(value); err != nil || o.Huge < 1 || o.Huge > mostHuge {
			return fmt.Errorf("huge: expected 1 to %d ships, got %q", mostHuge, value)
		}
	case "camera", "gain", "quality", "tone":
		return o.setModel(key, value)
	case "mat":
		o.Mat, err = MatNamed(value)
		return err
	case "nudge":
		n, err := ParseNudge(value)
		if err != nil {
			return err
		}
		o.Nudge = &n
	case "projector":
		return o.setProjector(value)
	case "tilt":
		tilt, err := parseTilt(value)
		if err != nil {
			return err
		}
		o.Tilt = &tilt
	default:
		return o.setSize(field)
	}
	return nil
}

// setModel sets or changes the camera model.
func (o *Options) setModel(key, value string) error {
	if key == "camera" {
		m, err := CameraNamed(value)
		if err == nil {
			o.Model = &m
		}
		return err
	}
	v, err := strconv.ParseFloat(value, 64)
	says := map[string]string{
		"gain": "a factor of 0 to 8", "quality": "a JPEG quality of 1 to 100", "tone": "a strength of 0 to 1",
	}[key]
	if err != nil || o.Model == nil {
		return fmt.Errorf("%s: expected %s after camera=NAME, got %q", key, says, value)
	}
	m, ok := *o.Model, false
	switch key {
	case "gain":
		m, ok = m.exposed(v), v > 0 && v <= 8
	case "quality":
		m.Quality, ok = int(v), v >= 1 && v <= 100 && v == math.Trunc(v)
	case "tone":
		m.LocalTone, ok = v, v >= 0 && v <= 1
		if m.LocalWide == 0 {
			m.LocalWide = localWide
		}
	}
	if !ok {
		return fmt.Errorf("%s: expected %s after camera=NAME, got %q", key, says, value)
	}
	o.Model = &m
	return nil
}

// setProjector sets the name of the file that a projector shows.
func (o *Options) setProjector(value string) error {
	if value == "" {
		return errors.New("projector: expected the name of a PNG file")
	}
	p := DefaultProjector(calibration.MatSide)
	o.Projector, o.thrown = &p, value
	return nil
}

// setSwitch parses an option that is on or off.
func (o *Options) setSwitch(key, value string) error {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%s: expected 1 or 0, got %q", key, value)
	}
	switch key {
	case "card":
		o.Card = on
	case "still":
		o.Still = on
	case "learnt":
		o.Unlearnt = !on
	}
	return nil
}

// parseTilt parses the degrees of the camera's tilt about x and y, as in 35:0.
func parseTilt(value string) ([2]geom.Angle, error) {
	x, y, _ := strings.Cut(value, ":")
	tiltX, errX := strconv.ParseFloat(x, 64)
	tiltY, errY := strconv.ParseFloat(y, 64)
	if errX != nil || errY != nil {
		return [2]geom.Angle{}, fmt.Errorf("tilt: expected two numbers of degrees as in 35:0, got %q", value)
	}
	return [2]geom.Angle{geom.Angle(tiltX) * geom.Degree, geom.Angle(tiltY) * geom.Degree}, nil
}

// setSize parses the picture's width and height, as in 1920x1080: the one option without a name.
func (o *Options) setSize(field string) error {
	w, h, _ := strings.Cut(field, "x")
	var errW, errH error
	o.Width, errW = strconv.Atoi(w)
	o.Height, errH = strconv.Atoi(h)
	if errW != nil || errH != nil {
		last := len(specFields) - 1
		return fmt.Errorf("%q: expected %s or %s", field, strings.Join(specFields[:last], ", "), specFields[last])
	}
	return nil
}

func (o Options) validate() error {
	switch {
	case o.Width < 16 || o.Height < 16 || o.Width > maxPixels/o.Height:
		return fmt.Errorf("source sim: size: expected 16x16 or more and at most %d pixels, got %dx%d", maxPixels, o.Width, o.Height)
	case !(o.FPS >= 0 && o.FPS <= 1000):
		return fmt.Errorf("source sim: fps: expected 0…1000, got %v", o.FPS)
	}
	if o.Model != nil {
		if err := o.Model.validate(); err != nil {
			return fmt.Errorf("source sim: %w", err)
		}
	}
	if o.Tilt != nil {
		mat := calibration.DefaultLayout(o.game().side, o.game().side)
		if _, ok := oblique(o.overhead().Intrinsics, mat, o.Tilt[0], o.Tilt[1]); !ok {
			return fmt.Errorf("source sim: tilt: no place from there shows the whole mat, got %.0f° and %.0f°", o.Tilt[0].Degrees(),
				o.Tilt[1].Degrees())
		}
	}
	return nil
}

// Source plays the scripted game, repeatedly. It knows its own lens and the truth of every frame.
type Source struct {
	o        Options
	table    *Table // scene and hands are those of the last frame; Next owns it
	renderer *renderer
	seq      uint64
	due      time.Time // of the next frame
	hands    atomic.Pointer[hands]
	laid     atomic.Pointer[[]LaidStrip]
	paper    atomic.Pointer[PaperStage]
	turn     atomic.Pointer[int64]      // of ShowTurn
	screen   atomic.Pointer[image.RGBA] // of the projector
	thrown   time.Time                  // when its file was last changed
	beside   []Clutter                  // that lies next to the mat
	still    *engine.Scene              // that stands in place of the game; nil: the game continues

	light  float64                      // factor of what there is, through a camera model
	knobs  *exposureKnobs               // of a camera model; nil: none
	change atomic.Pointer[func(*Table)] // of Disturb, to be applied
	shown  *Table                       // the table once it was disturbed; nil: table
	nudged bool
	stage  func(*Table) // of Arrange; nil: none
	bared  uint64       // pictures taken by Bare

	life context.Context // ends with Close
	end  context.CancelFunc
}

var _ vision.Source = (*Source)(nil)

// Open starts the simulated table.
func Open(o Options) (*Source, error) {
	if o.Width == 0 && o.Height == 0 {
		o.Width, o.Height = 1920, 1080
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Pause == 0 {
		o.Pause = beatStill
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	t := scriptTable(o)
	r, err := newRenderer(t)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	source := &Source{o: o, table: t, renderer: r, beside: t.Clutter, light: 1, life: life, end: end}
	if o.Model != nil {
		source.knobs = newExposureKnobs()
	}
	if o.Huge > 0 {
		still := t.Scene
		source.still = &still
	}
	return source, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Next implements vision.Source. It waits until the next frame is due.
func (s *Source) Next(ctx context.Context) (vision.Frame, error) {
	if err := s.wait(ctx); err != nil {
		return vision.Frame{}, err
	}
	s.seq++
	if err := s.disturb(); err != nil {
		return vision.Frame{}, err
	}
	t := cmp.Or(s.shown, s.table)
	t.Scene, t.Hands = s.sceneAt(s.seq)
	s.layCard(t, s.seq)
	s.layPaper(t, s.seq)
	s.layJig(t, s.seq)
	t.Projector = s.projected()
	if s.stage != nil {
		s.stage(t)
	}
	if err := s.holdBoard(t, s.seq); err != nil {
		return vision.Frame{}, err
	}
	if err := s.renderer.update(t); err != nil {
		return vision.Frame{}, err
	}
	f, err := s.renderer.take(s.seq, s.exposed())
	f.Captured = s.o.Now()
	return f, err
}

// exposed returns the factor of the light by the camera's controls.
func (s *Source) exposed() float64 {
	if s.knobs == nil {
		return s.light
	}
	return s.light * s.knobs.shown()
}

// sceneAt returns the ships of a frame and the hands over them.
func (s *Source) sceneAt(seq uint64) (engine.Scene, []Hand) {
	switch {
	case s.still == nil && s.o.Still:
		return s.o.game().at(0, s.o.Pause)
	case s.still == nil:
		return s.o.game().at(s.timeOf(seq), s.o.Pause)
	}
	scene := *s.still
	scene.Ships = slices.Clone(scene.Ships)
	return scene, nil
}

// Demonstrates reports whether the table shows the game, so that a program may know the empty mat
// and the obstacles beforehand (Bare, Obstacles): nothing else is to be taught or held before the
// camera.
func (o Options) Demonstrates() bool {
	return !o.Unlearnt && !o.Card && o.Paper <= 0 && o.Jig <= 0 && o.Huge == 0 && o.Board == nil
}

// Bare takes a picture of the empty mat and what lies next to it. It must not run at the same time
// as Next, and does not count as a frame.
func (s *Source) Bare() (vision.Frame, error) {
	t := *s.table
	t.Scene.Ships, t.Scene.Obstacles, t.Hands, t.Projector = nil, nil, nil, nil
	if err := s.renderer.update(&t); err != nil {
		return vision.Frame{}, err
	}
	s.bared++
	return s.renderer.take(math.MaxUint64-s.bared, s.exposed())
}

// Obstacles returns the obstacles of the game, as they lie.
func (s *Source) Obstacles() []engine.Obstacle { return slices.Clone(s.o.game().rocks) }

// hands is the argument of the last Hold: a board, or nil.
type hands struct{ board *HeldBoard }

// Hold holds a board before the camera instead of the scripted one, from the next frame on; nil
// removes it. It is safe to call while Next runs.
func (s *Source) Hold(b *HeldBoard) {
	if b != nil {
		own := *b
		b = &own
	}
	s.hands.Store(&hands{b})
}

// Light multiplies the light of the room, as a camera model records it, from the next frame on. It
// belongs to the goroutine of Next.
func (s *Source) Light(factor float64) { s.light = factor }

// Arrange calls change with the table before each frame, after the script has set its ships and hands:
// change may set other ones. It belongs to the goroutine of Next. TruthAt knows nothing of it.
func (s *Source) Arrange(change func(*Table)) { s.stage = change }

// Seek makes the next frame the one after the given number. It belongs to the goroutine of Next.
func (s *Source) Seek(seq uint64) { s.seq = seq }

// Lay lays the strips of a check card on the mat from the next frame on, without ships, rocks and
// hands; without strips the game continues. It is safe to call while Next runs.
func (s *Source) Lay(strips ...LaidStrip) {
	own := append([]LaidStrip(nil), strips...)
	s.laid.Store(&own)
}

// layCard adds to the table the strips given to Lay, or those of the script in a frame of a source
// with a card.
func (s *Source) layCard(t *Table, seq uint64) {
	t.Strips = nil
	if strips := s.laid.Load(); strips != nil {
		t.Strips = *strips
	} else if s.o.Card {
		t.Strips = cardAt(s.timeOf(seq))
	}
	if s.o.Card || len(t.Strips) > 0 {
		t.Scene.Ships, t.Scene.Obstacles, t.Hands = nil, nil, nil
	}
}

// holdBoard adds to the table the board of a frame: the one of Hold, or the script's.
func (s *Source) holdBoard(t *Table, seq uint64) error {
	if h := s.hands.Load(); h != nil {
		t.Board = h.board
		return nil
	}
	t.Board = nil
	if s.o.Board == nil {
		return nil
	}
	grip, ok := gripAt(s.timeOf(seq))
	if !ok {
		return nil
	}
	b, err := grip.Hold(t.Camera.Intrinsics, *s.o.Board)
	t.Board = &b
	return err
}

// wait keeps the frame rate. A source that is late does not catch up.
func (s *Source) wait(ctx context.Context) error {
	if s.o.FPS > 0 {
		now := s.o.Now()
		if d := s.due.Sub(now); s.seq > 0 && d > 0 {
			if err := s.pause(ctx, d); err != nil {
				return err
			}
			now = s.due
		}
		s.due = now.Add(time.Duration(float64(time.Second) / s.o.FPS))
	}
	if s.life.Err() != nil {
		return s.errClosed()
	}
	return ctx.Err()
}

// pause sleeps until the context ends or the source is closed.
func (s *Source) pause(ctx context.Context, d time.Duration) error {
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	err := s.o.Sleep(both, d)
	if err != nil && s.life.Err() != nil {
		return s.errClosed()
	}
	return err
}

func (s *Source) errClosed() error { return fmt.Errorf("source %s: %w", s, fs.ErrClosed) }

// timeOf returns the time of the game that a frame shows.
func (s *Source) timeOf(seq uint64) time.Duration {
	fps := s.o.FPS
	if fps == 0 {
		fps = DefaultFPS
	}
	return time.Duration(float64(seq-1) / fps * float64(time.Second))
}

// Close implements vision.Source. A waiting Next returns an error that wraps
// fs.ErrClosed, and so does every later one.
func (s *Source) Close() error {
	s.end()
	return nil
}

// String implements vision.Source.
func (s *Source) String() string {
	name := fmt.Sprintf("sim:%dx%d,seed=%d", s.o.Width, s.o.Height, s.o.Seed)
	if s.o.Mat != MatStars {
		name += ",mat=" + s.o.Mat.String()
	}
	return name + s.o.rest
}

// Lens returns the simulated camera's lens, with which a program can start without a calibration.
func (s *Source) Lens() calibration.Intrinsics { return s.table.Camera.Intrinsics }

// Camera returns the true camera.
func (s *Source) Camera() calibration.Camera { return s.table.Camera }

// Layout returns the true mat and markers.
func (s *Source) Layout() calibration.Layout { return s.table.Layout }

// TruthAt returns the truth about the frame with this number; frames count from 1. It is safe to
// call while Next runs. It treats objects from Hold and Lay as present in every frame.
func (s *Source) TruthAt(seq uint64) (Truth, error) {
	if seq == 0 {
		return Truth{}, fmt.Errorf("source %s: frames count from 1", s)
	}
	t := Table{
		Camera: s.table.Camera, Layout: s.table.Layout, Look: s.table.Look,
		Minis: s.table.Minis, Clutter: s.table.Clutter, Seed: s.table.Seed,
	}
	t.Scene, t.Hands = s.sceneAt(seq)
	s.layCard(&t, seq)
	s.layPaper(&t, seq)
	s.layJig(&t, seq)
	if err := s.holdBoard(&t, seq); err != nil {
		return Truth{}, err
	}
	solids, err := solidsOf(&t, &t.Look)
	if err != nil {
		return Truth{}, err
	}
	return witness{s.renderer.lens, solids}.truth(&t), nil
}
