package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// emptyTable renders the mat with its markers.
func emptyTable(tb testing.TB, width, height int) vision.Frame {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	table := &tablesim.Table{
		Camera: tablesim.DefaultCamera(width, height), Layout: layout, Look: tablesim.DefaultLook(), Seed: 3,
		Scene: engine.Scene{MatWidth: layout.Width, MatHeight: layout.Height},
	}
	f, _, err := table.Render()
	require.NoError(tb, err)
	return f
}

// detectorFor is the detector; without OpenCV the test is skipped.
func detectorFor(tb testing.TB) *opencv.MarkerDetector {
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		tb.Skip(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

// What the watch costs in every picture: finding all eight markers where they are
// expected. Budget: a tenth of the detector's search of the same picture, measured
// in the same run ("share"). On the machine of docs/accuracy.md it is 0.05 at 1080p
// and 0.01 at 4K (10 ms in both); the watch's own arithmetic is 0.03 ms (BenchmarkMonitor of calibration/watch).
func BenchmarkTrackMarkers(b *testing.B) {
	for _, size := range [][2]int{{1920, 1080}, {3840, 2160}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			f := emptyTable(b, size[0], size[1])
			d := detectorFor(b)
			found, err := d.DetectMarkers(f.Gray)
			require.NoError(b, err)
			expected := vision.Sightings(found)
			require.Len(b, expected, 8)
			var tracking, searching time.Duration
			for b.Loop() {
				start := time.Now()
				seen := fiducial.TrackMarkers(f.Gray, expected)
				tracking += time.Since(start)
				require.Len(b, seen, 8)
				start = time.Now()
				_, err := d.DetectMarkers(f.Gray)
				searching += time.Since(start)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(tracking.Microseconds())/float64(b.N)/1000, "ms/track")
			b.ReportMetric(float64(searching.Microseconds())/float64(b.N)/1000, "ms/search")
			b.ReportMetric(tracking.Seconds()/searching.Seconds(), "share")
			require.Less(b, tracking.Seconds(), 0.1*searching.Seconds())
		})
	}
}
