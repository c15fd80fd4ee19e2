package web

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/tablesim"
)

// aTable is a calibration of a camera that looks askew, through a lens that bends.
func aTable(width, height int) *calibration.Table {
	return &calibration.Table{Camera: tablesim.DefaultCamera(width, height), Layout: calibration.DefaultLayout(calibration.MatSide,
		calibration.MatSide)}
}

// shade is a smooth pattern on the table that differs everywhere.
func shade(p geom.Point) float64 { return 128 + 60*math.Sin(p.X/70) + 50*math.Cos(p.Y/55+p.X/200) }

// shaded is a camera's picture of that pattern: each pixel shows the point that the
// lens puts there, by the way opposite to the rectifier's.
func shaded(table *calibration.Table, colour bool) vision.Frame {
	w, h := table.Intrinsics.Width, table.Intrinsics.Height
	f := vision.Frame{Gray: image.NewGray(image.Rect(0, 0, w, h)), Seq: 1}
	if colour {
		f.Color = &vision.BGR{Pix: make([]byte, 3*w*h), Width: w, Height: h}
	}
	for y := range h {
		for x := range w {
			p, ok := table.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, 0)
			if !ok {
				continue
			}
			v := shade(p)
			f.Gray.Pix[y*f.Gray.Stride+x] = byte(v)
			if colour {
				copy(f.Color.Pix[3*(y*w+x):], []byte{byte(v / 4), byte(v / 2), byte(v)})
			}
		}
	}
	return f
}

func TestARectifiedPictureShowsEachPlaceWhereItIs(t *testing.T) {
	for name, c := range map[string]struct {
		width, height, out int
		colour             bool
	}{
		"enlarged":               {640, 360, 640, true},
		"as large":               {960, 540, 480, false},
		"many pixels become one": {960, 540, 240, true},
	} {
		t.Run(name, func(t *testing.T) {
			table := aTable(c.width, c.height)
			f := shaded(table, c.colour)
			mat := [2]float64{float64(table.Layout.Width), float64(table.Layout.Height)}
			r := newRectifier(table, mat, c.out)
			picture := r.picture(&f)
			worst, unseen := 0.0, 0
			for i, s := range r.at {
				if s.x < 0 {
					unseen++
					continue
				}
				want := shade(r.point(mat, i%r.width, i/r.width))
				got := float64(picture.Pix[4*i])
				worst = math.Max(worst, math.Abs(got-want))
				if c.colour {
					require.InDelta(t, got/2, float64(picture.Pix[4*i+1]), 2, "green")
					require.InDelta(t, got/4, float64(picture.Pix[4*i+2]), 2, "blue")
				}
			}
			// A grey level is 0.6 mm at the steepest; half a pixel of the camera's picture is less than 3 levels.
			assert.Less(t, worst, 4.0)
			assert.Less(t, unseen, len(r.at)/100)
			t.Logf("%d source pixels a side: worst %.1f grey levels, %d of %d not seen", r.step, worst, unseen, len(r.at))
		})
	}
}

// filmed is a server with a picture and a calibration.
func filmed(t testing.TB) (*live.Hub, *Server, live.State) {
	table := aTable(1280, 720)
	file, hash, err := table.Sealed()
	require.NoError(t, err)
	state := live.State{
		At: time.Unix(1700000000, 0), Health: live.Health{Code: live.OK}, Frame: shaded(table, true),
		Register: live.Register{From: "test", Hash: hash, File: file},
	}
	hub := live.NewHub(state)
	return hub, NewServer(Options{Hub: hub, Choose: func(live.Choice) {}}), state
}

// aPicture gives the pictures of a stream.
func aPicture(t testing.TB, body io.Reader) func() image.Image {
	parts := multipart.NewReader(body, "picture")
	return func() image.Image {
		part, err := parts.NextRawPart()
		require.NoError(t, err)
		picture, err := jpeg.Decode(part)
		require.NoError(t, err)
		return picture
	}
}

func watchVideo(t testing.TB, url string) *http.Response {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestTheVideoIsLiveOrMarkedOrEmpty(t *testing.T) {
	hub, s, state := filmed(t)
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	answer := watchVideo(t, server.URL+"/api/video.mjpg?width=320")
	require.Equal(t, http.StatusOK, answer.StatusCode)
	next := aPicture(t, answer.Body)

	first := next()
	assert.Equal(t, image.Pt(320, 320), first.Bounds().Size())
	red, _, _, _ := first.At(160, 160).RGBA()
	assert.InDelta(t, shade(geom.Point{X: 457.2, Y: 457.2}), float64(red>>8), 8)

	held := state
	table, err := calibration.ParseTableFile(state.Register.File)
	require.NoError(t, err)
	held.Held, held.Hold = true, &live.Held{Number: 1, Register: state.Register, Table: table}
	hub.Publish(held)
	r, g, b, _ := next().At(3, 160).RGBA()
	assert.True(t, r>>8 > 200 && g>>8 > 160 && b>>8 < 140, "a held picture has a mark round it: %d %d %d", r>>8, g>>8, b>>8)

	stale := state
	stale.Health = live.Health{Code: live.Stale, Title: "Old picture"}
	hub.Publish(stale)
	r, g, b, _ = next().At(160, 160).RGBA()
	assert.Zero(t, r>>8+g>>8+b>>8, "an old picture is not shown as the table now")
}

func TestTheVideoIsForFewAndOfFewSizes(t *testing.T) {
	_, s, _ := filmed(t)
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	wrong := watchVideo(t, server.URL+"/api/video.mjpg?width=333")
	sentence, err := io.ReadAll(wrong.Body)
	require.NoError(t, err)
	assert.Contains(t, string(sentence), "expected one of 320, 480, 640 or 960, got ")
	for _, width := range []string{"0", "-320", "641", "99999999999999999999", "x", "320x320"} {
		assert.Equal(t, http.StatusBadRequest, watchVideo(t, server.URL+"/api/video.mjpg?width="+width).StatusCode, width)
	}
	var watching []*http.Response
	for i := range videoClients {
		watching = append(watching, watchVideo(t, fmt.Sprintf("%s/api/video.mjpg?width=%d", server.URL, videoWidths[i%2])))
		require.Equal(t, http.StatusOK, watching[i].StatusCode)
	}
	full := watchVideo(t, server.URL+"/api/video.mjpg")
	assert.Equal(t, http.StatusServiceUnavailable, full.StatusCode)
	assert.NotEmpty(t, full.Header.Get("Retry-After"))
	for _, answer := range watching {
		answer.Body.Close()
	}
	require.Eventually(t, func() bool {
		s.videos.mu.Lock()
		defer s.videos.mu.Unlock()
		return s.videos.clients == 0 && len(s.videos.sizes) == 0
	}, time.Minute, 10*time.Millisecond, "who leaves makes room, and nobody films for nobody")
}

func TestWhoReadsNoVideoHoldsUpNobody(t *testing.T) {
	hub, s, state := filmed(t)
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprint(conn, "GET /api/video.mjpg?width=320 HTTP/1.1\r\nHost: localhost\r\n\r\n") // and reads nothing
	require.NoError(t, err)
	next := aPicture(t, bufio.NewReader(watchVideo(t, server.URL+"/api/video.mjpg?width=320").Body))
	for i := range 10 {
		state.Frame.Seq = uint64(i + 2)
		hub.Publish(state)
		next()
	}
}

func TestWithoutACalibrationThereIsNoVideoFromAbove(t *testing.T) {
	_, s := feedServer(t)
	w := httptest.NewRecorder()
	s.videoMJPEG(w, httptest.NewRequest(http.MethodGet, "/api/video.mjpg", nil))
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.Contains(t, w.Body.String(), "no picture from above")
}

// What one picture of the video costs. Budget: 40 ms at 640 px, under seven times a
// second, and only while someone watches.
func BenchmarkVideoPicture(b *testing.B) {
	for _, size := range [][2]int{{1920, 1080}, {3840, 2160}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			table := aTable(size[0], size[1])
			f := shaded(table, true)
			r := newRectifier(table, [2]float64{914.4, 914.4}, 640)
			for b.Loop() {
				var buf bytes.Buffer
				if err := jpeg.Encode(&buf, r.picture(&f), &jpeg.Options{Quality: videoQuality}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(buf.Len()), "B/picture")
			}
		})
	}
}
