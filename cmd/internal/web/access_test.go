package web_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/director"
	"sightline/cmd/internal/enrol"
	"sightline/cmd/internal/first"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/outline"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/projector"
	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/setup"
	"sightline/cmd/internal/status"
	"sightline/cmd/internal/web"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/capture"
)

const (
	network  = "192.168.7.21:51000" // a phone
	loopback = "127.0.0.1:51000"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

// everything is a server with every part, whose sessions testKey signs.
func everything(t testing.TB, change ...func(*web.Options)) (*fakeTable, *web.Server) {
	f := newFakeTable(t)
	o := web.Options{
		Hub: f.hub, Choose: f.choose,
		SetMatch:    f.setMatch,
		Calibration: live.NewCalibrationHub(), Calibrate: func(setup.Intent) error { return nil },
		Learning: &fakeLearning{state: taught()},
		Access: access.Options{Key: testKey, JudgeSecret: "correct horse battery", Names: []string{"table.local"},
			Log: slog.New(slog.DiscardHandler)},
	}
	newFakeJudges(f).options(&o)
	o.Routes = (&status.Page{Hub: f.hub, Tail: status.NewTail(slog.DiscardHandler), Started: time.Now(), Now: time.Now}).Routes()
	o.Routes = append(o.Routes, play.New(play.Options{Hub: f.hub, Show: func(*live.Play, []live.Declaration) { f.hub.Publish(f.hub.Newest()) },
		Record: sync.OnceValues(func() (*rulings.Log, error) {
			return rulings.Open(filepath.Join(t.TempDir(), "rulings"), rulings.Options{})
		})}).Routes()...)
	o.Routes = append(o.Routes, (&director.Page{Direct: f.direct}).Routes()...)
	o.Routes = append(o.Routes, projector.New(projector.Options{Hub: f.hub, Path: filepath.Join(t.TempDir(), "projector.json"), Now: time.Now,
		Log: slog.New(slog.DiscardHandler)}).Routes()...)
	o.Routes = append(o.Routes, enrol.New(enrol.Options{Hub: f.hub, Dir: filepath.Join(t.TempDir(), "looks"), Now: time.Now}).Routes()...)
	o.Routes = append(o.Routes, firstDesk(t, first.Facts{Camera: "/dev/video0", Live: true, Height: 1080},
		first.Kept{Version: 1, Paper: "a4", Ships: "A1"}).Routes()...)
	o.Routes = append(o.Routes, outline.New(outline.Options{Hub: f.hub,
		Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Rules:  func() outline.Rules { return outline.Rules{Sigmas: 3} }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Hold: func(live.Held, live.Choice) (uint64, error) { return 1, nil }}).Routes()...)
	for _, c := range change {
		c(&o)
	}
	return f, web.NewServer(o)
}

// ask asks the server as a peer, with a cookie unless it is "".
func ask(s http.Handler, method, path, body, peer, cookie string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host, r.RemoteAddr = "table.local", peer
	if cookie != "" {
		r.Header.Set("Cookie", "sightline="+cookie)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	ctx, cancel := contextFor(path)
	defer cancel()
	s.ServeHTTP(w, r.WithContext(ctx))
	return w
}

// routeLine says of a route what to ask and who gets past the door: with which status.
type routeLine struct {
	least  access.Role
	path   string // "" : as the pattern
	body   string
	status int  // for who may; 0: 200
	here   bool // players on this machine and judges only
}

// routeLines holds a line for every route: whoever adds a route says here who may ask.
var routeLines = map[string]routeLine{
	"GET /":                                 {least: access.Nobody},
	"GET /healthz":                          {least: access.Nobody},
	"GET /livez":                            {least: access.Nobody},
	"GET /metrics":                          {least: access.Reader},
	"GET /status":                           {least: access.Nobody},
	"GET /status.js":                        {least: access.Nobody},
	"GET /status.css":                       {least: access.Nobody},
	"GET /api/status":                       {least: access.Reader},
	"GET /director":                         {least: access.Nobody},
	"GET /director.js":                      {least: access.Nobody},
	"GET /director.css":                     {least: access.Nobody},
	"PATCH /api/director":                   {least: access.Player, body: `{"frozen":false}`},
	"GET /projector":                        {least: access.Nobody},
	"GET /projector.js":                     {least: access.Nobody},
	"GET /projector.css":                    {least: access.Nobody},
	"GET /api/projector":                    {least: access.Reader},
	"POST /api/projector":                   {least: access.Player, body: `{"do":"cancel"}`},
	"POST /api/projector/screen":            {least: access.Player, body: `{"id":"abcd","width_px":1920,"height_px":1080,"shown":1}`},
	"GET /first":                            {least: access.Nobody},
	"GET /first.js":                         {least: access.Nobody},
	"GET /first.css":                        {least: access.Nobody},
	"GET /api/first":                        {least: access.Reader},
	"POST /api/first":                       {least: access.Player, body: `{"do":"way","quick":true}`},
	"GET /api/first/camera.jpg":             {least: access.Player, path: "/api/first/camera.jpg?source=/dev/video9", status: 404},
	"GET /api/first/sheets.pdf":             {least: access.Reader},
	"GET /outline":                          {least: access.Nobody},
	"GET /outline/{file}":                   {least: access.Nobody, path: "/outline/outline.js"},
	"POST /api/outline/pictures":            {least: access.Player, path: "/api/outline/pictures?from=live"},
	"GET /api/outline/pictures/{id}":        {least: access.Player, path: "/api/outline/pictures/9", status: 404},
	"GET /api/outline/pictures/{id}/pixels": {least: access.Player, path: "/api/outline/pictures/9/pixels", status: 404},
	"POST /api/outline/pictures/{id}/calibration": {least: access.Player, path: "/api/outline/pictures/9/calibration", status: 404},
	"POST /api/outline/pictures/{id}/snap":        {least: access.Player, path: "/api/outline/pictures/9/snap", status: 404},
	"POST /api/outline/pictures/{id}/answer":      {least: access.Player, path: "/api/outline/pictures/9/answer", status: 404},
	"POST /api/outline/pictures/{id}/hold":        {least: access.Player, path: "/api/outline/pictures/9/hold", status: 404},
	"GET /pair":                                   {least: access.Nobody},
	"GET /pair/{code}":                            {least: access.Nobody, path: "/pair/K4MWQX"},
	"GET /PAIR/{code}":                            {least: access.Nobody, path: "/PAIR/K4MWQX"},
	"GET /api/pair":                               {least: access.Player, here: true},
	"POST /api/pair":                              {least: access.Nobody, body: `{}`, status: 400},
	"POST /api/unpair":                            {least: access.Nobody, status: 204},
	"GET /api/me":                                 {least: access.Nobody},
	"GET /api/openapi.json":                       {least: access.Nobody},
	"GET /api/state":                              {least: access.Reader},
	"GET /api/events":                             {least: access.Reader},
	"GET /api/scene":                              {least: access.Reader},
	"GET /api/measure":                            {least: access.Reader},
	"GET /api/table.json":                         {least: access.Reader, status: 404},
	"GET /api/picture.jpg":                        {least: access.Reader},
	"GET /api/display.png":                        {least: access.Reader},
	"PATCH /api/choice":                           {least: access.Player, body: `{"from":"A1"}`, status: 204},
	"PATCH /api/match":                            {least: access.Player, body: `{"round":"3"}`, status: 204},
	"POST /api/try":                               {least: access.Player, body: `{"ship":"A1","maneuver":"straight 1"}`},
	"POST /api/ships":                             {least: access.Player, body: `{"id":"A1"}`, status: 404},
	"POST /api/policy":                            {least: access.Player, body: `{"measuring":"never"}`, status: 400},
	"POST /api/declare":                           {least: access.Player, body: `{"doing":"attack","ship":"A1"}`, status: 409},
	"GET /judge":                                  {least: access.Nobody},
	"GET /remote":                                 {least: access.Nobody},
	"GET /api/held":                               {least: access.Judge, status: 404},
	"GET /api/held.png":                           {least: access.Judge, status: 404},
	"POST /api/freeze":                            {least: access.Player, body: `{"hold":false}`},
	// asked rightly it would hold the picture for the others
	"POST /api/ask-judge":               {least: access.Player, body: `[]`, status: 400},
	"POST /api/rulings":                 {least: access.Judge, body: `{}`, status: 400},
	"GET /api/rulings":                  {least: access.Player},
	"GET /api/rulings/{n}":              {least: access.Player, path: "/api/rulings/1", status: 404},
	"GET /api/rulings/{n}/picture":      {least: access.Player, path: "/api/rulings/1/picture", status: 404},
	"GET /api/rulings/{n}/export.html":  {least: access.Player, path: "/api/rulings/1/export.html", status: 404},
	"GET /api/rulings.zip":              {least: access.Judge, status: 500},
	"GET /calibrate":                    {least: access.Nobody},
	"GET /api/calibration":              {least: access.Reader},
	"GET /api/calibration/events":       {least: access.Reader},
	"POST /api/calibration":             {least: access.Player, body: `{"do":"start"}`, status: 204},
	"GET /api/calibration/picture.jpg":  {least: access.Reader, status: 404},
	"GET /api/calibration/heat.svg":     {least: access.Reader, status: 404},
	"GET /api/calibration/sheet/{file}": {least: access.Reader, path: "/api/calibration/sheet/nothing.pdf", status: 404},
	"GET /obstacles":                    {least: access.Nobody},
	"GET /api/obstacles":                {least: access.Reader},
	"GET /api/obstacles/events":         {least: access.Reader},
	"GET /api/obstacles/picture.jpg":    {least: access.Reader},
	"POST /api/obstacles":               {least: access.Player, body: `{"do":"forget"}`, status: 204},
	"GET /api/obstacles/catalogue.json": {least: access.Reader},
	"GET /looks":                        {least: access.Nobody},
	"GET /looks/{file}":                 {least: access.Nobody, path: "/looks/looks.js"},
	"GET /api/looks":                    {least: access.Reader},
	"POST /api/looks":                   {least: access.Player, body: `{"do":"stop"}`, status: 204},
	"GET /api/looks/sheet.jpg":          {least: access.Reader, status: 404},
	"GET /api/looks/{name}/picture.png": {least: access.Reader, path: "/api/looks/A1/picture.png", status: 404},
	"GET /game":                         {least: access.Nobody},
	"GET /replay":                       {least: access.Nobody},
	"GET /game/{file}":                  {least: access.Nobody, path: "/game/game.js"},
	"GET /api/game":                     {least: access.Reader},
	"POST /api/game/start":              {least: access.Player, body: `{}`, status: 400},
	"POST /api/game/do":                 {least: access.Player, body: `{"kind":"advanced"}`, status: 409},
	"GET /api/game/check/{what}":        {least: access.Reader, path: "/api/game/check/setup"},
	"GET /api/game/setup.svg":           {least: access.Reader, path: "/api/game/setup.svg?area=ships"},
	"GET /api/game/shots":               {least: access.Reader, path: "/api/game/shots?ship=A1&arc=front"},
	"GET /api/games/{id}":               {least: access.Player, path: "/api/games/1", status: 404},
	"GET /api/games/{id}/at":            {least: access.Player, path: "/api/games/1/at?event=1", status: 404},
	"GET /api/games/{id}/export/{form}": {least: access.Player, path: "/api/games/1/export/csv", status: 404},
	"PUT /api/obstacles/catalogue.json": {least: access.Player, body: `{"version":1,"outlines":[]}`, status: 204},
}

func TestEveryRouteIsOpenToItsRoleAndClosedBelow(t *testing.T) {
	for _, paired := range []bool{false, true} {
		_, s := everything(t, func(o *web.Options) { o.Access.PairToRead = paired })
		callers := []struct {
			role   access.Role
			peer   string
			cookie bool
		}{
			{access.Reader, network, false}, {access.Player, network, true}, {access.Judge, network, true}, {access.Player, loopback, false},
		}
		if paired {
			callers[0].role = access.Nobody
		}
		seen := map[string]bool{}
		for _, route := range s.Routes() {
			seen[route.Pattern] = true
			line, known := routeLines[route.Pattern]
			if !assert.True(t, known, "routeLines says nothing of %q: who may ask?", route.Pattern) {
				continue
			}
			assert.Equal(t, line.least, route.Role, route.Pattern)
			method, path, _ := strings.Cut(route.Pattern, " ")
			if line.path != "" {
				path = line.path
			}
			for _, c := range callers {
				want := line.status
				if want == 0 {
					want = http.StatusOK
				}
				if c.role < line.least {
					want = http.StatusForbidden
				}
				if line.here && c.peer == network && c.role < access.Judge {
					want = http.StatusForbidden
				}
				cookie := ""
				if c.cookie { // a new one each time: one route ends it
					cookie = s.Cookie(c.role, "Anna", time.Now())
				}
				answer := ask(s, method, path, line.body, c.peer, cookie)
				assert.Equal(t, want, answer.Code, "%s asked by a %v at %s (paired to read: %v): %s", route.Pattern, c.role, c.peer, paired,
					answer.Body)
				if c.role < line.least {
					assert.Equal(t, line.least.String(), answer.Header().Get("Sightline-Needs"), route.Pattern)
				}
			}
		}
		for pattern := range routeLines {
			assert.True(t, seen[pattern], "there is no route %q any more", pattern)
		}
	}
}

func TestTheMachineItselfIsAPlayerUnlessItAsksForSomebodyElse(t *testing.T) {
	_, s := everything(t)
	for name, c := range map[string]struct {
		peer   string
		header []string
		want   access.Role
	}{
		"loopback":             {"127.0.0.1:1", nil, access.Player},
		"all of 127/8":         {"127.8.9.1:1", nil, access.Player},
		"loopback of IPv6":     {"[::1]:1", nil, access.Player},
		"IPv4 in IPv6":         {"[::ffff:127.0.0.1]:1", nil, access.Player},
		"a phone":              {network, nil, access.Reader},
		"a phone by IPv6":      {"[fe80::1%eth0]:1", nil, access.Reader},
		"no address":           {"", nil, access.Reader},
		"a name":               {"localhost:1", nil, access.Reader},
		"a proxy, Forwarded":   {"127.0.0.1:1", []string{"Forwarded", "for=192.0.2.1"}, access.Reader},
		"a proxy, Via":         {"127.0.0.1:1", []string{"Via", "1.1 proxy"}, access.Reader},
		"a proxy, X-Forwarded": {"127.0.0.1:1", []string{"X-Forwarded-For", "127.0.0.1"}, access.Reader},
		"a proxy, empty":       {"127.0.0.1:1", []string{"X-Forwarded-For", ""}, access.Reader},
		"a proxy, Server":      {"127.0.0.1:1", []string{"X-Forwarded-Server", "x"}, access.Reader},
		"a proxy, Real-IP":     {"127.0.0.1:1", []string{"X-Real-IP", "127.0.0.1"}, access.Reader},
		"a liar on the net":    {network, []string{"X-Forwarded-For", "127.0.0.1"}, access.Reader},
	} {
		t.Run(name, func(t *testing.T) {
			answer := ask(s, http.MethodGet, "/api/me", "", c.peer, "", c.header...)
			assert.Contains(t, answer.Body.String(), fmt.Sprintf(`"role":%q`, c.want), answer.Body)
		})
	}
}

// sign makes a cookie as the program does, with any key and content.
func sign(key []byte, purpose, data string) string {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s\x00%s", purpose, data)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(data)) + "." + encode(h.Sum(nil))
}

func TestOnlyCookiesMadeHereThatHoldAreBelieved(t *testing.T) {
	_, s := everything(t)
	now := time.Now()
	later := fmt.Sprint(now.Add(time.Hour).Unix())
	player := s.Cookie(access.Player, "Anna", now)
	_, other := everything(t, func(o *web.Options) { o.Access.Key = []byte("another key, just as long as that") })
	_, renewed := everything(t, func(o *web.Options) { o.Access.JudgeSecret = "another secret" })
	_, forgetful := everything(t, func(o *web.Options) { o.Access.Key = nil })
	text, signature, _ := strings.Cut(player, ".")
	for name, c := range map[string]struct {
		cookie string
		want   access.Role
	}{
		"a player's":                 {player, access.Player},
		"a judge's":                  {s.Cookie(access.Judge, "Jo", now), access.Judge},
		"signed as it should be":     {sign(testKey, "session", `{"i":"x","r":2,"e":`+later+`}`), access.Player},
		"with another key":           {other.Cookie(access.Judge, "", now), access.Reader},
		"with a forgotten key":       {forgetful.Cookie(access.Player, "", now), access.Reader},
		"for another purpose":        {sign(testKey, "judge's secret", `{"i":"x","r":2,"e":`+later+`}`), access.Reader},
		"a judge's without a secret": {sign(testKey, "session", `{"i":"x","r":3,"e":`+later+`}`), access.Reader},
		"a judge's, older secret":    {renewed.Cookie(access.Judge, "", now), access.Reader},
		"a player's, older secret":   {renewed.Cookie(access.Player, "", now), access.Player},
		"a role that is none":        {sign(testKey, "session", `{"i":"x","r":9,"e":`+later+`}`), access.Reader},
		"expired, player":            {s.Cookie(access.Player, "", now.Add(-8*24*time.Hour)), access.Reader},
		"expired, judge":             {s.Cookie(access.Judge, "", now.Add(-13*time.Hour)), access.Reader},
		"without its signature":      {text, access.Reader},
		"with an empty signature":    {text + ".", access.Reader},
		"with half its signature":    {text + "." + signature[:20], access.Reader},
		"with another text": {base64.RawURLEncoding.EncodeToString([]byte(`{"i":"x","r":3,"e":99999999999}`)) + "." + signature,
			access.Reader},
		"no base64":    {"!!!.???", access.Reader},
		"far too long": {strings.Repeat("A", 9000), access.Reader},
		"dots":         {"...", access.Reader},
	} {
		t.Run(name, func(t *testing.T) {
			answer := ask(s, http.MethodGet, "/api/me", "", network, c.cookie)
			assert.Contains(t, answer.Body.String(), fmt.Sprintf(`"role":%q`, c.want))
		})
	}
	for i := range player { // any letter changed
		changed := []byte(player)
		changed[i] ^= 1
		answer := ask(s, http.MethodGet, "/api/me", "", network, string(changed))
		require.Contains(t, answer.Body.String(), `"role":"reader"`, "letter %d", i)
	}
}

func TestThePageShowsNoPairingCode(t *testing.T) {
	f, s := everything(t)
	show := func(code string) (string, string) {
		f.change(func(v *live.State) {})
		v := f.hub.Newest()
		v.Panel.Screen = hardware.Screen{Kind: hardware.ScreenAddress, Address: "http://192.168.7.2:8080/", Code: code}
		f.hub.Publish(v)
		state := ask(s, http.MethodGet, "/api/state", "", network, "").Body.String()
		return ask(s, http.MethodGet, "/api/display.png", "", network, "").Body.String(), state
	}
	with, state := show("K4MWQX")
	without, _ := show("")
	assert.Equal(t, without, with)
	assert.NotContains(t, state, "K4MWQX")
}

// firstDesk is a desk with two cameras, one of which is busy.
func firstDesk(t testing.TB, facts first.Facts, kept first.Kept) *first.Desk {
	return first.New(first.Options{
		Path: filepath.Join(t.TempDir(), "first-table.json"), Facts: func() first.Facts { return facts }, Board: "chessboard:9x6:25mm",
		Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), ScaleX: 1, ScaleY: 1,
		Frame: fakePicture, UseCamera: func(first.Camera) {},
		Look: first.Look{
			List: func(context.Context) []capture.Found {
				return []capture.Found{
					{Source: "/dev/video0", Name: "HD Webcam", Modes: []capture.Mode{{Format: "MJPG", Width: 1920, Height: 1080, FPS: 30}}},
					{Source: "csi:0", Name: "imx708 (camera port 0)"},
				}
			},
			Take: func(_ context.Context, source string) (vision.Frame, error) {
				if source == "csi:0" {
					return vision.Frame{}, errors.New("device or resource busy")
				}
				return fakePicture(), nil
			},
			Now: time.Now,
		},
	}, kept)
}
