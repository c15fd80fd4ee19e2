package hardware_test

import (
	"bytes"
	"errors"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"periph.io/x/conn/v3/spi/spitest"

	"sightline/hardware"
)

func strip(lights int, sides ...hardware.Side) hardware.StripLayout {
	return hardware.StripLayout{Lights: lights, Sides: sides, WidthMM: 900, HeightMM: 900}
}

func TestLightsPointAtPlaces(t *testing.T) {
	near := strip(90, hardware.Near) // 10 mm apart, the first at 5 mm
	round := strip(360, hardware.Near, hardware.Right, hardware.Far, hardware.Left)
	for name, c := range map[string]struct {
		layout hardware.StripLayout
		x, y   float64
		want   []int
	}{
		"the middle of the near edge": {near, 450, 100, []int{43, 44, 45, 46}},
		"the left end":                {near, 0, 500, []int{0, 1}},
		"the right end":               {near, 900, 500, []int{88, 89}},
		"beyond the mat: the end":     {near, 2000, 500, []int{88, 89}},
		"the cable at the other end": {hardware.StripLayout{Lights: 90, Sides: near.Sides, Reversed: true, WidthMM: 900, HeightMM: 900},
			0, 0, []int{88, 89}},
		"lights far apart: the nearest":      {strip(3, hardware.Near), 440, 0, []int{1}},
		"the far side runs to the left":      {strip(90, hardware.Far), 100, 0, []int{78, 79, 80, 81}},
		"all round: on every side":           {round, 100, 200, []int{8, 9, 10, 11, 108, 109, 110, 111, 258, 259, 260, 261, 338, 339, 340, 341}},
		"no strip":                           {hardware.StripLayout{}, 1, 1, nil},
		"no place":                           {near, math.NaN(), 0, nil},
		"two sides, a corner: each its own":  {strip(180, hardware.Near, hardware.Right), 900, 0, []int{88, 89, 90, 91}},
		"a strip without sides is not there": {strip(10), 1, 1, nil},
	} {
		assert.Equal(t, c.want, c.layout.LightsAt(c.x, c.y), name)
	}
}

// The lights that point at a place are exactly those next to it, by the plain way:
// where every light lies.
func TestTheLightsNextToThePlaceAreLit(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 3000 {
		l := strip(10+r.IntN(300), []hardware.Side{hardware.Near, hardware.Right, hardware.Far, hardware.Left}[:1+r.IntN(4)]...)
		x, y := 20+860*r.Float64(), 20+860*r.Float64()
		pitch := 900 * float64(len(l.Sides)) / float64(l.Lights)
		var beside []int
		for i := range l.Lights {
			along := (float64(i) + 0.5) * pitch
			side := int(along / 900)
			along -= 900 * float64(side)
			place := []float64{x, y, 900 - x, 900 - y}[side]
			if math.Abs(along-place) < 20 {
				beside = append(beside, i)
			}
		}
		got := l.LightsAt(x, y)
		if pitch < 40 {
			require.Equal(t, beside, got, "%+v at %.1f, %.1f", l, x, y)
		} else {
			require.NotEmpty(t, got)
		}
	}
}

func TestAttackerAndTargetInLineAlternate(t *testing.T) {
	l := strip(90, hardware.Near)
	colors := l.Colors([]hardware.Pointer{{XMM: 450, YMM: 100}, {XMM: 450, YMM: 300, Target: true}})
	seen := map[color.NRGBA]int{}
	for _, c := range colors[43:47] {
		seen[c]++
	}
	assert.Len(t, seen, 2)
	assert.Equal(t, colors[43], colors[45])
	assert.Equal(t, color.NRGBA{A: 255}, colors[42])
}

// port records what a strip is sent.
type port struct {
	*spitest.RecordRaw
	closed bool
}

func (p *port) Close() error {
	p.closed = true
	return nil
}

func TestTheBytesOfAnAPA102(t *testing.T) {
	var sent bytes.Buffer
	s, err := hardware.NewStrip(&port{RecordRaw: spitest.NewRecordRaw(&sent)}, "apa102", 1, strip(3, hardware.Near))
	require.NoError(t, err)
	require.NoError(t, s.Show([]hardware.Pointer{{XMM: 450}}))
	// Start frame of 32 zero bits, then per light 111 and five bits of current, blue,
	// green, red (data sheet of the APA102).
	b := sent.Bytes()
	require.Greater(t, len(b), 16)
	assert.Equal(t, []byte{0, 0, 0, 0}, b[:4])
	for i, want := range [][3]byte{{0, 0, 0}, {60, 255, 0}, {0, 0, 0}} {
		light := b[4+4*i : 8+4*i]
		assert.Equal(t, byte(0xE0), light[0]&0xE0, "light %d", i)
		assert.Equal(t, want[:], light[1:], "light %d", i)
	}
}

func TestTheBytesOfAWS2812(t *testing.T) {
	var sent bytes.Buffer
	s, err := hardware.NewStrip(&port{RecordRaw: spitest.NewRecordRaw(&sent)}, "ws2812", 0.5, strip(3, hardware.Near))
	require.NoError(t, err)
	require.NoError(t, s.Show([]hardware.Pointer{{XMM: 450, Target: true}}))
	// At 2.5 MHz a bit is four: 1000 for 0 (0.4 µs high), 1110 or 1100 for 1; the order is
	// green, red, blue, the highest bit first.
	bits := ""
	for _, v := range sent.Bytes()[3 : 3+3*12] {
		for _, half := range []byte{v >> 4, v & 15} {
			bits += map[byte]string{8: "0", 12: "1", 14: "1"}[half]
		}
	}
	require.Len(t, bits, 3*24, "%x", sent.Bytes())
	value := func(s string) (v int) {
		for _, c := range s {
			v = 2*v + int(c-'0')
		}
		return v
	}
	assert.Zero(t, value(bits[:24]))
	assert.Equal(t, []int{10, 75, 0}, []int{value(bits[24:32]), value(bits[32:40]), value(bits[40:48])}, "half of the target's colour")
	assert.Zero(t, value(bits[48:]))
}

func TestAStripOfAnotherKindIsRefusedAndItsPortClosed(t *testing.T) {
	p := &port{RecordRaw: spitest.NewRecordRaw(&bytes.Buffer{})}
	_, err := hardware.NewStrip(p, "neon", 1, strip(3, hardware.Near))
	require.ErrorContains(t, err, "expected ws2812 or apa102")
	assert.True(t, p.closed)
}

func TestSides(t *testing.T) {
	for i, name := range []string{"near", "right", "far", "left"} {
		s, err := hardware.ParseSide(name)
		require.NoError(t, err)
		assert.Equal(t, hardware.Side(i), s)
	}
	_, err := hardware.ParseSide("top")
	assert.ErrorContains(t, err, "expected near, right, far or left")
}

func TestTheStripFollowsTheChosenShipsComesBackAndEndsDark(t *testing.T) {
	var sent bytes.Buffer
	var broken error
	now, opened := time.Unix(1000, 0), 0
	b := hardware.NewBoard(hardware.Parts{
		Name: "strip", Now: func() time.Time { return now }, Log: discard(),
		Strip: func() (*hardware.Strip, error) {
			opened++
			if broken != nil {
				return nil, broken
			}
			return hardware.NewStrip(&port{RecordRaw: spitest.NewRecordRaw(&sent)}, "apa102", 1, strip(3, hardware.Near))
		},
	})
	at := func(x float64) hardware.State {
		return pair(func(s *hardware.State) { s.Pointers = []hardware.Pointer{{XMM: x}} })
	}
	shown := func() string {
		text := ""
		for i := range 3 {
			text += map[bool]string{true: "#", false: "."}[sent.Bytes()[4+4*i+2] > 0]
		}
		sent.Reset()
		return text
	}
	broken = errors.New("no such file")
	require.ErrorContains(t, b.Show(at(100)), "strip: no such file")
	require.NoError(t, b.Show(at(100)), "said once, and not tried every time")
	assert.Equal(t, 1, opened)
	assert.Contains(t, b.String(), "strip: no such file")

	broken, now = nil, now.Add(time.Second)
	require.NoError(t, b.Show(at(100)))
	assert.Equal(t, "#..", shown())
	require.NoError(t, b.Show(at(100)))
	assert.Zero(t, sent.Len(), "nothing changed")
	require.NoError(t, b.Show(at(800)))
	assert.Equal(t, "..#", shown())
	now = now.Add(2 * time.Second)
	require.NoError(t, b.Show(at(800)))
	assert.Equal(t, "..#", shown(), "again now and then: it may have lost its power")
	require.NoError(t, b.Halt())
	assert.Equal(t, "...", shown())
}
