package lens

import (
	"time"

	"sightline/engine/geom"
)

// GuideOptions sets a Guide's limits. The zero value of each means its default.
type GuideOptions struct {
	// StillFor is how long the board must rest before a view is taken: 0.4 s by default.
	StillFor time.Duration
	// MaxMotion is the largest rms motion of a resting board's corners, as a share of the
	// picture's width: 0.0012, 1.5 px at 1280. Handheld boards leaned on something reach
	// it; during an exposure of 30 ms it is a tenth of a pixel.
	MaxMotion float64
	// MaxEdge is the widest step from black to white that counts as sharp, as a share of
	// the picture's width: 0.004, 5 px at 1280.
	MaxEdge float64
	// MinContrast is the least step from black to white in grey levels: 40.
	MinContrast float64
	// MinViews is the least number of views that can be enough: 10.
	MinViews int
	// MaxViews is the number of views after which the guide stops asking for a smaller
	// sigma: 30.
	MaxViews int
	// MaxMatSigma is the largest accepted MatSigma: 0.06 mm, a fifth of the other errors
	// of a good table.
	MaxMatSigma geom.Length
	// MaxFocalSigma is the largest accepted relative sigma of the focal lengths: 0.0015,
	// which moves a base's top by less than 0.01 mm at the mat's corner.
	MaxFocalSigma float64
}

func (o GuideOptions) withDefaults() GuideOptions {
	def := func(v *float64, d float64) {
		if !(*v > 0) {
			*v = d
		}
	}
	if o.StillFor <= 0 {
		o.StillFor = 400 * time.Millisecond
	}
	def(&o.MaxMotion, 0.0012)
	def(&o.MaxEdge, 0.004)
	def(&o.MinContrast, 40)
	if o.MinViews < MinViews {
		o.MinViews = 10
	}
	if o.MaxViews < o.MinViews {
		o.MaxViews = max(30, o.MinViews)
	}
	def((*float64)(&o.MaxMatSigma), 0.06)
	def(&o.MaxFocalSigma, 0.0015)
	return o
}
