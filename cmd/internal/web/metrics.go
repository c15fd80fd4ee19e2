package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/metrics"
)

// counted counts all requests by status.
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

// countedWriter remembers the written status.
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

// Unwrap returns the wrapped writer for http.ResponseController.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// codes lists every state, so that a monitor also sees the inactive ones.
var codes = []live.Code{live.OK, live.Starting, live.NoCamera, live.NoCalibration, live.Stale, live.Ended, live.Broken, live.Calibrating,
	live.Moved, live.MarkersLost, live.LensChanged, live.Dark, live.Frozen}

// metrics sends the metrics in Prometheus' text format 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	state := s.o.Hub.Newest()
	var b bytes.Buffer
	s.tableMetrics(&b, &state)
	s.pageMetrics(&b)
	metrics.Process(&b)
	for _, more := range s.o.Metrics {
		more(&b)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// tableMetrics writes the metrics of the camera and the table.
func (s *Server) tableMetrics(w io.Writer, state *live.State) {
	metrics.Write(w, "sightline_frames_total", "counter", "Pictures that the camera gave.", float64(state.Figures.Frames))
	metrics.Write(w, "sightline_frames_dropped_total", "counter", "Pictures that came while another was looked at, and were left out.",
		float64(state.Figures.Dropped))
	metrics.Write(w, "sightline_camera_frames_per_second", "gauge", "Rate of the camera's pictures.", state.Figures.FPS)
	metrics.Write(w, "sightline_locating_seconds", "gauge", "Time that the last picture took to locate the ships.",
		state.Figures.Locating.Seconds())
	metrics.Write(w, "sightline_picture_age_seconds", "gauge", "Age of the newest picture when the state was made.",
		state.Figures.Age.Seconds())
	metrics.Write(w, "sightline_view_age_seconds", "gauge", "Age of the state that everyone is shown.",
		max(0, s.o.Now().Sub(state.At).Seconds()))
	metrics.Write(w, "sightline_ships", "gauge", "Ships on the table.", float64(len(state.Located.Scene.Ships)))
	metrics.Write(w, "sightline_registered_total", "counter", "Times that the camera registered itself.",
		float64(state.Register.Times))
	metrics.Write(w, "sightline_markers_in_place", "gauge", "Markers of the mat that are where they were.",
		float64(state.Register.Watch.Seen))
	metrics.Write(w, "sightline_held", "gauge", "1 while a picture is held.", metrics.Bool(state.Hold != nil))
	metrics.Write(w, "sightline_judge_asked", "gauge", "1 while a judge was called for what is held, and has not ruled.",
		metrics.Bool(state.Hold.AwaitsJudge(state.Ruling)))
	metrics.Head(w, "sightline_health", "gauge", "1 for the state that the table is in, 0 for the others.")
	for _, c := range codes {
		metrics.Labelled(w, "sightline_health", "code", string(c), metrics.Bool(state.Health.Code == c))
	}
}

// pageMetrics writes the server's own counters.
func (s *Server) pageMetrics(w io.Writer) {
	n := s.guard.Figures()
	metrics.Head(w, "sightline_http_requests_total", "counter", "Requests answered, by the class of their status.")
	for class := 1; class < len(s.requests); class++ {
		metrics.Labelled(w, "sightline_http_requests_total", "status", fmt.Sprintf("%dxx", class), float64(s.requests[class].Load()))
	}
	metrics.Write(w, "sightline_http_rate_limited_total", "counter", "Requests and tries to pair that were refused for their number.",
		float64(n.Limited))
	metrics.Write(w, "sightline_http_connections_refused_total", "counter", "Connections closed because there were too many.",
		float64(n.ConnectionsRefused))
	metrics.Write(w, "sightline_pairing_wrong_total", "counter", "Wrong pairing codes and judge's secrets.", float64(n.WrongCodes))
	metrics.Write(w, "sightline_sse_clients", "gauge", "Clients that listen to events.", float64(n.Streams))
	metrics.Write(w, "sightline_sse_refused_total", "counter", "Clients that were refused a stream of events.",
		float64(n.StreamsRefused))
	metrics.Write(w, "sightline_sse_resumed_total", "counter", "Clients that came back to a stream of events.",
		float64(n.StreamsResumed))
	metrics.Write(w, "sightline_views_missed_total", "counter", "States that slow clients did not get, because a newer one was there.",
		float64(s.o.Hub.Missed()))
}
