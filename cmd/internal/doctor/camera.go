package doctor

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/verify"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/exposure"
	"sightline/vision/fiducial"
)

// The requirements for a camera.
const (
	cameraWithin = 15 * time.Second // to give its pictures
	cameraTakes  = 20               // pictures taken to measure the frame rate
	slowFPS      = 5.0              // below, answers come too late
	fewPixels    = 1280             // of the width; below, a token's cells are too small (docs/accuracy.md)
	softEdge     = 4.0              // px: the widest edge, from black to white
	burnt        = 250              // grey level from which white is clipped
	dimWhite     = 70               // grey levels from black to white of a print; below, noise shows
)

func (e *examination) camera(ctx context.Context) {
	source := e.setup.Source
	if source == "" {
		e.add("camera", Wrong, "No camera is chosen yet.", "sightline run, and choose one on its page /first; or set camera.source")
		return
	}
	if cameraDevice(source) && e.serviceRuns(ctx) {
		e.add("camera", Skipped, "The service is using it.", stopService)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cameraWithin)
	defer cancel()
	s, err := e.box.Camera(ctx)
	if err != nil {
		e.add("camera", Wrong, fmt.Sprintf("It cannot be opened: %v.", err),
			adviceFor(err, "check that it is plugged in and that camera.source names it (docs/configuration.md, Sources)"))
		return
	}
	defer s.Close()
	began := e.box.Now()
	own, idle := e.box.Worked()
	times, err := e.take(ctx, s)
	if e.frame == nil {
		e.add("camera", Wrong, fmt.Sprintf("%v gives no picture: %v.", s, err),
			"unplug it and plug it in again; try another port and a shorter cable")
		return
	}
	w, h := e.frame.Size()
	fps := rate(times)
	ownAfter, idleAfter := e.box.Worked()
	took := e.box.Now().Sub(began).Seconds()
	says := fmt.Sprintf("%v gives %d×%d at %.1f pictures a second.", s, w, h, fps)
	switch {
	case len(times) > 1 && fps < slowFPS && !recorded(source):
		e.slow(source, says, (ownAfter-own).Seconds()/took, (idleAfter-idle).Seconds()/took)
	case w < fewPixels:
		advice := "set camera.width = 1920 and camera.height = 1080"
		if recorded(source) {
			advice = "take pictures of 1920×1080 or more"
		}
		e.add("camera", Warning, "Its pictures are small: "+says, advice)
	default:
		e.add("camera", OK, says, "")
	}
	if cameraDevice(source) {
		e.settings(source)
	}
	e.exposure(e.frame.Gray)
	e.look(e.frame.Gray)
}

// Waiting for a camera takes little processor time: this program used 0.07 of a processor for four
// pictures of 1280×720 a second. If the program itself is slow, it uses a whole processor.
const (
	busyShare = 0.8 // of a processor: this program is slow if it uses more
	idleShare = 0.2 // of a processor: other programs are slow if less is idle
)

// slow reports whether the camera or the computer is slow, from how many processors this program
// used and how many were idle.
func (e *examination) slow(source, says string, own, idle float64) {
	switch {
	case strings.HasPrefix(source, "sim:"):
		e.add("camera", Warning, "It is slow: "+says, "ask for smaller pictures: sim:1280x720")
	case own > busyShare:
		e.add("camera", Warning, strings.ToUpper(capture.SlowComputer[:1])+capture.SlowComputer[1:]+" with the camera: "+says,
			capture.SlowComputerAdvice)
	case idle < idleShare:
		e.add("camera", Warning, "It is slow, or other programs leave it no processor: "+says,
			capture.SlowComputerAdvice+"; then "+slowAdvice(source))
	default:
		e.add("camera", Warning, "It is slow: "+says, slowAdvice(source))
	}
}

// recorded reports whether pictures come from files. Their rate says nothing about a camera.
func recorded(source string) bool {
	_, err := os.Stat(source)
	return err == nil && !cameraDevice(source)
}

// slowAdvice says how to get pictures faster from a source.
func slowAdvice(source string) string {
	if cameraDevice(source) || strings.HasPrefix(source, "gst:") {
		return "ask for smaller pictures (camera.width, camera.height), give more light, or use a USB 3 port"
	}
	return "make smaller pictures where they come from, give more light there, or use a better network"
}

// settings reports the state of the camera's exposure and focus controls.
func (e *examination) settings(path string) {
	d, err := capture.OpenControls(path)
	if err != nil { // the camera gave pictures, so this is not a fault of the box
		return
	}
	defer d.Close()
	says := capture.DescribeControls(d)
	says = strings.ToUpper(says[:1]) + says[1:] + "."
	if strings.Contains(says, "automatic") {
		e.add("camera settings", Warning, says, "lock them: camera.exposure, gain, white_balance and focus = \"lock\" (docs/configuration.md)")
		return
	}
	e.add("camera settings", OK, says, "")
}

// take reads pictures, keeps the last one, and returns when each arrived.
func (e *examination) take(ctx context.Context, s vision.Source) (times []time.Time, err error) {
	for range cameraTakes {
		f, err := s.Next(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the recording is over")
			}
			return times, err
		}
		if f.Gray == nil {
			return times, errors.New("the picture is empty")
		}
		e.frame, times = &f, append(times, e.box.Now())
	}
	return times, nil
}

// rate returns the pictures per second, without the first, which includes the camera's start.
func rate(times []time.Time) float64 {
	if len(times) > 2 {
		times = times[1:]
	}
	if len(times) < 2 {
		return 0
	}
	if d := times[len(times)-1].Sub(times[0]).Seconds(); d > 0 {
		return float64(len(times)-1) / d
	}
	return math.Inf(1)
}

// exposure checks the grey levels of the whole picture.
func (e *examination) exposure(g *image.Gray) {
	var count [256]int
	b := g.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for _, v := range g.Pix[(y-b.Min.Y)*g.Stride : (y-b.Min.Y)*g.Stride+b.Dx()] {
			count[v]++
		}
	}
	total := b.Dx() * b.Dy()
	below := func(level int) (share float64) {
		for _, n := range count[:level] {
			share += float64(n) / float64(total)
		}
		return share
	}
	burntShare := max(0, 1-below(burnt)) // the sum may round past 1
	switch {
	case below(25) > 0.98:
		e.add("exposure", Wrong, "The picture is black.", "take off the lens cap, switch on the light, lengthen the exposure")
	case burntShare > 0.9:
		e.add("exposure", Wrong, "The picture is white.", "shorten the exposure: v4l2-ctl --set-ctrl=auto_exposure=1,exposure_time_absolute=100")
	case burntShare > 0.05:
		e.add("exposure", Warning, fmt.Sprintf("%.0f %% of the picture are burnt out.", 100*burntShare),
			"shorten the exposure, and keep lamps from mirroring in the mat")
	default:
		e.add("exposure", OK, fmt.Sprintf("%.1f %% of the picture are burnt out.", 100*burntShare), "")
	}
}

// look finds the mat's markers and checks the picture at them.
func (e *examination) look(g *image.Gray) {
	if e.box.Markers == nil {
		e.add("markers", Skipped, "This program was built without OpenCV and cannot look for the mat's markers.", "")
		return
	}
	found, err := fiducial.DetectMarkers(e.box.Markers, g)
	if errors.Is(err, fiducial.ErrMirrored) {
		e.add("markers", Wrong, "The picture is mirrored: the mat's markers can only be read with left and right exchanged.",
			"switch mirroring off in the camera's settings, or where its stream is made")
		return
	}
	if err != nil {
		e.add("markers", Wrong, fmt.Sprintf("They cannot be searched: %v.", err), "report this: it is a defect of the program")
		return
	}
	known := map[int]bool{}
	for _, m := range e.setup.Layout.Markers {
		known[m.ID] = true
	}
	for _, d := range found {
		if known[d.ID] {
			e.seen = append(e.seen, d)
		}
	}
	says := fmt.Sprintf("%d of the mat's %d markers are seen.", len(e.seen), len(known))
	switch {
	case len(e.seen) == 0:
		e.add("markers", Wrong, "None of the mat's markers is seen.", "point the camera at the whole mat; lay the markers of sightline print "+
			"mat-markers; focus")
		return
	case len(e.seen) < 4 && len(e.seen) < len(known):
		e.add("markers", Warning, says, "uncover the others, and make sure that the camera sees the whole mat")
	default:
		e.add("markers", OK, says, "")
	}
	e.sharpness(g)
}

// sharpness measures the edges of the visible markers: their width in pixels, and the step from
// black to white.
func (e *examination) sharpness(g *image.Gray) {
	var widths, contrasts, white []float64
	for _, d := range e.seen {
		for side := range 4 {
			if e, ok := exposure.MeasureEdge(g, d.Corners[side], d.Corners[(side+1)%4]); ok {
				widths, contrasts, white = append(widths, e.Width), append(contrasts, e.White-e.Black), append(white, e.White)
			}
		}
	}
	if len(widths) == 0 {
		return
	}
	width, contrast, top := median(widths), median(contrasts), median(white)
	says := fmt.Sprintf("An edge takes %.1f pixels; %.0f grey levels from black to white.", width, contrast)
	switch {
	case top >= burnt:
		e.add("sharpness", Warning, "The markers' white is burnt out, which moves their edges. "+says, "shorten the exposure, or dim the light")
	case contrast < dimWhite:
		e.add("sharpness", Warning, "The picture is flat. "+says, "give more light, or lengthen the exposure")
	case width > softEdge:
		e.add("sharpness", Wrong, "The picture is not sharp. "+says, "focus on the mat and fix the focus; clean the lens; calibrate the lens "+
			"again after turning its ring")
	default:
		e.add("sharpness", OK, says, "")
	}
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// Limits beyond which a calibration should be checked.
const (
	tableOld    = 30 * 24 * time.Hour
	movedWrong  = 1.0 // mm at the mat's corners between the file and the markers now
	movedSigmas = 3.0
)

func (e *examination) calibration(ctx context.Context) {
	if strings.HasPrefix(e.setup.Source, "sim:") && e.setup.Lens == "" && e.setup.Table == "" {
		e.add("calibration", Skipped, "The simulated table knows its camera.", "")
		return
	}
	e.lens()
	e.table(ctx)
}

func (e *examination) lens() {
	if e.setup.Lens == "" {
		if e.setup.Table == "" {
			e.add("lens", Wrong, "No lens file is named: nothing can be measured.",
				"calibrate it on the page /first; or sightline calibrate lens (docs/lens.md), then set camera.lens")
		}
		return
	}
	in, file, err := lens.Load(e.setup.Lens)
	switch {
	case err != nil:
		e.add("lens", Wrong, fmt.Sprintf("The lens file cannot be used: %v.", err), "make it again: sightline calibrate lens (docs/lens.md)")
		return
	case file.Integrity == calibration.Edited:
		e.add("lens", Wrong, fmt.Sprintf("%s was changed after it was made.", e.setup.Lens), "make it again, or restore the kept copy next to it")
		return
	}
	e.add("lens", OK, fmt.Sprintf("%s is %v, hash %.8s.", e.setup.Lens, file.Integrity, file.Hash), "")
	e.fits("lens", in)
}

// fits checks whether a lens file is for the camera's pictures.
func (e *examination) fits(name string, in calibration.Intrinsics) {
	if e.frame == nil {
		return
	}
	w, h := e.frame.Size()
	if _, err := in.Scaled(w, h); err != nil {
		e.add(name, Wrong, fmt.Sprintf("It does not fit the camera's pictures: %v.", err),
			fmt.Sprintf("set camera.width = %d and camera.height = %d, or calibrate the lens at %d×%d", in.Width, in.Height, w, h))
	} else if w != in.Width || h != in.Height {
		e.add(name, Warning, fmt.Sprintf("It was made at %d×%d; the pictures are %d×%d and it is scaled to them, which not every camera's "+
			"modes allow.", in.Width, in.Height, w, h), "calibrate at the size that is used")
	}
}

func (e *examination) table(context.Context) {
	path := e.setup.Table
	if path == "" {
		e.add("table", OK, "No table file is named: the camera's place is found from the markers at each start.", "")
		return
	}
	t, err := calibration.LoadTable(path)
	switch {
	case err != nil:
		e.add("table", Wrong, fmt.Sprintf("The table file cannot be used: %v.", err),
			"make it again: sightline calibrate table (docs/calibration.md)")
		return
	case t.Integrity == calibration.Edited:
		e.add("table", Wrong, path+" was changed after it was made.", "make it again, or restore the kept copy next to it")
		return
	case len(t.Doubts()) > 0:
		e.add("table", Wrong, fmt.Sprintf("%s cannot be trusted: %s.", path, t.State()), "make it again, or restore the kept copy next to it")
		return
	}
	says := fmt.Sprintf("%s is %v, hash %.8s, made %s.", path, t.Integrity, t.Hash, made(t.Made))
	switch age := e.box.Now().Sub(t.Made); {
	case t.Made.IsZero():
		e.add("table", Warning, says, "make it again to know how old it is: sightline calibrate table")
	case age < -time.Hour:
		e.add("table", Warning, says+" That is in the future.", "set the clock, and make it again")
	case age > tableOld:
		e.add("table", Warning, fmt.Sprintf("%s That is %.0f days ago.", says, age.Hours()/24), "verify it: sightline calibrate verify")
	default:
		e.add("table", OK, says, "")
	}
	e.fits("table", t.Intrinsics)
	e.placed(&t)
	e.verified(path, &t)
}

func made(at time.Time) string {
	if at.IsZero() {
		return "at an unknown time"
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// placed compares the table file with the visible markers.
func (e *examination) placed(t *calibration.Table) {
	if len(e.seen) == 0 {
		return
	}
	w, h := e.frame.Size()
	in, err := t.Intrinsics.Scaled(w, h)
	if err != nil {
		return // fits said so
	}
	now, err := calibration.Register(in, t.Layout, vision.Sightings(e.seen))
	if err != nil {
		e.add("table", Warning, fmt.Sprintf("Cannot tell whether the camera still stands where it did: %v.", err), "uncover the markers")
		return
	}
	moved := t.Shift(&now).Millimeters()
	if limit := max(movedWrong, movedSigmas*now.PlaceSigma().Millimeters()); moved > limit {
		e.add("table", Wrong, fmt.Sprintf("The camera is not where the file puts it: %.1f mm off at the mat's corners (%d markers seen).", moved,
			len(now.Used)), "calibrate the table again: sightline calibrate table")
		return
	}
	e.add("table", OK, fmt.Sprintf("The camera stands where the file puts it, within %.2f mm (%d markers seen).", moved, len(now.Used)), "")
}

// verified reports the last verification with the check card.
func (e *examination) verified(path string, t *calibration.Table) {
	const do = "verify it with the check card: sightline calibrate verify (docs/verification.md)"
	r, ok, err := verify.LoadRecord(path)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		e.add("verification", Warning, fmt.Sprintf("The record of the last verification cannot be read: %v.", err), do)
	case !ok:
		e.add("verification", Warning, "This calibration was never verified.", do)
	default:
		answer := r.Answer(t, t)
		switch says := strings.ToUpper(answer.String()[:1]) + answer.String()[1:] + "."; {
		case r.Outcome == verify.Fail:
			e.add("verification", Wrong, says, "calibrate the table again, then verify")
		case !answer.Holds || r.Outcome != verify.Pass:
			e.add("verification", Warning, says, do)
		default:
			e.add("verification", OK, says, "")
		}
	}
}
