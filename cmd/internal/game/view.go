package game

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/capture"
)

// view returns the state at an instant. The caller holds mu.
func (g *Game) view(now time.Time) live.State {
	status, shown := g.o.Camera(), g.shown()
	v := live.State{
		At: now, Health: g.health(status, now), Notes: slices.Clone(g.notebook.notes), Source: status.Source,
		Figures:  live.Figures{Frames: status.Frames, Dropped: status.Dropped, FPS: status.FPS, Locating: g.seen.Located.Elapsed},
		Register: g.seen.Register, Frame: shown.Frame, Region: shown.Region, Located: shown.Located, Tracks: shown.Tracks, Held: g.held != nil,
		Hold: shown.hold, Released: g.releasedViews(), Ruling: g.ruling, RulingsTrouble: g.rulingsTrouble,
		ObstaclesWatched: shown.Located.Obstacles != nil && shown.Located.Obstacles.Unseen == "",
		Sigmas:           g.o.Rules.Sigmas, Match: g.matchLine(), Play: g.play, Policy: g.policy, Result: shown.Result,
		Light: g.seen.Light, Cameras: slices.Clone(g.seen.Cameras), Turned: g.seen.Turned, PanelName: g.o.PanelName(), LampLabels: g.o.Labels,
	}
	if v.Located.Scene.Rules == engine.RulesUnknown { // nothing located yet: an empty mat
		mat := g.seen.Mat
		v.Located.Scene.Rules = g.o.Rules.Edition
		v.Located.Scene.MatWidth, v.Located.Scene.MatHeight = mat.Width, mat.Height
	}
	if !g.seen.FrameAt.IsZero() {
		v.Figures.Age = vision.Elapsed(g.seen.FrameAt, now)
	}
	if g.o.Damaged != nil {
		v.Damaged = g.o.Damaged()
	}
	v.Direction = g.direction
	v = v.WithChoice(g.choice)
	v.Chosen = g.chosen
	v.Panel = live.PanelState(&v)
	if g.o.Screen != nil {
		v.Panel.Screen = g.o.Screen(&v)
	}
	return v
}

// matchLine returns the match with the round, names and score of the game on the table, if there
// is one. The caller holds mu.
func (g *Game) matchLine() live.Match {
	m := g.match
	if g.play == nil {
		return m
	}
	m.Round = fmt.Sprintf("Round %d, %s", g.play.Round, g.play.Phase)
	for i := range m.Sides {
		m.Sides[i].Name, m.Sides[i].Score = cmp.Or(g.play.Players[i], m.Sides[i].Name), g.play.Score[i]
	}
	return m
}

// health returns what stops the answers. The caller holds mu.
func (g *Game) health(status capture.FeedStatus, now time.Time) live.Health {
	age := vision.Elapsed(g.seen.FrameAt, now)
	switch {
	case g.seen.Ended:
		return live.Health{
			Code: live.Ended, Title: "Recording over", Detail: status.Source + " has ended.",
			Advice: "Start the program again, or choose another source.",
		}
	case (g.seen.FrameAt.IsZero() || age > g.o.StaleAfter) && status.State != capture.FeedLive && status.Err != "":
		if strings.Contains(status.Err, "/first") { // it says what to do
			return live.Health{
				Code: live.NoCamera, Title: "No camera", Detail: sentence.Upper(status.Err) + ".",
				Advice: "It lists the cameras of this machine, and a simulated table to try everything with.",
			}
		}
		return live.Health{
			Code: live.NoCamera, Title: "No camera", Detail: cmp.Or(status.Source, "The camera") + " gives no pictures: " + status.Trouble(),
			Advice: silentAdvice(status),
		}
	case g.seen.FrameAt.IsZero():
		source := cmp.Or(status.Source, "the camera")
		return live.Health{Code: live.Starting, Title: "Starting", Detail: "Waiting for the first picture of " + source + "."}
	case age > g.o.StaleAfter:
		advice := "Answers come back with the next picture."
		if status.State == capture.FeedLive && now.Sub(status.LastFrame) <= g.o.StaleAfter {
			advice = "The camera gives newer ones, but " + capture.SlowComputer + ": " + capture.SlowComputerAdvice + "."
		}
		return live.Health{
			Code: live.Stale, Title: "Old picture", Detail: fmt.Sprintf("The last picture is %.0f s old.", age.Seconds()), Advice: advice,
		}
	case g.Busy():
		return Calibrating()
	}
	return g.seen.Health
}

// silentAdvice says what to do about a source that gives no pictures. The simulated table needs
// nothing but time.
func silentAdvice(status capture.FeedStatus) string {
	if strings.HasPrefix(status.Source, "sim:") && strings.HasPrefix(status.Trouble(), "no frame for") {
		return "This computer draws the simulated table too slowly: stop what else runs on it, or choose a smaller table (sim:960x720)."
	}
	return "Check that it is plugged in or that its stream runs, and that no other program uses it. Retrying automatically. " +
		"The page /first lists the cameras of this machine."
}

// Calibrating returns the health while a calibration needs the camera.
func Calibrating() live.Health {
	return live.Health{
		Code: live.Calibrating, Title: "Calibrating", Detail: "This camera is being calibrated; there are no answers meanwhile.",
		Advice: "They come back when the calibration is finished or cancelled on its page (/calibrate, /projector).",
	}
}
