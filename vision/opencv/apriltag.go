//go:build opencv

package opencv

/*
#cgo pkg-config: apriltag
#include <malloc.h>
#include <stdlib.h>
#include <apriltag/apriltag.h>
#include <apriltag/tag36h11.h>

// A detection as plain values, so that nothing of the library's memory is kept.
typedef struct {
	int id, hamming;
	double margin;
	double p[4][2];
} sl_tag;

// sl_detect looks for tags in a grey picture and copies at most max of them out.
// The library only reads the picture (quad_sigma is 0; a blur would be in place).
static int sl_detect(apriltag_detector_t *td, uint8_t *pix, int w, int h, int stride, sl_tag *out, int max) {
	image_u8_t im = { .width = w, .height = h, .stride = stride, .buf = pix };
	zarray_t *found = apriltag_detector_detect(td, &im);
	int n = 0;
	for (int i = 0; i < zarray_size(found) && n < max; i++) {
		apriltag_detection_t *d;
		zarray_get(found, i, &d);
		sl_tag *o = &out[n++];
		o->id = d->id;
		o->hamming = d->hamming;
		o->margin = d->decision_margin;
		for (int k = 0; k < 4; k++) {
			o->p[k][0] = d->p[k][0];
			o->p[k][1] = d->p[k][1];
		}
	}
	apriltag_detections_destroy(found);
	return n;
}

// sl_trim gives back to the system what the C library keeps of memory that was freed.
static void sl_trim(void) {
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

// sl_picture copies the library's own picture of a tag into out, side × side
// bytes, and returns its side; 0 when it does not fit.
static int sl_picture(apriltag_family_t *tf, int id, uint8_t *out, int side) {
	if (id < 0 || (uint32_t)id >= tf->ncodes)
		return 0;
	image_u8_t *im = apriltag_to_image(tf, id);
	int s = im->width;
	if (s <= side)
		for (int y = 0; y < s; y++)
			for (int x = 0; x < s; x++)
				out[y*s+x] = im->buf[y*im->stride+x];
	else
		s = 0;
	free(im->buf); // image_u8_destroy is not in the shared library
	free(im);
	return s;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"image"
	"sync"
	"time"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
)

var _ vision.MarkerDetector = (*MarkerDetector)(nil)

// maxTags is the largest number of tags per picture. A mat has eight.
const maxTags = 256

// The sizes of pictures that the library accepts. The smallest readable tag is far larger than
// minSide (thresholding works on tiles of four pixels and is undefined below one tile). Above
// maxSide the library aborts the process.
const (
	minSide = 16
	maxSide = 32767
)

// trimAfter is how long no detector must be in use before the memory of the last uses is returned
// to the system. Otherwise glibc keeps some 45 MB for each thread that ever searched a picture of 2
// Mpx. Returning it after each picture made every search a tenth slower
// (docs/measurements/house.md).
const trimAfter = time.Second

// trimming returns the memory trimAfter its last Reset.
var trimming = sync.OnceValue(func() *time.Timer { return time.AfterFunc(trimAfter, func() { C.sl_trim() }) })

// MarkerDetector finds AprilTags of family 36h11 with the AprilTag 3 library, in one thread. Its
// methods may be called from any goroutine, one at a time.
type MarkerDetector struct {
	o MarkerOptions

	mu     sync.Mutex // guards all below
	family *C.apriltag_family_t
	td     *C.apriltag_detector_t
	tags   [maxTags]C.sl_tag
}

// NewMarkerDetector returns a detector, which its owner must Close.
func NewMarkerDetector(o MarkerOptions) (*MarkerDetector, error) {
	o = o.withDefaults()
	family := C.tag36h11_create()
	if family == nil {
		return nil, errors.New("opencv: new marker detector: the AprilTag library could not make family 36h11")
	}
	td := C.apriltag_detector_create()
	if td == nil {
		C.tag36h11_destroy(family)
		return nil, errors.New("opencv: new marker detector: the AprilTag library could not make a detector")
	}
	// Correcting more than one bit costs memory and start time, and such tags are never accepted.
	C.apriltag_detector_add_family_bits(td, family, C.int(min(o.MaxHamming, 2)))
	td.nthreads = 1
	td.quad_decimate = C.float(o.Decimate)
	td.quad_sigma = 0
	td.refine_edges = true
	return &MarkerDetector{o: o, family: family, td: td}, nil
}

// Close frees the library's memory. Afterwards DetectMarkers returns an error. Closing twice is
// harmless.
func (d *MarkerDetector) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.td != nil {
		C.apriltag_detector_destroy(d.td)
		C.tag36h11_destroy(d.family)
		d.td, d.family = nil, nil
	}
	return nil
}

// DetectMarkers finds the tags in a grey picture of any stride. It implements
// vision.MarkerDetector: corners in the order top left, top right, bottom right,
// bottom left of the print, in the program's pixel convention.
func (d *MarkerDetector) DetectMarkers(g *image.Gray) ([]vision.Detection, error) {
	if g == nil {
		return nil, errors.New("opencv: detect markers: no picture")
	}
	b := g.Bounds()
	w, h := b.Dx(), b.Dy()
	if w > maxSide || h > maxSide {
		return nil, fmt.Errorf("opencv: detect markers: picture of %d×%d is too large, the limit is %d", w, h, maxSide)
	}
	if w < minSide || h < minSide {
		return nil, nil
	}
	if need := (h-1)*g.Stride + w; g.Stride < w || len(g.Pix) < need {
		return nil, fmt.Errorf("opencv: detect markers: picture of %d×%d with stride %d needs %d bytes, has %d", w, h, g.Stride, need, len(g.Pix))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.td == nil {
		return nil, errors.New("opencv: detect markers: the detector is closed")
	}
	n := C.sl_detect(d.td, (*C.uint8_t)(&g.Pix[0]), C.int(w), C.int(h), C.int(g.Stride), &d.tags[0], maxTags)
	trimming().Reset(trimAfter)
	var out []vision.Detection
	for _, t := range d.tags[:n] {
		if int(t.hamming) > d.o.MaxHamming || float64(t.margin) < d.o.MinMargin {
			continue
		}
		det := vision.Detection{ID: int(t.id), Hamming: int(t.hamming), Margin: float64(t.margin)}
		for i := range det.Corners {
			// The library counts from the print's bottom left counter-clockwise, and
			// from the corner of the top left pixel.
			p := t.p[3-i]
			det.Corners[i] = geom.Pixel{
				X: float64(p[0]) - 0.5 + float64(b.Min.X),
				Y: float64(p[1]) - 0.5 + float64(b.Min.Y),
			}
		}
		if !d.o.NoRefine {
			if fit, ok := fiducial.RefineMarker(g, det.Corners); ok {
				det.Corners = fit
			}
		}
		out = append(out, det)
	}
	return out, nil
}

// tagPicture returns the library's own picture of a tag, row by row, with its
// white border. It is what the tests compare calibration.TagWhite with.
func tagPicture(id int) (pix []byte, side int, err error) {
	family := C.tag36h11_create()
	defer C.tag36h11_destroy(family)
	pix = make([]byte, 16*16)
	side = int(C.sl_picture(family, C.int(id), (*C.uint8_t)(&pix[0]), 16))
	if side == 0 {
		return nil, 0, fmt.Errorf("opencv: no picture of tag 36h11 id %d", id)
	}
	return pix[:side*side], side, nil
}

// withDefaults fills in what the zero value leaves open.
func (o MarkerOptions) withDefaults() MarkerOptions {
	if o.Decimate < 1 {
		o.Decimate = 1
	}
	switch {
	case o.MaxHamming == 0:
		o.MaxHamming = 1
	case o.MaxHamming < 0:
		o.MaxHamming = 0
	}
	if o.MinMargin == 0 {
		o.MinMargin = DefaultMinMargin
	}
	return o
}
