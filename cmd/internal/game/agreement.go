package game

import (
	"fmt"
	"time"

	"sightline/cmd/internal/live"
)

// agreementFile is the file of the agreement on measuring, in the data directory: a
// program that is started again in the middle of a game must not measure more than the
// players agreed on. What was declared is not kept: it is about one moment.
const agreementFile = "agreement.json"

// agreementFor is how long an agreement outlives the program: a day of play. The next
// begins with what the configuration says.
const agreementFor = 12 * time.Hour

// agreement is what the file holds.
type agreement struct {
	Measuring live.Measuring `json:"measuring"`
	Instead   live.Measuring `json:"instead_of"` // what the configuration said: one that was changed since counts
	At        time.Time      `json:"at"`
}

// loadAgreement returns what the players agreed on before the program restarted,
// or else what is configured.
func loadAgreement(path string, configured live.Measuring, now time.Time) (live.Measuring, error) {
	var a agreement
	found, err := readKept(path, "agreement", &a)
	if err != nil || !found {
		return configured, err
	}
	if _, err := live.ParseMeasuring(string(a.Measuring)); err != nil {
		return configured, fmt.Errorf("agreement: %s: measuring: %w", path, err)
	}
	if a.Instead != configured || now.Sub(a.At) > agreementFor {
		return configured, nil
	}
	return a.Measuring, nil
}

// keepAgreement writes down what holds from now on. The caller holds mu.
func (g *Game) keepAgreement(to live.Measuring) {
	if g.o.Dir == "" {
		return
	}
	if err := writeKept(g.file(agreementFile), agreement{to, g.o.Rules.Measuring, g.o.Now()}); err != nil {
		g.o.Log.Warn("the agreement on measuring is not kept", "err", err)
		g.note("This agreement could not be written down: if the program restarts, " + agreements[g.o.Rules.Measuring] + ".")
	}
}

// takeUp puts an agreement of before in force when the program starts.
func (g *Game) takeUp(m live.Measuring) {
	if m == g.policy.Measuring {
		return
	}
	g.update(func() {
		g.policy.Measuring = m
		g.note("As agreed before the program restarted: " + agreements[m] + ".")
	})
}
