//go:build opencv

package opencv

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	_ "image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gocv.io/x/gocv"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/renderedtest"
)

// stockTable is a rendered table of ships that carry nothing of ours, with the looks of their cards.
type stockTable struct {
	calibration.Table
	frame vision.Frame
	ships []stockShip
	looks *look.Library
	own   map[string]*look.Look // by the ship
}

// stockShip is what the truth says of a ship.
type stockShip struct {
	ID      string   `json:"id"`
	Base    string   `json:"base"`
	X       float64  `json:"x_mm"`
	Y       float64  `json:"y_mm"`
	Heading float64  `json:"heading_deg"`
	Stock   struct { // ships with the same art carry the same card
		Art json.RawMessage `json:"art"`
	} `json:"stock"`
}

func (s *stockShip) pose() geom.Pose {
	return geom.Pose{Point: geom.Point{X: s.X, Y: s.Y}, Heading: geom.Angle(s.Heading) * geom.Degree}
}

// readStock reads the picture of a folder and its truth.
func readStock(b *testing.B, dir string) (s stockTable) {
	b.Helper()
	var truth struct {
		renderedtest.Optics
		Ships []stockShip `json:"ships"`
		Image string      `json:"image"`
	}
	renderedtest.Read(b, dir, &truth)
	s.Camera = truth.Camera()
	s.Layout = calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	s.ships = truth.Ships
	file, err := os.Open(filepath.Join(dir, truth.Image))
	require.NoError(b, err)
	defer file.Close()
	img, _, err := image.Decode(file)
	require.NoError(b, err)
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	s.frame = vision.Frame{Gray: image.NewGray(img.Bounds()), Color: &vision.BGR{Pix: make([]byte, 3*w*h), Width: w, Height: h}}
	for i := range w * h {
		x, y := i%w, i/w
		r, g, bl, _ := img.At(x, y).RGBA()
		copy(s.frame.Color.Pix[3*i:], []byte{byte(bl >> 8), byte(g >> 8), byte(r >> 8)})
		s.frame.Gray.Set(x, y, color.GrayModel.Convert(img.At(x, y)))
	}
	return s
}

// newStockTable reads a table, and learns the cards of its ships.
func newStockTable(b *testing.B, name string) *stockTable {
	b.Helper()
	root := filepath.Join("..", "..", "..", "shared", "stock")
	if _, err := os.Stat(root); err != nil {
		b.Skip("shared/stock is not here: these pictures are not part of the project")
	}
	s, shown := readStock(b, filepath.Join(root, name)), readStock(b, filepath.Join(root, "enrol"+name[strings.LastIndexByte(name, '-'):]))
	s.looks, s.own = &look.Library{}, map[string]*look.Look{}
	for i := 0; i < len(shown.ships); {
		id, _, _ := strings.Cut(shown.ships[i].ID, "_")
		base, err := engine.ParseBase(shown.ships[i].Base)
		require.NoError(b, err)
		art := string(shown.ships[i].Stock.Art)
		var views []look.View
		for ; i < len(shown.ships) && strings.HasPrefix(shown.ships[i].ID, id+"_"); i++ {
			views = append(views, look.View{Table: shown.Table, Frame: shown.frame, Pose: shown.ships[i].pose()})
		}
		l, err := look.Learn(look.Card{Name: id, Ships: []string{id}, Base: base}, views)
		require.NoError(b, err)
		s.looks.Looks = append(s.looks.Looks, l)
		for k := range s.ships {
			if string(s.ships[k].Stock.Art) == art && s.ships[k].Base == base.String() {
				s.own[s.ships[k].ID] = l
			}
		}
	}
	return &s
}

// rectified returns the mat around a point as seen from above at the height of the cards, one pixel a millimetre.
func (s *stockTable) rectified(b *testing.B, x0, y0, w, h int) gocv.Mat {
	b.Helper()
	pix := make([]byte, 3*w*h)
	c := s.frame.Color
	for k := range w * h {
		px, ok := s.PixelOf(geom.Point{X: float64(x0 + k%w), Y: float64(y0 + h - 1 - k/w)}, look.CardTop)
		x, y := int(px.X), int(px.Y)
		if !ok || x < 0 || y < 0 || x+1 >= c.Width || y+1 >= c.Height {
			continue
		}
		u, v := px.X-float64(x), px.Y-float64(y)
		for ch := range 3 {
			at := func(x, y int) float64 { return float64(c.Pix[3*(y*c.Width+x)+ch]) }
			pix[3*k+ch] = byte((1-u)*(1-v)*at(x, y) + u*(1-v)*at(x+1, y) + (1-u)*v*at(x, y+1) + u*v*at(x+1, y+1))
		}
	}
	m, err := gocv.NewMatFromBytes(h, w, gocv.MatTypeCV8UC3, pix)
	require.NoError(b, err)
	defer m.Close()
	return m.Clone()
}

// cardAt is a look's card at a heading, one pixel a millimetre. What is not of the card around it, and where its tower stands, is filled
// with its mean, which the correlation does not feel.
func cardAt(b *testing.B, l *look.Look, heading geom.Angle) gocv.Mat {
	b.Helper()
	_, raw, err := l.Encode()
	require.NoError(b, err)
	card, err := png.Decode(bytes.NewReader(raw))
	require.NoError(b, err)
	n := card.Bounds().Dx() // half a millimetre each
	sin, cos := math.Sincos(float64(heading))
	half := int(float64(n) / 4 * (math.Abs(sin) + math.Abs(cos)))
	side := 2*half + 1
	pix, on := make([]byte, 3*side*side), make([]bool, side*side)
	var sum [3]int
	count := 0
	for k := range on {
		dx, dy := float64(k%side-half), float64(half-k/side)
		u, v := dx*cos-dy*sin, dx*sin+dy*cos
		x, y := int(math.Round(2*u+float64(n-1)/2)), int(math.Round(float64(n-1)/2-2*v))
		if c := color.NRGBAModel.Convert(card.At(x, y)).(color.NRGBA); c.A > 127 {
			copy(pix[3*k:], []byte{c.B, c.G, c.R})
			sum[0], sum[1], sum[2] = sum[0]+int(c.B), sum[1]+int(c.G), sum[2]+int(c.R)
			on[k] = true
			count++
		}
	}
	for k := range on {
		if !on[k] {
			copy(pix[3*k:], []byte{byte(sum[0] / count), byte(sum[1] / count), byte(sum[2] / count)})
		}
	}
	m, err := gocv.NewMatFromBytes(side, side, gocv.MatTypeCV8UC3, pix)
	require.NoError(b, err)
	defer m.Close()
	return m.Clone()
}

// matched is the best place of some templates.
type matched struct {
	pose  geom.Pose
	score float32
}

// bestOf returns the best pose of a look in a part of the mat whose lower left corner is at x0, y0: up to reach from its middle, or
// anywhere if that is 0.
func bestOf(part gocv.Mat, cards []gocv.Mat, headings []geom.Angle, x0, y0, reach int) (best matched) {
	out, mask := gocv.NewMat(), gocv.NewMat()
	defer out.Close()
	defer mask.Close()
	best.score = -2
	for i, card := range cards {
		from, r := image.Point{}, card.Cols()/2
		within := part
		if reach > 0 {
			from = image.Pt(part.Cols()/2-r-reach, part.Rows()/2-r-reach)
			within = part.Region(image.Rectangle{Min: from, Max: from.Add(image.Pt(2*(r+reach)+1, 2*(r+reach)+1))})
		}
		if err := gocv.MatchTemplate(within, card, &out, gocv.TmCcoeffNormed, mask); err != nil {
			panic(err)
		}
		if reach > 0 {
			within.Close()
		}
		if _, score, _, at := gocv.MinMaxLoc(out); score > best.score {
			at = at.Add(from)
			best = matched{geom.Pose{Point: geom.Point{X: float64(x0 + at.X + r), Y: float64(y0 + part.Rows() - 1 - at.Y - r)},
				Heading: headings[i]}, score}
		}
	}
	return best
}

// right reports whether a pose is a ship's, roughly.
func right(at, truth geom.Pose) bool {
	return at.Distance(truth.Point) < 3 && at.Heading.Distance(truth.Heading) < 6*geom.Degree
}

// BenchmarkStockTable compares the search for ships by their cards with OpenCV's matchTemplate in the same headings and places of the same
// rendered table, one pixel a millimetre, in colour: the best of all rounds, processor time of one core. Rectifying the mat and turning the
// templates are not counted. Both say how many ships they find: matchTemplate has no limit of acceptance and fits no pose, so that its best
// place counts if it is right to 3 mm and 6°.
//
//	make bench BENCH_PKG=./vision/opencv
func BenchmarkStockTable(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	threads := gocv.GetNumThreads()
	gocv.SetNumThreads(1)
	defer gocv.SetNumThreads(threads)
	for _, name := range []string{"t1-1080p", "t2-1080p", "t3-1080p", "t1-4k"} {
		s := newStockTable(b, name)
		for _, c := range []struct {
			name  string
			reach geom.Length // 0: the whole mat
			turn  geom.Angle
			off   float64 // mm and degrees of the hint
		}{{"whole mat", 0, math.Pi, 0}, {"near a tap", 12, math.Pi, 3}, {"followed", 3, 8 * geom.Degree, 0.3}} {
			if c.reach == 0 && strings.HasSuffix(name, "-4k") {
				continue // the same work for matchTemplate
			}
			b.Run(name+", "+c.name, func(b *testing.B) {
				if c.reach == 0 {
					s.compareWhole(b)
				} else {
					s.compareNear(b, c.reach, c.turn, c.off)
				}
			})
		}
	}
}

// headingsOf are the headings in which the search compares a base.
func headingsOf(base engine.Base, at, turn geom.Angle) (out []geom.Angle) {
	w, _ := base.Size()
	step := geom.Angle(min(6*math.Pi/180, 2/(float64(w)/2-2.5)))
	for d := -turn; d <= turn && float64(len(out))*float64(step) < 2*math.Pi; d += step {
		out = append(out, (at + d).Normalized())
	}
	return out
}

// cardsAt are a look's templates in headings.
func cardsAt(b *testing.B, l *look.Look, headings []geom.Angle) (out []gocv.Mat) {
	for _, h := range headings {
		out = append(out, cardAt(b, l, h))
	}
	b.Cleanup(func() {
		for i := range out {
			out[i].Close()
		}
	})
	return out
}

// compareWhole searches the whole mat for all looks.
func (s *stockTable) compareWhole(b *testing.B) {
	mat := s.rectified(b, 0, 0, int(s.Layout.Width)+1, int(s.Layout.Height)+1)
	defer mat.Close()
	var cards [][]gocv.Mat
	var headings [][]geom.Angle
	for _, l := range s.looks.Looks {
		headings = append(headings, headingsOf(l.Base, 0, math.Pi))
		cards = append(cards, cardsAt(b, l, headings[len(headings)-1]))
	}
	ours, theirs, found, matching := math.Inf(1), math.Inf(1), 0, 0
	for b.Loop() {
		f := look.NewFinder(s.Table, s.looks, calibration.Uncertainty{})
		var sights []look.Sight
		ours = min(ours, cpuTime(func() { sights = f.Search(s.frame, nil, nil) }))
		var best []matched
		theirs = min(theirs, cpuTime(func() {
			best = nil
			for i := range cards {
				best = append(best, bestOf(mat, cards[i], headings[i], 0, 0, 0))
			}
		}))
		found, matching = 0, 0
		for i := range s.ships {
			for k := range sights {
				if right(sights[k].Pose, s.ships[i].pose()) {
					found++
				}
			}
			for k, l := range s.looks.Looks {
				if l == s.own[s.ships[i].ID] && right(best[k].pose, s.ships[i].pose()) {
					matching++
				}
			}
		}
	}
	report(b, ours, theirs, found, matching, len(s.ships), len(s.looks.Looks))
}

// compareNear searches near each ship, whose look is known, from a place so many mm and degrees off.
func (s *stockTable) compareNear(b *testing.B, reach geom.Length, turn geom.Angle, off float64) {
	ours, theirs, found, matching := math.Inf(1), math.Inf(1), 0, 0
	for b.Loop() {
		var a, o float64
		found, matching = 0, 0
		for i := range s.ships {
			ship, l := &s.ships[i], s.own[s.ships[i].ID]
			f := look.NewFinder(s.Table, &look.Library{Looks: []*look.Look{l}}, calibration.Uncertainty{})
			hint := look.Hint{Base: l.Base, Pose: ship.pose(), Reach: reach, Turn: turn, Ship: l.Ships[0]}
			hint.Pose.X, hint.Pose.Heading = hint.Pose.X+off, hint.Pose.Heading+geom.Angle(off)*geom.Degree
			a += cpuTime(func() {
				sight, ok, err := f.Near(s.frame, hint)
				require.NoError(b, err)
				if ok && right(sight.Pose, ship.pose()) {
					found++
				}
			})
			headings := headingsOf(l.Base, hint.Pose.Heading, turn)
			var cards []gocv.Mat
			for _, h := range headings {
				cards = append(cards, cardAt(b, l, h))
			}
			r := int(math.Ceil(float64(reach)))
			for k := range cards {
				r = max(r, cards[k].Cols()/2+int(math.Ceil(float64(reach))))
			}
			x0, y0 := int(math.Round(hint.Pose.X))-r, int(math.Round(hint.Pose.Y))-r
			part := s.rectified(b, x0, y0, 2*r+1, 2*r+1)
			var best matched
			o += cpuTime(func() { best = bestOf(part, cards, headings, x0, y0, int(reach)) })
			if right(best.pose, ship.pose()) {
				matching++
			}
			part.Close()
			for k := range cards {
				cards[k].Close()
			}
		}
		ours, theirs = min(ours, a), min(theirs, o)
	}
	n := float64(len(s.ships))
	report(b, ours/n, theirs/n, found, matching, len(s.ships), len(s.ships))
}

// report reports the least times of a round, and what was found in the last. most is how many ships matchTemplate can find.
func report(b *testing.B, ours, theirs float64, found, matching, ships, most int) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1000*ours, "ms/look")
	b.ReportMetric(1000*theirs, "ms/matchTemplate")
	b.ReportMetric(ours/theirs, "look/matchTemplate")
	b.ReportMetric(float64(found)/float64(ships), "found/ship")
	b.ReportMetric(float64(matching)/float64(most), "matched/template")
}
