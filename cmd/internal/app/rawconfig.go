package app

import (
	"fmt"
	"math"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sheet"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/capture"
)

// rawConfig is the file before validation.
type rawConfig struct {
	Camera struct {
		Source string  `toml:"source"`
		Lens   string  `toml:"lens"`
		Width  int     `toml:"width"`
		Height int     `toml:"height"`
		FPS    float64 `toml:"fps"`

		Exposure     any `toml:"exposure"` // "auto", "lock" or a number, like the three below; also "paper"
		Gain         any `toml:"gain"`
		WhiteBalance any `toml:"white_balance"`
		Focus        any `toml:"focus"`
		Powerline    int `toml:"powerline"`
	} `toml:"camera"`
	Cameras []rawCamera `toml:"cameras"`
	Table   struct {
		Calibration string      `toml:"calibration"`
		Record      string      `toml:"record"`
		Catalogue   string      `toml:"catalogue"`
		EmptyMat    string      `toml:"empty_mat"`
		Looks       string      `toml:"looks"`
		WidthMM     float64     `toml:"width_mm"`
		HeightMM    float64     `toml:"height_mm"`
		MarkerSigma float64     `toml:"marker_sigma_mm"`
		Markers     []rawMarker `toml:"markers"`
	} `toml:"table"`
	Rules struct {
		Edition   string  `toml:"edition"`
		Profile   string  `toml:"profile"`
		Sigmas    float64 `toml:"sigmas"`
		Measuring string  `toml:"measuring"`
	} `toml:"rules"`
	Web struct {
		Listen          string   `toml:"listen"`
		Names           []string `toml:"names"`
		Read            string   `toml:"read"`
		JudgeSecretFile string   `toml:"judge_secret_file"`
		TLSCertificate  string   `toml:"tls_certificate"`
		TLSKey          string   `toml:"tls_key"`
	} `toml:"web"`
	Panel struct {
		Enabled bool   `toml:"enabled"`
		Board   string `toml:"board"`
	} `toml:"panel"`
	Print struct {
		ScaleX float64 `toml:"scale_x"`
		ScaleY float64 `toml:"scale_y"`
	} `toml:"print"`
	Rulings struct {
		Dir  string `toml:"dir"`
		Keep int    `toml:"keep_pictures_days"`
	} `toml:"rulings"`
	Squads rawSquads `toml:"squads"`
	Event  struct {
		Invitation string `toml:"invitation"`
	} `toml:"event"`
}

// rawCamera is one of the further cameras.
type rawCamera struct {
	Name        string  `toml:"name"`
	Source      string  `toml:"source"`
	Lens        string  `toml:"lens"`
	Calibration string  `toml:"calibration"`
	EmptyMat    string  `toml:"empty_mat"`
	Width       int     `toml:"width"`
	Height      int     `toml:"height"`
	FPS         float64 `toml:"fps"`
}

// rawMarker is a printed marker at another place than the standard eight.
type rawMarker struct {
	ID         int     `toml:"id"`
	XMM        float64 `toml:"x_mm"`
	YMM        float64 `toml:"y_mm"`
	HeadingDeg float64 `toml:"heading_deg"`
	SizeMM     float64 `toml:"size_mm"`
	ZMM        float64 `toml:"z_mm"`
}

// defaultRaw holds every default, as the file would spell it.
func defaultRaw() rawConfig {
	var raw rawConfig
	raw.Table.WidthMM = calibration.MatSide.Millimeters()
	raw.Table.HeightMM = calibration.MatSide.Millimeters()
	raw.Table.MarkerSigma = calibration.DefaultPlacement.XY.Millimeters()
	raw.Rules.Edition = "2.5"
	raw.Rules.Profile = "nominal"
	raw.Rules.Sigmas = engine.DefaultSigmas
	raw.Rules.Measuring = string(live.MeasuringFree)
	raw.Web.Listen = "localhost:8080"
	raw.Web.Names, raw.Web.Read = []string{}, "open"
	raw.Panel.Enabled = true
	raw.Print.ScaleX, raw.Print.ScaleY = 1, 1
	return raw
}

// config checks the values and gives them their types.
func (raw rawConfig) config() (Config, *badValue) {
	edition, err := engine.ParseRules(raw.Rules.Edition)
	if err != nil {
		return Config{}, bad("rules.edition", "expected \"1e\", \"2.0\" or \"2.5\", got %q", raw.Rules.Edition)
	}
	c := Config{
		Camera: raw.camera(),
		Rules: game.Rules{Edition: edition, Profile: raw.Rules.Profile, Sigmas: raw.Rules.Sigmas,
			Measuring: live.Measuring(raw.Rules.Measuring)},
		Web:   Web(raw.Web),
		Panel: Panel(raw.Panel),
		Print: Print(raw.Print),

		Cameras: raw.cameras(),
		Squads:  raw.Squads.squads(),
		Event:   Event(raw.Event),
		Rulings: Rulings{Dir: raw.Rulings.Dir, Keep: time.Duration(raw.Rulings.Keep) * 24 * time.Hour},
	}
	for _, check := range []*badValue{
		raw.checkCamera(), raw.checkCameras(), raw.checkRules(), checkListen(raw.Web.Listen), raw.checkWeb(), checkLength("table.width_mm",
			raw.Table.WidthMM), checkLength("table.height_mm", raw.Table.HeightMM),
		checkPrint("print.scale_x", raw.Print.ScaleX), checkPrint("print.scale_y", raw.Print.ScaleY),
		checkKeep(raw.Rulings.Keep),
	} {
		if check != nil {
			return Config{}, check
		}
	}
	c.Table.Calibration, c.Table.Record = raw.Table.Calibration, raw.Table.Record
	c.Table.Catalogue, c.Table.EmptyMat, c.Table.Looks = raw.Table.Catalogue, raw.Table.EmptyMat, raw.Table.Looks
	switch {
	case c.Table.Catalogue != "" && c.Table.EmptyMat == "":
		return Config{}, bad("table.catalogue", "expected table.empty_mat with it: obstacles are found against the empty mat (sightline "+
			"obstacles learn-mat)")
	case c.Table.Catalogue == "" && c.Table.EmptyMat != "":
		return Config{}, bad("table.empty_mat", "expected table.catalogue with it: the obstacles that may lie there (sightline obstacles learn)")
	case c.Table.EmptyMat != "" && filepath.Clean(c.Table.EmptyMat) == filepath.Clean(c.Table.Catalogue):
		return Config{}, bad("table.empty_mat", "expected another file than table.catalogue: saving the one would overwrite the other")
	}
	var problem *badValue
	if c.Camera.Settings, problem = raw.settings(); problem != nil {
		return Config{}, problem
	}
	c.Table.Layout, problem = raw.layout()
	return c, problem
}

// camera returns the main camera's keys that further cameras share.
func (raw rawConfig) camera() Camera {
	c := raw.Camera
	named := ""
	if c.Source != "" {
		named = "camera.source"
	}
	return Camera{Source: c.Source, Named: named, Lens: c.Lens, Width: c.Width, Height: c.Height, FPS: c.FPS}
}

func (raw rawConfig) checkCamera() *badValue { return checkCamera("camera", raw.camera()) }

// checkCameras checks the further cameras: each has a source and a name of its own.
func (raw rawConfig) checkCameras() *badValue {
	names := map[string]bool{}
	for _, c := range raw.cameras() {
		if problem := checkCamera("cameras", c.Camera); problem != nil {
			return problem
		}
		if c.EmptyMat != "" && raw.Table.Catalogue == "" {
			return bad("cameras.empty_mat", "expected table.catalogue and table.empty_mat with it: the obstacles that may lie there (sightline "+
				"obstacles learn), and what the main camera sees without them")
		}
		if c.EmptyMat != "" && filepath.Clean(c.EmptyMat) == filepath.Clean(raw.Table.Catalogue) {
			return bad("cameras.empty_mat", "expected another file than table.catalogue: the one is a picture, the other a list")
		}
		if names[c.Name] {
			return bad("cameras.name", "expected another name for each camera, got %q twice", c.Name)
		}
		names[c.Name] = true
	}
	return nil
}

// cameras converts the further cameras, and names those without a name.
func (raw rawConfig) cameras() (out []FurtherCamera) {
	for i, c := range raw.Cameras {
		if c.Name == "" {
			c.Name = fmt.Sprintf("camera %d", i+2)
		}
		camera := Camera{Source: c.Source, Lens: c.Lens, Width: c.Width, Height: c.Height, FPS: c.FPS}
		out = append(out, FurtherCamera{Camera: camera, Name: c.Name, Calibration: c.Calibration, EmptyMat: c.EmptyMat})
	}
	return out
}

func checkCamera(table string, c Camera) *badValue {
	switch {
	case c.Source == "" && table != "camera": // without a main camera here, the page chooses one
		return bad(table+".source", "expected a source such as \"sim:\" or \"/dev/video0\", got nothing")
	case c.Width < 0 || c.Width > 20000:
		return bad(table+".width", "expected 0 to 20000 px, got %d", c.Width)
	case c.Height < 0 || c.Height > 20000:
		return bad(table+".height", "expected 0 to 20000 px, got %d", c.Height)
	case !(c.FPS >= 0) || c.FPS > 1000:
		return bad(table+".fps", "expected 0 to 1000 frames a second, got %v", c.FPS)
	}
	return nil
}

// settings reads the camera's exposure and similar settings.
func (raw rawConfig) settings() (s capture.Settings, problem *badValue) {
	for _, k := range []struct {
		key   string
		value any
		to    *capture.Setting
	}{
		{"exposure", raw.Camera.Exposure, &s.Exposure}, {"gain", raw.Camera.Gain, &s.Gain},
		{"white_balance", raw.Camera.WhiteBalance, &s.WhiteBalance}, {"focus", raw.Camera.Focus, &s.Focus},
	} {
		switch v := k.value.(type) {
		case nil:
			continue
		case int64:
			if v >= math.MinInt32 && v <= math.MaxInt32 {
				*k.to = capture.Setting{Kind: capture.SettingFixed, Value: int32(v)}
				continue
			}
		case string:
			words := map[string]capture.SettingKind{"": capture.SettingLeave, "auto": capture.SettingAuto, "lock": capture.SettingLock}
			if kind, known := words[v]; known {
				k.to.Kind = kind
				continue
			}
			if v == "paper" && k.key == "exposure" {
				k.to.Kind = capture.SettingPaper
				continue
			}
		}
		also := ""
		if k.key == "exposure" {
			also = ", \"paper\""
		}
		return s, bad("camera."+k.key, "expected \"auto\", \"lock\"%s or a whole number without quotes in the camera's own unit, got %#v", also,
			k.value)
	}
	if s.Exposure.Kind == capture.SettingPaper && s.Gain.Kind == capture.SettingLeave {
		s.Gain.Kind = capture.SettingPaper // an automatic gain would work against it
	}
	if s.Powerline = raw.Camera.Powerline; s.Powerline != 0 && s.Powerline != 50 && s.Powerline != 60 {
		return s, bad("camera.powerline", "expected 50 or 60 Hz, or 0 to leave it, got %d", s.Powerline)
	}
	return s, nil
}

func (raw rawConfig) checkRules() *badValue {
	if _, err := engine.ProfileNamed(raw.Rules.Profile); err != nil || raw.Rules.Profile == "" {
		return bad("rules.profile", "expected \"nominal\" or \"measured\", got %q", raw.Rules.Profile)
	}
	if _, err := live.ParseMeasuring(raw.Rules.Measuring); err != nil {
		return bad("rules.measuring", "expected \"free\", \"edition\" or \"judge\", got %q", raw.Rules.Measuring)
	}
	if !(raw.Rules.Sigmas > 0) || raw.Rules.Sigmas > 10 {
		return bad("rules.sigmas", "expected more than 0 and at most 10, got %v", raw.Rules.Sigmas)
	}
	return nil
}

func checkListen(address string) *badValue {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		var n uint64
		if n, err = strconv.ParseUint(port, 10, 16); err == nil && n <= math.MaxUint16 {
			return nil
		}
	}
	return bad("web.listen", "expected host:port such as \"localhost:8080\", got %q", address)
}

// checkWeb checks the access rules of the page.
func (raw rawConfig) checkWeb() *badValue {
	for _, name := range raw.Web.Names {
		if _, ok := access.CanonicalName(name); !ok {
			return bad("web.names", "expected host names without scheme and port, such as \"table.lan\", got %q", name)
		}
	}
	switch w := raw.Web; {
	case w.Read != "open" && w.Read != "paired":
		return bad("web.read", "expected \"open\" or \"paired\", got %q", w.Read)
	case w.TLSCertificate != "" && w.TLSKey == "":
		return bad("web.tls_certificate", "expected web.tls_key with it: the certificate's private key")
	case w.TLSCertificate == "" && w.TLSKey != "":
		return bad("web.tls_key", "expected web.tls_certificate with it: the key's certificate")
	}
	return nil
}

// checkPrint limits the scale to what package sheet can compensate.
func checkPrint(key string, scale float64) *badValue {
	if _, err := sheet.ParsePrinterScale(scale, scale); scale == 0 || err != nil {
		return bad(key, "expected %v to %v, the measured length of a sheet's 100 mm bar divided by 100, got %v", 1-sheet.ScaleRange,
			1+sheet.ScaleRange, scale)
	}
	return nil
}

// checkLength limits a mat to what fits on a floor.
func checkLength(key string, mm float64) *badValue {
	if !(mm >= 100) || mm > 10000 {
		return bad(key, "expected 100 to 10000 mm, got %v", mm)
	}
	return nil
}

// layout returns the markers of the file, or the standard eight.
func (raw rawConfig) layout() (calibration.Layout, *badValue) {
	width, height := geom.Length(raw.Table.WidthMM), geom.Length(raw.Table.HeightMM)
	if s := raw.Table.MarkerSigma; !(s > 0) || s > 10 {
		return calibration.Layout{}, bad("table.marker_sigma_mm", "expected more than 0 and at most 10 mm, got %v", s)
	}
	var placement calibration.Placement // zero: the default
	if xy := geom.Length(raw.Table.MarkerSigma); xy != calibration.DefaultPlacement.XY {
		placement = calibration.PlacementOf(xy)
	}
	if raw.Table.Markers == nil {
		l := calibration.DefaultLayout(width, height)
		l.Placement = placement
		return l, nil
	}
	l := calibration.Layout{Width: width, Height: height, Placement: placement}
	for _, m := range raw.Table.Markers {
		if m.SizeMM == 0 {
			m.SizeMM = calibration.MarkerSize.Millimeters()
		}
		l.Markers = append(l.Markers, calibration.Marker{
			ID: m.ID, Center: geom.Point{X: m.XMM, Y: m.YMM}, Heading: geom.Angle(m.HeadingDeg) * geom.Degree,
			Size: geom.Length(m.SizeMM), Z: geom.Length(m.ZMM),
		})
	}
	if err := l.Validate(); err != nil {
		return l, bad("table.markers", "%v", err)
	}
	return l, nil
}
