package tablesim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// CameraModel describes how a camera turns light into a picture, in the order of its fields: lens,
// sensor, colour mosaic, tone, sharpening, compression. It replaces the blur and the noise of a
// table's Look. Light is in shares of full scale: at Gain 1 white paper in the middle of the
// picture is at Look.Light. The zero value is a perfect camera that saturates at full scale. A
// CameraModel is a plain value: take a preset (CameraNamed) and change it.
type CameraModel struct {
	Gain float64    // factor of the light: exposure time and amplification; 0: 1
	Tint [3]float64 // red, green and blue: further factors of the light; a 0 stands for 1

	Blur      float64 // sigma of the lens's blur, px, without the pixel's own area
	Bloom     float64 // 0…1: share of the light that scatters in lens and sensor
	BloomWide float64 // sigma of the scattered light, px

	Flicker  float64 // 0…1: amplitude of the lamps' flicker, which a rolling shutter turns into bands; 0: none
	BandRows float64 // period of the bands, rows of the picture
	Drift    float64 // motion of the bands from one picture to the next, rows

	FullWell  float64 // electrons at full scale: photon noise; 0: none
	ReadNoise float64 // sigma as a share of full scale
	Headroom  float64 // light at which a pixel saturates, a share of full scale; 0: 1
	Mosaic    bool    // one colour per pixel (RGGB), the others interpolated (Malvar, He, Cutler)

	LocalTone float64 // 0…1: strength of local tone mapping; 0: none
	LocalWide float64 // sigma of the surroundings, px
	Knee      float64 // light from which the tone curve approaches white; 0 or 1: a hard clip at full scale

	Sharpen     float64 // amplitude of the unsharp mask on the encoded luma; 0: none
	SharpenWide float64 // sigma of the unsharp mask, px

	Quality int // of JPEG, 1…100; 0: not compressed
	Bytes   int // largest size of a picture in bytes, as in a stream of fixed rate (MJPEG): the quality is reduced until it fits; 0: any size
}

// The light that is still distinguished, before and after Gain.
const mostLight = 4

// localWide is the sigma, in px, of the surroundings of local tone mapping where a model has none.
const localWide = 60

// cameraModels are the presets. "render" is the camera of the photorealistic pictures, setting by
// setting; its blur is their 0.64 px plus that of their resampling, so that markers' edges are as
// wide (2.4 to 2.5 px). The others are typical of their class, by data sheets and the known
// behaviour of such cameras; no single product was measured.
var cameraModels = map[string]CameraModel{
	"render": {
		Blur: 0.83, FullWell: 1800, ReadNoise: 0.0015, Headroom: 1.6, Knee: 0.7, Sharpen: 0.35, SharpenWide: 1.2, Quality: 95,
	},
	// A small plastic lens, small pixels, strong sharpening, lamps that flicker, a USB 2 stream.
	"webcam": {
		Tint: [3]float64{1, 0.97, 0.9}, Blur: 0.8, Bloom: 0.04, BloomWide: 8, Flicker: 0.01, BandRows: 360, Drift: 77,
		FullWell: 1200, ReadNoise: 0.004, Headroom: 1.3, Mosaic: true, Knee: 0.65, Sharpen: 0.6, SharpenWide: 1.2, Quality: 75, Bytes: 350_000,
	},
	"good-webcam": {
		Blur: 0.6, Bloom: 0.02, BloomWide: 8, FullWell: 4000, ReadNoise: 0.002, Headroom: 1.5, Mosaic: true,
		Knee: 0.75, Sharpen: 0.35, SharpenWide: 1.2, Quality: 88,
	},
	// IMX708: binned pixels, raw pictures through the pipe.
	"picam3": {
		Blur: 0.6, Bloom: 0.015, BloomWide: 10, FullWell: 6000, ReadNoise: 0.0015, Headroom: 1.6, Mosaic: true,
		Knee: 0.8, Sharpen: 0.45, SharpenWide: 1,
	},
	// Local tone mapping, strong sharpening, a stream over the wireless network.
	"phone": {
		Blur: 0.65, Bloom: 0.02, BloomWide: 12, FullWell: 2500, ReadNoise: 0.002, Headroom: 2, Mosaic: true,
		LocalTone: 0.3, LocalWide: localWide, Knee: 0.6, Sharpen: 0.7, SharpenWide: 1.2, Quality: 80, Bytes: 400_000,
	},
}

// CameraNames lists the presets of CameraNamed in alphabetical order.
func CameraNames() []string { return slices.Sorted(maps.Keys(cameraModels)) }

// CameraNamed returns a preset: "render", "webcam", "good-webcam", "picam3" or "phone".
func CameraNamed(name string) (CameraModel, error) {
	m, ok := cameraModels[name]
	if !ok {
		return m, fmt.Errorf("camera: expected one of %s, got %q", strings.Join(CameraNames(), ", "), name)
	}
	return m, nil
}

// exposed returns the model with its Gain multiplied by the factor.
func (m CameraModel) exposed(factor float64) CameraModel {
	m.Gain = m.gain() * factor
	return m
}

func (m *CameraModel) gain() float64 {
	if m.Gain == 0 {
		return 1
	}
	return m.Gain
}

func (m *CameraModel) headroom() float64 {
	if m.Headroom == 0 {
		return 1
	}
	return m.Headroom
}

// validate reports the first invalid field.
func (m *CameraModel) validate() error {
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	wide := func(v, most float64) bool { return v >= 0 && v <= most }
	for _, c := range []struct {
		ok    bool
		field string
		got   any
	}{
		{m.Gain >= 0 && m.Gain <= 64, "gain: expected 0…64", m.Gain},
		{wide(m.Tint[0], 4) && wide(m.Tint[1], 4) && wide(m.Tint[2], 4), "tint: expected three factors of 0…4", m.Tint},
		{wide(m.Blur, 3), "blur: expected 0…3 px", m.Blur},
		{share(m.Bloom), "bloom: expected 0…1", m.Bloom},
		{m.Bloom == 0 || m.BloomWide >= 1 && m.BloomWide <= 200, "bloom's width: expected 1…200 px", m.BloomWide},
		{share(m.Flicker), "flicker: expected 0…1", m.Flicker},
		{m.Flicker == 0 || m.BandRows >= 2 && m.BandRows < 1e6, "rows of a band: expected 2 or more", m.BandRows},
		{math.Abs(m.Drift) < 1e6, "drift: expected a number of rows", m.Drift},
		{m.FullWell >= 0, "full well: expected 0 or more electrons", m.FullWell},
		{share(m.ReadNoise), "read noise: expected 0…1", m.ReadNoise},
		{wide(m.Headroom, mostLight), "headroom: expected 0…4", m.Headroom},
		{share(m.LocalTone), "local tone: expected 0…1", m.LocalTone},
		{m.LocalTone == 0 || m.LocalWide >= 1 && m.LocalWide <= 400, "local tone's width: expected 1…400 px", m.LocalWide},
		{share(m.Knee), "knee: expected 0…1", m.Knee},
		{wide(m.Sharpen, 4), "sharpening: expected 0…4", m.Sharpen},
		{m.Sharpen == 0 || m.SharpenWide > 0 && m.SharpenWide <= 3, "sharpening's width: expected more than 0 and at most 3 px", m.SharpenWide},
		{m.Quality >= 0 && m.Quality <= 100, "JPEG quality: expected 0…100", m.Quality},
		{m.Bytes >= 0 && (m.Bytes == 0 || m.Quality > 0), "bytes: expected 0 or more, with a JPEG quality", m.Bytes},
	} {
		if !c.ok {
			return fmt.Errorf("tablesim: camera model: %s, got %v", c.field, c.got)
		}
	}
	return nil
}

// tone returns the encoded value, 0…1, of light: the shoulder, then the sRGB curve.
func (m *CameraModel) tone(v float64) float64 {
	if k := m.Knee; k > 0 && k < 1 && v > k {
		v = 1 - (1-k)*math.Exp(-(v-k)/(1-k))
	}
	return srgbEncode(v)
}
