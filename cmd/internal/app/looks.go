package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sightline/cmd/internal/enrol"
	"sightline/cmd/internal/kept"
	"sightline/cmd/internal/live"
	shown "sightline/cmd/internal/looks"
	"sightline/cmd/internal/naming"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision/look"
)

// The folder of the ships' looks if the configuration names none. The simulated table has its own.
const (
	defaultLooksPath   = "calibration/looks"
	SimulatedLooksPath = "calibration/simulated-looks"
)

// looksDir returns the folder of a table's looks.
func looksDir(c Config) string {
	switch {
	case c.Table.Looks != "":
		return c.Table.Looks
	case strings.HasPrefix(c.Camera.Source, "sim:"):
		return filepath.FromSlash(SimulatedLooksPath)
	}
	return filepath.FromSlash(defaultLooksPath)
}

// knownLooks holds the looks in a folder. If the folder becomes unreadable, the looks last read
// stay in use.
type knownLooks struct {
	dir string
	log *slog.Logger

	mu     sync.Mutex
	last   *look.Library // nil: none
	told   string        // of those that cannot be read, as logged last
	hidden string        // of those that another one replaces, as logged last
}

// newKnownLooks reads the folder of a table's looks. It fails if a configured folder cannot be
// read.
func newKnownLooks(c Config, log *slog.Logger) (*knownLooks, error) {
	k := &knownLooks{dir: looksDir(c), log: log}
	b, err := look.Load(k.dir)
	switch {
	case c.Table.Looks == "" && errors.Is(err, fs.ErrNotExist):
		return k, nil
	case err != nil:
		return k, fmt.Errorf("table.looks: %w", err)
	}
	k.use(b)
	return k, nil
}

// use takes the looks, and logs which ones cannot be read, once. The caller holds mu, or has not handed k on.
func (k *knownLooks) use(b *look.Library) {
	k.last = b
	var all, hidden []string
	for i := range b.Damaged {
		all = append(all, b.Damaged[i].Err.Error())
	}
	for _, h := range b.Hidden {
		hidden = append(hidden, shown.HiddenText(h))
	}
	if now := strings.Join(hidden, ". "); now != k.hidden {
		if k.hidden = now; now != "" {
			k.log.Warn("looks: " + now)
		}
	}
	if now := strings.Join(all, "; "); now != k.told {
		if k.told = now; now != "" {
			k.log.Warn("looks: these cannot be read and are left out; other cards of their base size name no ship", "err", now)
		}
	}
}

// damaged says which looks cannot be read, in sentences.
func (k *knownLooks) damaged() (out []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil {
		return nil
	}
	for i := range k.last.Damaged {
		d := &k.last.Damaged[i]
		size := "any base size"
		if d.Base != engine.BaseUnknown {
			size = "its base size"
		}
		out = append(out, fmt.Sprintf("The look of %s cannot be read, and other cards of %s name no ship meanwhile: show it again on /looks, or "+
			"delete it there.", d.Name, size))
	}
	return out
}

// now returns the folder's looks.
func (k *knownLooks) now() *look.Library {
	b, err := look.Load(k.dir)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		k.use(b)
	case errors.Is(err, fs.ErrNotExist):
		k.last = nil
	default:
		k.log.Warn("looks: those that were read before stay in use", "err", err)
	}
	return k.last
}

// shown starts the page on which people show ships to the camera, and returns its routes.
func (p *program) shown(c Config, hub *live.Hub, o Options) []web.Route {
	desk := enrol.New(enrol.Options{Hub: hub, Markers: p.markers(o.Log), Dir: looksDir(c), Changed: p.learnt, Now: time.Now, Log: o.Log})
	p.tasks = append(p.tasks, desk)
	return desk.Routes()
}

// names starts the task that stores the names of ships without our tokens for a restart, and
// returns it.
func (p *program) names(c Config, o Options) *naming.Memory {
	m, err := naming.OpenMemory(filepath.Join(c.dataDir(), naming.File), time.Now(), kept.ThisMachine(), o.Log)
	if err != nil {
		o.Log.Warn("ships without our tokens have no names from before the restart", "err", err)
	}
	p.tasks = append(p.tasks, m)
	return m
}

// lying starts the task that stores the obstacles on the mat for a restart, and returns it.
func (p *program) lying(c Config, o Options) *pipeline.Lying {
	l, err := pipeline.OpenLying(filepath.Join(c.dataDir(), pipeline.LyingFile), time.Now(), o.Log)
	if err != nil {
		o.Log.Warn("obstacles under ships are not known from before the restart", "err", err)
	}
	p.tasks = append(p.tasks, l)
	return l
}
