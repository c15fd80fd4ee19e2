package outline

import (
	"image"
	"math"
	"net/http"

	"sightline/calibration"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// snapSteps are the steps, in mm and degrees, of the search for a better place around that of a
// person's frame: at most 2 mm and 2° away.
var snapSteps = [...]float64{0.8, 0.4, 0.2, 0.1}

const snapReach = 2.0

// snap proposes a place near that of a wire frame, on the strongest edges of the picture. They may
// be the card's or the frame's instead of the plastic's, so the person decides, and the stated
// uncertainty stays the same.
func (d *Desk) snap(w http.ResponseWriter, r *http.Request, p *picture) {
	var in struct {
		Base string `json:"base"`
		try
	}
	if !web.ReadBody(w, r, &in, bodyMost, `{"base":"small","x_mm":300,"y_mm":200,"heading_deg":90}`) {
		return
	}
	table, _, _ := p.calibration()
	base, err := engine.ParseBase(in.Base)
	switch {
	case table == nil:
		refuse(w, errNoCalibration)
		return
	case err != nil:
		refuse(w, err)
		return
	}
	m := mark{ID: "A1", Base: in.Base, Tries: []try{in.try}}
	if _, err := m.read(table); err != nil {
		refuse(w, err)
		return
	}
	web.WriteJSON(w, http.StatusOK, propose(p.frame.Gray, table, base, in.try))
}

// propose climbs to the place where the upper outline of a base lies on the strongest edges.
func propose(g *image.Gray, t *calibration.Table, base engine.Base, from try) try {
	best, most := from, edgeStrength(g, t, base, from)
	for _, step := range snapSteps {
		for range 12 {
			next, score := best, most
			for _, to := range best.neighbours(step) {
				if math.Abs(to.X-from.X) > snapReach || math.Abs(to.Y-from.Y) > snapReach || math.Abs(to.Heading-from.Heading) > snapReach {
					continue
				}
				if s := edgeStrength(g, t, base, to); s > score {
					next, score = to, s
				}
			}
			if score <= most {
				break
			}
			best, most = next, score
		}
	}
	return best
}

// neighbours returns the tries that differ by a step in x, y or heading.
func (t try) neighbours(step float64) (out [6]try) {
	for axis := range 3 {
		for k, by := range [2]float64{-step, step} {
			to := t
			*[...]*float64{&to.X, &to.Y, &to.Heading}[axis] += by
			out[2*axis+k] = to
		}
	}
	return out
}

// edgeStrength returns the mean change of grey level across the upper outline of a base.
func edgeStrength(g *image.Gray, t *calibration.Table, base engine.Base, at try) float64 {
	const perSide = 24
	profile := engine.Nominal()
	w, l := profile.Size(base)
	pose := at.pose()
	corners := [4]geom.Point{{X: -float64(w) / 2, Y: float64(l) / 2}, {X: float64(w) / 2, Y: float64(l) / 2},
		{X: float64(w) / 2, Y: -float64(l) / 2}, {X: -float64(w) / 2, Y: -float64(l) / 2}}
	height := token.BaseTop + t.Surface.Height(pose.Point)
	sum := 0.0
	for i, a := range corners {
		b := corners[(i+1)%4]
		out := b.Sub(a)
		out = geom.Point{X: -out.Y, Y: out.X}.Mul(0.7 / out.Norm())
		change := 0.0
		for k := range perSide {
			q := a.Lerp(b, (float64(k)+1)/(perSide+1))
			in, ok1 := t.PixelOf(pose.Transform(q.Sub(out)), height)
			ex, ok2 := t.PixelOf(pose.Transform(q.Add(out)), height)
			if !ok1 || !ok2 {
				return 0
			}
			change += grayAt(g, ex) - grayAt(g, in)
		}
		sum += math.Abs(change) / perSide
	}
	return sum / 4
}

// grayAt interpolates the picture, which is black outside.
func grayAt(g *image.Gray, p geom.Pixel) float64 {
	x, y := math.Floor(p.X), math.Floor(p.Y)
	fx, fy := p.X-x, p.Y-y
	at := func(x, y int) float64 { return float64(g.GrayAt(x, y).Y) }
	ix, iy := int(x), int(y)
	return (1-fy)*((1-fx)*at(ix, iy)+fx*at(ix+1, iy)) + fy*((1-fx)*at(ix, iy+1)+fx*at(ix+1, iy+1))
}
