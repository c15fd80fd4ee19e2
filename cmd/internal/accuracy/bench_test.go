package accuracy

import (
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/watch"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/exposure"
	"sightline/vision/locate"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
	"sightline/vision/track"
)

// What a picture costs, as a ratio to one call of the faster of the AprilTag library's
// detector at full resolution and OpenCV's own ArUco detector, on the same picture, on one
// core, in the same run: processor time, the least of the rounds, as the machine is
// shared. Budget: 0.08 for a picture that shows nothing new, 1.2 for a search of the whole
// picture with the answers of all pairs, 0.05 for the light's gauges, once a second.
//
//	make bench BENCH_PKG=./cmd/internal/accuracy
func BenchmarkRatios(b *testing.B) {
	for _, size := range []struct {
		name          string
		width, height int
	}{{"1080p", 1920, 1080}, {"4K", 3840, 2160}} {
		b.Run(size.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			table := tablesim.RandomTable(3, size.width, size.height)
			frame, _, err := table.Render()
			require.NoError(b, err)
			calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
			l, err := locate.New(calibrated, locate.Options{})
			require.NoError(b, err)
			d := benchDetector(b, opencv.MarkerOptions{NoRefine: true})
			quick := benchDetector(b, opencv.MarkerOptions{Decimate: 2})
			still := newSteadyBench(b, l, calibrated, frame)
			peer := arucoTime(b, frame)
			markers := watch.NewMonitor(calibrated, nil).Expected()
			var light exposure.Gauges
			april, register, full, steady, gauges := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
			for b.Loop() {
				april = min(april, processorTime(func() {
					if _, err := d.DetectMarkers(frame.Gray); err != nil {
						b.Fatal(err)
					}
				}))
				register = min(register, processorTime(func() {
					found, err := quick.DetectMarkers(frame.Gray)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := calibration.Register(table.Camera.Intrinsics, table.Layout, vision.Sightings(found)); err != nil {
						b.Fatal(err)
					}
				}))
				full = min(full, processorTime(func() {
					got, err := l.Locate(frame)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := engine.Measure(&got.Scene, engine.Options{}); err != nil {
						b.Fatal(err)
					}
				}))
				steady = min(steady, processorTime(still.look))
				gauges = min(gauges, processorTime(func() {
					light.Next(still.frames[0].Gray)
					if l := light.Look(frame.Gray, markers, &calibrated); l.Edges == 0 {
						b.Fatal("no marker's edge was measured")
					}
				}))
			}
			peer = min(peer, april)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(peer*1000, "ms/peer")
			b.ReportMetric(april/peer, "AprilTag/peer")
			b.ReportMetric(register/peer, "register/peer")
			b.ReportMetric(full*1000, "ms/full")
			b.ReportMetric(full/peer, "full/peer")
			b.ReportMetric(steady*1000, "ms/steady")
			b.ReportMetric(steady/peer, "steady/peer")
			b.ReportMetric(gauges*1000, "ms/gauges")
			b.ReportMetric(gauges/peer, "gauges/peer")
		})
	}
}

// processorTime returns the seconds that this process worked while do ran.
func processorTime(do func()) float64 {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	do()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	return float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9
}

// A steadyBench is a table that rests: pictures that differ by noise alone, looked at as
// the pipeline does.
type steadyBench struct {
	b       testing.TB
	frames  []vision.Frame
	at      time.Time
	steady  *track.ChangeDetector
	tracker *track.Tracker
	n       int
}

func newSteadyBench(b testing.TB, l *locate.Locator, t calibration.Table, f vision.Frame) *steadyBench {
	s := &steadyBench{b: b, at: time.Unix(0, 0), tracker: track.NewTracker(track.TrackerOptions{})}
	for k := range 4 {
		rng := rand.New(rand.NewPCG(uint64(k), 8))
		g := image.NewGray(f.Gray.Rect)
		for i, v := range f.Gray.Pix {
			g.Pix[i] = uint8(min(max(math.Round(float64(v)+1.5*rng.NormFloat64()), 0), 255))
		}
		s.frames = append(s.frames, vision.Frame{Gray: g, Seq: uint64(k + 1)})
	}
	var err error
	s.steady, err = track.NewChangeDetector(t, track.ChangeOptions{Every: 1000 * time.Hour})
	require.NoError(b, err)
	for i := range 20 {
		f := s.next()
		if s.steady.Unchanged(f.Gray, s.at) {
			return s
		}
		require.Less(b, i, 19, "never steady: %+v", s.steady.Change())
		found, err := l.Locate(f)
		require.NoError(b, err)
		tracked := s.tracker.Update(found, nil, nil)
		s.steady.Searched(f.Gray, s.at, &tracked.Located, tracked.AtRest())
	}
	return s
}

func (s *steadyBench) next() vision.Frame {
	s.n++
	s.at = s.at.Add(100 * time.Millisecond)
	f := s.frames[s.n%len(s.frames)]
	f.Captured = s.at
	return f
}

func (s *steadyBench) look() {
	f := s.next()
	if !s.steady.Unchanged(f.Gray, s.at) {
		s.b.Fatalf("it does not rest: %+v", s.steady.Change())
	}
	s.tracker.Rest(f.Captured, f.Seq)
}

// What the parts of a search cost in wall time; BenchmarkRatios has what counts.
func BenchmarkFrameToAnswers(b *testing.B) {
	for _, size := range []struct {
		name          string
		width, height int
	}{{"1080p", 1920, 1080}, {"4K", 3840, 2160}} {
		table := tablesim.RandomTable(3, size.width, size.height)
		frame, _, err := table.Render()
		require.NoError(b, err)
		lens, layout := table.Camera.Intrinsics, table.Layout

		b.Run(size.name+"/AprilTag", func(b *testing.B) {
			d := benchDetector(b, opencv.MarkerOptions{NoRefine: true})
			for b.Loop() {
				if _, err := d.DetectMarkers(frame.Gray); err != nil {
					b.Fatal(err)
				}
			}
		})
		d := benchDetector(b, opencv.MarkerOptions{Decimate: 2})
		look := func() calibration.Table {
			found, err := d.DetectMarkers(frame.Gray)
			require.NoError(b, err)
			t, err := calibration.Register(lens, layout, vision.Sightings(found))
			require.NoError(b, err)
			return t
		}
		l, err := locate.New(look(), locate.Options{})
		require.NoError(b, err)
		answer := func(b *testing.B) {
			got, err := l.Locate(frame)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := engine.Measure(&got.Scene, engine.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(size.name+"/Register", func(b *testing.B) {
			for b.Loop() {
				look()
			}
		})
		b.Run(size.name+"/LocateAndMeasure", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				answer(b)
			}
		})
		b.Run(size.name+"/Everything", func(b *testing.B) {
			for b.Loop() {
				t := look()
				if l, err = locate.New(t, locate.Options{}); err != nil {
					b.Fatal(err)
				}
				answer(b)
			}
		})
	}
}

// arucoTime is the processor time, in seconds, of cv2.aruco.detectMarkers, which OpenCV
// 4.6 offers to Go only through its contrib modules, by the system's Python on one thread.
func arucoTime(b *testing.B, frame vision.Frame) float64 {
	b.Helper()
	const script = `
import cv2, sys, time
cv2.setNumThreads(1)
g = cv2.imread(sys.argv[1], cv2.IMREAD_GRAYSCALE)
a = cv2.aruco
if hasattr(a, "Dictionary_get"):
    d = a.Dictionary_get(a.DICT_APRILTAG_36h11)
    detect = lambda: a.detectMarkers(g, d)
else:
    detector = a.ArucoDetector(a.getPredefinedDictionary(a.DICT_APRILTAG_36h11))
    detect = lambda: detector.detectMarkers(g)
detect()
least = 1e9
for _ in range(int(sys.argv[2])):
    t = time.process_time()
    detect()
    least = min(least, time.process_time() - t)
print(least)
`
	name := filepath.Join(b.TempDir(), "frame.png")
	f, err := os.Create(name)
	require.NoError(b, err)
	require.NoError(b, png.Encode(f, frame.Gray))
	require.NoError(b, f.Close())
	out, err := exec.Command("/usr/bin/python3", "-c", script, name, "15").Output()
	if err != nil {
		b.Skip("the system's Python has no cv2.aruco (package python3-opencv)")
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	require.NoError(b, err)
	return seconds
}

func benchDetector(b *testing.B, o opencv.MarkerOptions) *opencv.MarkerDetector {
	b.Helper()
	d, err := opencv.NewMarkerDetector(o)
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { d.Close() })
	return d
}
