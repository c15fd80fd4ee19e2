package look

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// View is a picture of a base without its miniature, and where it stands.
type View struct {
	Table calibration.Table // registered for this picture
	Frame vision.Frame
	Pose  geom.Pose // with the uncertainty Card.Known
}

// Known is the uncertainty of the pose from which a look is learnt: the standard deviation of the mean of all views, per axis and of the
// heading.
type Known struct {
	Place geom.Length
	Turn  geom.Angle
}

// KnownBySay is the uncertainty of a pose that a person measured with a ruler.
var KnownBySay = Known{0.1 * geom.Millimeter, 0.1 * geom.Degree}

// Card names the card whose look is learnt.
type Card struct {
	Name  string
	Ships []string
	Base  engine.Base
	Pilot string
	Known Known // zero: KnownBySay
}

// Check validates a card. The error names the key.
func (c Card) Check() error { return c.look(1).check() }

// look returns the card's look without its picture.
func (c Card) look(views int) *Look {
	known := c.Known
	if known == (Known{}) {
		known = KnownBySay
	}
	return &Look{Name: c.Name, Ships: slices.Clone(c.Ships), Base: c.Base, Pilot: c.Pilot, Known: known, Z: CardTop, Views: views, Scale: 1,
		Color: true}
}

// Learn makes a look from views of one card. It returns an error if the views differ (a miniature on the base, a wrong
// heading), if the base has another size, if the views are blurred, or if the card shows too little to distinguish its four
// headings.
func Learn(c Card, views []View) (*Look, error) {
	l := c.look(len(views))
	if err := l.check(); err != nil {
		return nil, err
	}
	l.side = sideOf(c.Base)
	l.Scale = 0
	for i, v := range views {
		s, ok := newScan(&v.Table, v.Frame, v.Pose.Point, l.Z, (l.half()+ringMM)*math.Sqrt2+2)
		if !ok {
			return nil, fmt.Errorf("view %d: the base is not in the picture", i+1)
		}
		l.Scale += s.scale / float64(len(views))
		l.Color = l.Color && v.Frame.Color != nil
	}
	if why := l.learn(views); why != "" {
		return nil, errors.New(why)
	}
	return l, nil
}

// learn combines the views. It returns the reason if they make no look, else "".
func (l *Look) learn(views []View) string {
	poses := make([]geom.Pose, len(views))
	for i, v := range views {
		poses[i] = v.Pose
	}
	if why := l.combine(views, poses); why != "" {
		return why
	}
	if why := l.another(views); why != "" {
		return why
	}
	if len(views) == 1 { // check blur first: a blurred card shows too little as well
		l.number = numberIn(views, poses)
		return cmp.Or(l.blurry(), l.untelling())
	}
	if why := l.covered(views); why != "" {
		return why
	}
	l.lit()
	if why := l.untelling(); why != "" {
		return why
	}
	aligned, why := l.align(views)
	if why != "" {
		return why
	}
	again := *newLook(l)
	if why := again.combine(views, aligned); why != "" {
		return why
	}
	again.lit()
	l.cells, l.weight, l.fit, l.once = again.cells, again.weight, nil, sync.Once{}
	l.shaded, l.shots = nil, nil
	l.softened.Clear()
	l.Known = l.Known.scattered(poses, aligned)
	l.number = numberIn(views, aligned)
	return l.blurry()
}

// scattered returns the larger of the known uncertainty and the standard error that follows from how far the aligned views lie from their
// stated poses. An error that all views share does not show in it.
func (k Known) scattered(said, aligned []geom.Pose) Known {
	var place, turn float64
	for i, p := range said {
		d := aligned[i].Sub(p.Point)
		place += d.Dot(d) / 2
		turn += square(float64((aligned[i].Heading - p.Heading).Signed()))
	}
	n := float64(len(said))
	k.Place = max(k.Place, geom.Length(math.Sqrt(place/(n*(n-1)))))
	k.Turn = max(k.Turn, geom.Angle(math.Sqrt(turn/(n*(n-1)))))
	return k
}

// newLook returns a copy of a look without its cells.
func newLook(l *Look) *Look {
	return &Look{Name: l.Name, Ships: l.Ships, Base: l.Base, Pilot: l.Pilot, Known: l.Known, Z: l.Z,
		Color: l.Color, Views: l.Views, Scale: l.Scale, side: l.side}
}

// shoot samples a picture at the cells of a square of side by side cells, in the frame of a base at a pose.
func (l *Look) shoot(v *View, pose geom.Pose, side int) ([]float32, bool) {
	half := float64(side-1) / 2 * cellMM
	sc, ok := newScan(&v.Table, v.Frame, pose.Point, l.Z, half*math.Sqrt2+2)
	if !ok {
		return nil, false
	}
	out := make([]float32, channels*side*side)
	sin, cos := math.Sincos(float64(pose.Heading))
	for k := range side * side {
		x, y := float64(k%side)*cellMM-half, half-float64(k/side)*cellMM
		px, py := sc.view.pixel(x*cos+y*sin, -x*sin+y*cos)
		var p sample
		if !sc.sharp.at(px, py, &p) {
			return nil, false
		}
		copy(out[channels*k:], p.v[:])
	}
	return out, true
}

// differs is the difference between views, in grey levels, from which a cell is not used.
const differs = 12

// combine makes the look's cells and weights from the views at the poses. It returns the reason if it cannot, else "".
func (l *Look) combine(views []View, poses []geom.Pose) string {
	var raw, shots [][]float32
	for i := range views {
		s, ok := l.shoot(&views[i], poses[i], l.side)
		if !ok {
			return fmt.Sprintf("view %d: the base is not whole in the picture", i+1)
		}
		raw, shots = append(raw, s), append(shots, slices.Clone(s))
	}
	var spread []float32
	l.cells, spread = middleOf(shots)
	l.weigh(spread)
	for range lightRounds {
		if len(views) == 1 {
			break
		}
		before := newLook(l)
		before.cells, before.weight = l.cells, l.weight
		for i := range views {
			before.relight(&views[i], poses[i], raw[i], shots[i])
		}
		l.cells, spread = medianOf(shots)
		l.weigh(spread)
	}
	l.shaded, l.shots = l.shadedIn(shots, views, poses), shots
	return ""
}

// lightRounds is how often the views are brought to the light of their median. Oblique light differs by a fifth across a large card, and
// differently in each heading and place.
const lightRounds = 2

// weigh selects the cells that are used: not those under the tower, nor those that differ between views.
func (l *Look) weigh(spread []float32) {
	l.weight = make([]float32, l.side*l.side)
	for k := range l.weight {
		if x, y := l.place(k); max(math.Abs(x), math.Abs(y)) > towerMM && spread[k] < differs {
			l.weight[k] = 1
		}
	}
}

// relight brings the cells of a view to the look's light. It does nothing if the view does not show the look.
func (l *Look) relight(v *View, pose geom.Pose, raw, shot []float32) {
	s, ok := newScan(&v.Table, v.Frame, pose.Point, l.Z, l.half()*math.Sqrt2+2)
	if !ok {
		return
	}
	f := newFitting(s, l, &l.grids().finest, pose)
	if !f.light() {
		return
	}
	for k := range l.weight {
		x, y := l.place(k)
		for c := range channels {
			shot[channels*k+c] = f.asLook(raw[channels*k+c], x, y, c)
		}
	}
}

// middleOf is medianOf after scaling the pictures to the same brightness.
func middleOf(shots [][]float32) (cells, spread []float32) {
	all := make([]float64, len(shots))
	for i, s := range shots {
		v := make([]float64, len(s))
		for k, x := range s {
			v[k] = float64(x)
		}
		all[i] = median(v)
	}
	middle := median(slices.Clone(all))
	for i, s := range shots {
		for k := range s {
			s[k] *= float32(middle / max(all[i], 1))
		}
	}
	return medianOf(shots)
}

// medianOf returns the median of several pictures of the same cells in the same light, and their mean deviation from it in grey levels.
func medianOf(shots [][]float32) (cells, spread []float32) {
	cells, spread = make([]float32, len(shots[0])), make([]float32, len(shots[0])/channels)
	v := make([]float64, len(shots))
	for k := range cells {
		for i, s := range shots {
			v[i] = float64(s[k])
		}
		slices.Sort(v)
		m := (v[(len(v)-1)/2] + v[len(v)/2]) / 2
		cells[k] = float32(m)
		for _, x := range v {
			spread[k/channels] += float32(math.Abs(x-m) / float64(channels*len(v)))
		}
	}
	return cells, spread
}
