package pipeline

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/racetest"
	"sightline/engine/geom"
	"sightline/vision"
)

// A calibration file answers nothing before the picture confirms that the camera stands where it puts it, and what was
// confirmed holds while a hand passes.
func TestACameraAnswersOnlyWhereItsPlaceIsConfirmed(t *testing.T) {
	racetest.Skip(t)
	const yes, no = live.OK, live.MarkersLost
	some := func(b *bench, shift float64, ids ...int) { b.camera, b.showing = overhead(shift), ids; b.quiet(30) }
	cover := func(b *bench, shift float64, pictures int) {
		b.quiet(20)
		b.hidden, b.camera = 8, overhead(shift)
		b.quiet(pictures)
	}
	for name, c := range map[string]struct {
		withoutOpenCV bool
		madeFrom      []int // nil: all markers
		sees          func(*bench)
		code          live.Code
		says          string
	}{
		"all markers covered": {sees: func(b *bench) { b.hidden = 8; b.quiet(30) }, code: no, says: "0 of 8 markers are usable"},
		"and the camera moved": {sees: func(b *bench) {
			b.hidden, b.camera = 8, overhead(11)
			b.quiet(30)
		}, code: no, says: "table.json"},
		"three in place":            {sees: func(b *bench) { some(b, 0, 0, 4, 7) }, code: no, says: "only 3 markers agree"},
		"four in place":             {sees: func(b *bench) { b.showing = []int{0, 3, 5, 7}; b.quiet(2) }, code: yes},
		"the file's three in place": {madeFrom: []int{0, 3, 7}, sees: func(b *bench) { some(b, 0, 0, 3, 7) }, code: yes},
		"two of the file's three":   {madeFrom: []int{0, 3, 7}, sees: func(b *bench) { some(b, 0, 0, 7) }, code: no, says: "2 of 8 markers"},
		"all in place":              {sees: func(b *bench) { b.quiet(2) }, code: yes},
		"moved, all seen":           {sees: func(b *bench) { b.camera = overhead(4); b.quiet(20) }, code: yes},
		"moved a little, four seen": {sees: func(b *bench) { some(b, 0.9, 0, 1, 2, 3) }, code: no, says: "which they know to"},
		"then all are seen": {sees: func(b *bench) {
			b.camera, b.showing = overhead(0.9), []int{0, 1, 2, 3}
			b.quiet(30)
			b.showing = nil
			b.quiet(20)
		}, code: yes},
		"a hand passes after it":       {sees: func(b *bench) { cover(b, 0, 5) }, code: yes},
		"a hand rests on all after it": {sees: func(b *bench) { cover(b, 0, 15) }, code: no},
		"it moves under the hand":      {sees: func(b *bench) { cover(b, 11, 15) }, code: no},
		"and the hand is taken away": {sees: func(b *bench) {
			b.quiet(20)
			b.hidden, b.camera = 8, overhead(11)
			b.quiet(15)
			b.hidden = 0
			b.quiet(20)
		}, code: yes},
		"another picture size, covered": {sees: func(b *bench) {
			b.quiet(20)
			b.hidden = 8
			smaller(b)
			b.quiet(20)
		}, code: no, says: "table.json"},
		"without OpenCV, in place": {withoutOpenCV: true, sees: func(b *bench) { b.quiet(2) }, code: yes},
		"without OpenCV, moved a little": {withoutOpenCV: true, sees: func(b *bench) {
			b.camera = overhead(2.5)
			b.quiet(20)
		}, code: yes},
		"without OpenCV, moved far": {withoutOpenCV: true, sees: func(b *bench) {
			b.camera = overhead(11)
			b.quiet(20)
		}, code: no, says: "0 of 8 markers"},
	} {
		b := newBench(t, func(_ *bench, o *benchParts) {
			seen, err := (&bench{camera: overhead(0), showing: c.madeFrom}).DetectMarkers(nil)
			require.NoError(t, err)
			table, err := calibration.Register(overhead(0).Intrinsics, o.Layout, vision.Sightings(seen))
			require.NoError(t, err)
			o.File = CalibrationFile{Table: &table, Name: "table.json"}
			if c.withoutOpenCV {
				o.Markers = nil
			}
		})
		c.sees(b)
		v := b.picture(tenth)
		assert.Equal(t, c.code, v.Health.Code, "%s: %+v", name, v.Health)
		assert.Equal(t, c.code == yes, v.Pair != nil, name)
		assert.Contains(t, v.Health.Detail, c.says, name)
		if c.code != yes {
			assert.NotEmpty(t, v.Health.Advice, name)
			continue
		}
		middle := geom.Point{X: 457.2, Y: 457.2}
		px, _ := b.camera.PixelOf(middle, 0)
		p, _ := b.pipeline.registration.Table().PointAt(px, 0)
		assert.Less(t, float64(p.Distance(middle)), 0.5, "%s: what answers stands where the camera is", name)
	}
}

// smaller makes the pictures half as large.
func smaller(b *bench) {
	b.size = image.Pt(640, 360)
	b.camera.Width, b.camera.Height, b.camera.Fx, b.camera.Fy, b.camera.Cx, b.camera.Cy = 640, 360, 350, 350, 319.5, 179.5
}
