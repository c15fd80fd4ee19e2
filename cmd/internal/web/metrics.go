package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"sightline/cmd/internal/live"
)

// counted counts every request by its status.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &countedWriter{ResponseWriter: w}
		defer func() {
			status := c.status
			if status == 0 {
				status = http.StatusOK
			}
			if class := status / 100; class < len(s.requests) {
				s.requests[class].Add(1)
			}
		}()
		next.ServeHTTP(c, r)
	})
}

// countedWriter remembers the status that is written.
type countedWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *countedWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets an http.ResponseController reach what is below.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// metric writes one metric with its help and type, in Prometheus' text format.
func metric(w io.Writer, name, kind, help string, value float64) {
	metricHead(w, name, kind, help)
	fmt.Fprintf(w, "%s %s\n", name, figure(value))
}

func metricHead(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// figure writes a number as Prometheus reads it.
func figure(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// codes lists every state, so that a monitor sees those too that are not now.
var codes = []live.Code{live.OK, live.Starting, live.NoCamera, live.NoCalibration, live.Stale, live.Ended, live.Broken, live.Calibrating,
	live.Moved, live.MarkersLost, live.LensChanged, live.Dark, live.Frozen}

// metrics answers in Prometheus' text format 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	state := s.o.Hub.Newest()
	var b bytes.Buffer
	s.tableMetrics(&b, &state)
	s.pageMetrics(&b)
	processMetrics(&b)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// tableMetrics is what is known of the camera and the table.
func (s *Server) tableMetrics(w io.Writer, state *live.State) {
	metric(w, "sightline_frames_total", "counter", "Pictures that the camera gave.", float64(state.Figures.Frames))
	metric(w, "sightline_frames_dropped_total", "counter", "Pictures that came while another was looked at, and were left out.",
		float64(state.Figures.Dropped))
	metric(w, "sightline_camera_frames_per_second", "gauge", "Rate of the camera's pictures.", state.Figures.FPS)
	metric(w, "sightline_locating_seconds", "gauge", "Time that the last picture took to locate the ships.", state.Figures.Locating.Seconds())
	metric(w, "sightline_picture_age_seconds", "gauge", "Age of the newest picture when the state was made.", state.Figures.Age.Seconds())
	metric(w, "sightline_view_age_seconds", "gauge", "Age of the state that everyone is shown.", max(0, s.o.Now().Sub(state.At).Seconds()))
	metric(w, "sightline_ships", "gauge", "Ships on the table.", float64(len(state.Located.Scene.Ships)))
	metric(w, "sightline_registered_total", "counter", "Times that the camera registered itself.", float64(state.Register.Times))
	metric(w, "sightline_markers_in_place", "gauge", "Markers of the mat that are where they were.", float64(state.Register.Watch.Seen))
	metricHead(w, "sightline_health", "gauge", "1 for the state that the table is in, 0 for the others.")
	for _, c := range codes {
		is := 0
		if state.Health.Code == c {
			is = 1
		}
		fmt.Fprintf(w, "sightline_health{code=%q} %d\n", string(c), is)
	}
}

// pageMetrics is what the server counts.
func (s *Server) pageMetrics(w io.Writer) {
	n := s.guard.Figures()
	metricHead(w, "sightline_http_requests_total", "counter", "Requests answered, by the class of their status.")
	for class := 1; class < len(s.requests); class++ {
		fmt.Fprintf(w, "sightline_http_requests_total{status=\"%dxx\"} %d\n", class, s.requests[class].Load())
	}
	metric(w, "sightline_http_rate_limited_total", "counter", "Requests and tries to pair that were refused for their number.",
		float64(n.Limited))
	metric(w, "sightline_http_connections_refused_total", "counter", "Connections closed because there were too many.",
		float64(n.ConnectionsRefused))
	metric(w, "sightline_pairing_wrong_total", "counter", "Wrong pairing codes and judge's secrets.", float64(n.WrongCodes))
	metric(w, "sightline_sse_clients", "gauge", "Clients that listen to events.", float64(n.Streams))
	metric(w, "sightline_sse_refused_total", "counter", "Clients that were refused a stream of events.",
		float64(n.StreamsRefused))
	metric(w, "sightline_sse_resumed_total", "counter", "Clients that came back to a stream of events.",
		float64(n.StreamsResumed))
	metric(w, "sightline_views_missed_total", "counter", "States that slow clients did not get, because a newer one was there.",
		float64(s.o.Hub.Missed()))
}

// processMetrics is what the program takes of the machine.
func processMetrics(w io.Writer) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples)
	value := func(i int) float64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return float64(samples[i].Value.Uint64())
	}
	metric(w, "go_goroutines", "gauge", "Goroutines that there are.", float64(runtime.NumGoroutine()))
	metric(w, "go_memstats_heap_alloc_bytes", "gauge", "Bytes of heap objects.", value(0))
	metric(w, "go_memstats_sys_bytes", "gauge", "Bytes that the Go runtime holds; OpenCV's are not among them.", value(1))
	if resident, ok := residentBytes("/proc/self/statm"); ok {
		metric(w, "process_resident_memory_bytes", "gauge", "Resident memory of the whole process.", resident)
	}
	metric(w, "process_uptime_seconds", "gauge", "Time since the program started.", time.Since(started).Seconds())
}

// started is when the program did.
var started = time.Now()

// residentBytes reads Linux's /proc/self/statm.
func residentBytes(path string) (float64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[1], 10, 50)
	if err != nil {
		return 0, false
	}
	return float64(pages) * float64(os.Getpagesize()), true
}
