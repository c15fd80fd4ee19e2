package game

import (
	"fmt"
	"slices"
	"time"

	"sightline/cmd/internal/kept"
	"sightline/cmd/internal/live"
)

// agreementFile stores the agreement on measuring in the data directory: after a restart during
// a game the program must not show more than the players agreed on. A declaration is not stored,
// since it concerns one moment.
const agreementFile = "agreement.json"

// agreementFor is how long a stored agreement is valid: a day of play. After that, the
// configured one counts again.
const agreementFor = 12 * time.Hour

// agreement is the content of the file.
type agreement struct {
	Measuring live.Measuring `json:"measuring"`
	Instead   live.Measuring `json:"instead_of"` // the configured one; if that changed since, it counts
	kept.Stamp
}

// loadAgreement returns the stored agreement, or else the configured one. If the machine's clock does not tell how old the stored one
// is, it returns the stricter of the two, and the stored one as lost if that is another.
func loadAgreement(path string, configured live.Measuring, now time.Time, clock *kept.Clock) (m, lost live.Measuring, err error) {
	var a agreement
	found, err := readFile(path, "agreement", &a)
	if err != nil || !found {
		return configured, "", err
	}
	if _, err := live.ParseMeasuring(string(a.Measuring)); err != nil {
		return configured, "", fmt.Errorf("agreement: %s: measuring: %w", path, err)
	}
	switch age, known := clock.Since(a.Stamp, now); {
	case a.Instead != configured, known && age > agreementFor:
		return configured, "", nil
	case !known && slices.Index(strictness, a.Measuring) < slices.Index(strictness, configured):
		return configured, a.Measuring, nil
	}
	return a.Measuring, "", nil
}

// strictness orders the agreements.
var strictness = []live.Measuring{live.MeasuringFree, live.MeasuringEdition, live.MeasuringJudge}

// storeAgreement stores the agreement. The caller holds mu.
func (g *Game) storeAgreement(to live.Measuring) {
	if g.o.Dir == "" {
		return
	}
	err := writeFile(g.file(agreementFile), agreement{to, g.o.Rules.Measuring, g.o.Clock.Stamp(g.o.Now())})
	if err != nil && !g.unstored {
		g.o.Log.Warn("the agreement on measuring is not stored", "err", err)
		g.note("This agreement could not be saved: if the program restarts now, the one before may count again.")
	}
	g.unstored = err != nil
}

// storeAgreementAgain stores an agreement that could not be stored, when that works.
func (g *Game) storeAgreementAgain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unstored {
		g.storeAgreement(g.policy.Measuring)
	}
}

// restoreAgreement puts a stored agreement into force when the program starts.
func (g *Game) restoreAgreement(m, lost live.Measuring) {
	if lost != "" {
		g.Note("Agree on measuring again: this machine's clock does not tell whether it was today: " + agreements[lost] + ".")
	}
	if m == g.policy.Measuring {
		return
	}
	g.update(func() {
		g.policy.Measuring = m
		g.note("As agreed before the program restarted: " + agreements[m] + ".")
	})
}
