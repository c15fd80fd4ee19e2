package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
)

// view puts together what is known at an instant. The caller holds mu.
func (w *Watcher) view(now time.Time) live.State {
	status, shown := w.o.Frames.Status(), w.shown()
	v := live.State{
		At: now, Health: w.health(status, now), Notes: slices.Clone(w.notes), Source: status.Source,
		Figures:  live.Figures{Frames: status.Frames, Dropped: status.Dropped, FPS: status.FPS, Locating: w.last.Elapsed},
		Register: w.register(), Frame: shown.frame, Region: shown.region, Located: shown.last, Tracks: shown.tracks, Held: w.held != nil,
		Hold: shown.hold, Released: w.releasedViews(), Ruling: w.ruling, RulingsTrouble: w.rulingsTrouble,
		ObstaclesWatched: shown.last.Obstacles != nil && shown.last.Obstacles.Unseen == "",
		Sigmas:           w.o.Rules.Sigmas, Choice: w.choice, Match: w.match, Result: shown.result, PanelName: w.o.PanelName(), LampLabels: w.o.Labels,
		Cameras: slices.Clone(w.cameras),
	}
	if v.Located.Scene.Rules == engine.RulesUnknown { // nothing was located yet: an empty mat
		v.Located.Scene.Rules = w.o.Rules.Edition
		v.Located.Scene.MatWidth, v.Located.Scene.MatHeight = w.o.Layout.Width, w.o.Layout.Height
	}
	if !w.frameAt.IsZero() {
		v.Figures.Age = now.Sub(w.frameAt)
	}
	v.Policy = w.policy
	v.Light = live.Light{Light: w.light, Advice: w.advice, Exposure: w.exposure}
	v.Pair, v.Reason = w.answer(v.Health)
	v.Withhold()
	v.Panel = live.PanelState(&v)
	if w.o.Screen != nil {
		v.Panel.Screen = w.o.Screen(&v)
	}
	return v
}

// answer returns the chosen pair's verdict, or in a few words why there is none.
// The caller holds mu.
func (w *Watcher) answer(health live.Health) (*engine.PairVerdict, string) {
	from, to, shown := w.choice.From, w.choice.To, w.shown()
	switch {
	case health.Code != live.OK && w.held == nil:
		return nil, strings.ToLower(health.Title)
	case from == "" || to == "":
		return nil, "click attacker, then target on the page"
	}
	for _, id := range []string{from, to} {
		if i := slices.IndexFunc(shown.tracks, func(k vision.Track) bool { return k.Ship.ID == id }); i >= 0 && !shown.tracks[i].State.Stands() {
			if shown.seenTwice(id) {
				return nil, id + " is seen twice"
			}
			return nil, live.TrackText(&shown.tracks[i], shown.last.Captured)
		}
	}
	for i := range shown.result.Pairs {
		if p := &shown.result.Pairs[i]; p.From == from && p.To == to {
			return p, ""
		}
	}
	for _, id := range []string{from, to} {
		if !slices.ContainsFunc(shown.last.Scene.Ships, func(s engine.Ship) bool { return s.ID == id }) {
			if shown.seenTwice(id) {
				return nil, id + " is seen twice"
			}
			return nil, id + " is not seen"
		}
	}
	return nil, "not measured"
}

// health says how the program is. The caller holds mu.
func (w *Watcher) health(status vision.FeedStatus, now time.Time) live.Health {
	age := now.Sub(w.frameAt)
	switch {
	case w.ended:
		return live.Health{Code: live.Ended, Title: "Recording over", Detail: status.Source + " has come to its end.", Advice: "Start the program again, or choose another source."}
	case (w.frameAt.IsZero() || age > w.o.StaleAfter) && status.State != vision.FeedLive && status.Err != "":
		return live.Health{
			Code: live.NoCamera, Title: "No camera", Detail: status.Source + ": " + status.Err,
			Advice: "Check that it is there, plugged in or served, and that no other program uses it. Retrying automatically.",
		}
	case w.frameAt.IsZero():
		return live.Health{Code: live.Starting, Title: "Starting", Detail: "Waiting for the first picture of " + status.Source + "."}
	case age > w.o.StaleAfter:
		return live.Health{
			Code: live.Stale, Title: "Old picture", Detail: fmt.Sprintf("The last picture is %.0f s old.", age.Seconds()),
			Advice: "Answers come back with the next picture.",
		}
	case w.busy():
		return live.Health{
			Code: live.Calibrating, Title: "Calibrating", Detail: "This camera is being calibrated; there are no answers meanwhile.",
			Advice: "They come back when the calibration is finished or cancelled on its page (/calibrate).",
		}
	case w.picture != pictureGood:
		return pictureHealth(w.picture, w.pictures.frozenAfter)
	case w.registered.From == "":
		return w.noCalibration()
	case w.broken != "":
		return live.Health{Code: live.Broken, Title: "Cannot measure", Detail: w.broken, Advice: "Restart the program with a calibration that fits this camera."}
	}
	if w.doubtful {
		return mayHaveMoved
	}
	if !w.watching {
		return live.Health{Code: live.OK}
	}
	h := watchHealth(w.watched, w.failed)
	if h.Code == live.OK && len(w.torn) > 0 {
		return live.Health{
			Code: live.Torn, Title: "Broken picture",
			Detail: fmt.Sprintf("The markers %s left their places in one picture, and all others stayed: a part of the picture is missing, or shifted.", listed(w.torn)),
			Advice: tornAdvice + " If something covers these markers, take it away.",
		}
	}
	return h
}

const tornAdvice = "Try another port and a shorter cable, or ask for smaller pictures (camera.width, camera.height). Answers come back with the next whole picture."

// register says how the camera's place is known and watched over. The caller holds mu.
func (w *Watcher) register() live.Register {
	r := w.registered
	if r.From != "" {
		r.Watch = watchView(w.watched, w.watching)
	}
	return r
}

// pictureHealth says what is wrong with pictures that show nothing.
func pictureHealth(s pictureState, after time.Duration) live.Health {
	switch s {
	case pictureDark:
		return live.Health{Code: live.Dark, Title: "Black picture", Detail: "The camera's pictures are black.", Advice: "Take the cap off the lens, put the light on."}
	case pictureBlank:
		return live.Health{Code: live.Dark, Title: "Blank picture", Detail: "The camera's pictures show one grey level and nothing else.", Advice: "See whether something lies before the lens, or a light shines into it."}
	}
	if s == pictureTorn {
		return live.Health{Code: live.Torn, Title: "Broken picture", Detail: "A part of the camera's picture is missing.", Advice: tornAdvice}
	}
	return live.Health{
		Code: live.Frozen, Title: "Picture frozen",
		Detail: fmt.Sprintf("The camera has sent exactly the same picture for %.1f s or more, which no camera that works does.", after.Seconds()),
		Advice: "Unplug the camera and plug it in again, or restart its stream. Answers come back with the first new picture.",
	}
}

// noCalibration says what is missing and what to do about it.
func (w *Watcher) noCalibration() live.Health {
	h := live.Health{Code: live.NoCalibration, Title: "No calibration", Detail: w.unready}
	switch {
	case w.unready == "":
		h.Code, h.Title, h.Detail = live.Starting, "Starting", "Looking for the mat's markers."
	case w.unready == errMirrored.Error():
		h.Title, h.Detail = "Picture mirrored", "The mat's markers can only be read with left and right exchanged."
		h.Advice = "Switch mirroring off in the camera's settings, or where its stream is made."
	case w.unready == errNoLens.Error():
		h.Detail = "The program does not know this camera's lens."
		h.Advice = "Calibrate on the page /calibrate; or make a lens file with sightline calibrate lens (see the README) and name it with --lens or camera.lens."
	case w.o.Table != nil:
		h.Advice = "Calibrate again with this camera and picture size: sightline calibrate table."
	case w.o.Markers == nil:
		h.Advice = "Use a calibration file (--calibration), or a program with OpenCV."
	default:
		h.Detail = "The mat's markers: " + w.unready + "."
		h.Advice = "Lay the printed markers (sightline print mat-markers) round the mat, flat and uncovered, and see to it that the camera sees all eight. If they lie well, the lens file may be another camera's."
	}
	return h
}
