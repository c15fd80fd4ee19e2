//go:build browser

package web_test

import (
	"net/http/httptest"
	"testing"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

// obstaclePages are the states of the page that learns obstacles.
func obstaclePages() []pageCase {
	serve := func(change func(*live.LearnState)) func(t *testing.T) *httptest.Server {
		return func(t *testing.T) *httptest.Server {
			f := newFakeTable(t)
			l := &fakeLearning{state: taught()}
			change(&l.state)
			f.options = func(o *web.Options) { o.Learning = l }
			f.change(func(state *live.State) {
				if len(l.state.Entries) > 0 {
					recognised(state, &l.state)
				}
			})
			return steady(t, f)
		}
	}
	nothing := func(s *live.LearnState) {
		*s = live.LearnState{
			Wanted: 10, MatBlockers: []string{"A sheet of white paper lies on the mat."}, Blockers: []string{"Ship A1 stands on the mat."},
			Mat: live.LearntFile{File: "calibration/mat.png"}, Catalogue: live.LearntFile{File: "calibration/obstacles.json"},
		}
	}
	return []pageCase{
		{name: "obstacles-mat", path: "/obstacles", ready: "#step-mat .way li", brief: true, desk: []string{"#learn-mat", "#view"},
			open: serve(nothing)},
		{name: "obstacles-tokens", path: "/obstacles#tokens", ready: "#shapes polygon",
			desk: []string{"#trace", "#view", "#save"}, open: serve(func(*live.LearnState) {})},
		{name: "obstacles-try", path: "/obstacles#try", ready: "#found tbody tr", brief: true,
			open: serve(func(s *live.LearnState) { s.Trace = nil })},
	}
}
