package round

import (
	"fmt"
	"slices"
	"strings"

	"sightline/engine"
)

// Score returns both players' points: in 2.5 mission points, in older editions the points of the
// ships that the other player lost.
func (g *Game) Score() (score [2]int) {
	score = g.bonus
	if g.Rules == engine.Rules25 && g.Points > 0 {
		for i, total := range g.totals() {
			if total > 0 && total < g.Points {
				score[1-i] += g.Points - total // each player earns the opponent's deficit
			}
		}
	}
	for i := range g.Ships {
		p := &g.Ships[i]
		if p.Player < 1 || p.Player > 2 {
			continue
		}
		score[2-p.Player] += g.lost(p)
	}
	return score
}

// totals returns the points of both squads; 0 when those of a ship are unknown.
func (g *Game) totals() (total [2]int) {
	unknown := [2]bool{}
	for i := range g.Ships {
		if p := &g.Ships[i]; p.Player == 1 || p.Player == 2 {
			total[p.Player-1] += p.Points
			unknown[p.Player-1] = unknown[p.Player-1] || p.Points == 0
		}
	}
	for i := range total {
		if unknown[i] {
			total[i] = 0
		}
	}
	return total
}

// lost returns the points that the opponent has for a ship: all when it is gone, and in Chance
// Engagement half, rounded down, when it is at half its health.
func (g *Game) lost(p *Piece) int {
	switch {
	case p.Status.gone():
		return p.Points
	case p.Half && g.Scenario == Chance:
		return p.Points / 2
	}
	return 0
}

// left counts the ships of both players that are not gone; in 2.0 and 2.5 only those in the play
// area, without ships in reserve.
func (g *Game) left() (n [2]int) {
	for i := range g.Ships {
		p := &g.Ships[i]
		here := p.Status == OnTable || g.Rules == engine.Rules1e && !p.Status.gone()
		if here && (p.Player == 1 || p.Player == 2) {
			n[p.Player-1]++
		}
	}
	return n
}

// area says that ships in reserve are not counted, if there are any.
func (g *Game) area() string {
	if slices.ContainsFunc(g.Ships, func(p Piece) bool { return p.Status == Reserve || p.Status == Docked }) {
		return " in the play area"
	}
	return ""
}

// player names a player: the name, or "player 1".
func (g *Game) player(n int) string {
	if name := g.Players[n-1].Name; name != "" {
		return name
	}
	return fmt.Sprintf("player %d", n)
}

// Over says why the game ends at the end of this round, and who wins; "" when it does not end.
func (g *Game) Over() (why string, winner int) {
	n, score := g.left(), g.Score()
	ahead := 0
	switch {
	case score[0] > score[1]:
		ahead = 1
	case score[1] > score[0]:
		ahead = 2
	}
	both := n[0] > 0 && n[1] > 0
	switch {
	case n[0] == 0 && n[1] == 0:
		return "neither player has a ship left" + g.area(), 0
	case !both:
		winner = 1
		if n[0] == 0 {
			winner = 2
		}
		return g.player(3-winner) + " has no ship left" + g.area(), winner
	case g.Rules != engine.Rules25:
		return "", 0
	case ahead != 0 && score[ahead-1] >= enoughPoints && g.Scenario != NoScenario:
		return fmt.Sprintf("%s has %d mission points", g.player(ahead), score[ahead-1]), ahead
	case g.Round >= LastRound:
		return fmt.Sprintf("round %d was the last", LastRound), ahead
	}
	return "", 0
}

// Claim is what a player earns for a scenario's objectives in this round, according to the table.
type Claim struct {
	Player    int            `json:"player"`
	Points    int            `json:"points"` // the least, when it is too close
	Most      int            `json:"most"`
	Why       string         `json:"why"`
	Outcome   engine.Outcome `json:"-"`
	Undecided []string       `json:"undecided,omitempty"` // objectives that are too close to call
}

// Control says who may control an objective.
type Control struct {
	Objective string
	Possible  []int // players; 0 for neither
}

// Claims proposes what each player earns at the start of the End phase: in Assault at the
// Satellite Array one point for each satellite, in Chance Engagement one for contesting and one
// for contesting alone, in Salvage Mission one for each supply cache on a ship's card, and in
// Scramble the Transmissions one for each satellite with the player's marker ([Game.Held]).
func (g *Game) Claims(control []Control) (out []Claim) {
	if g.Rules != engine.Rules25 || g.Phase != End || g.Round < 2 {
		return nil
	}
	for player := 1; player <= 2; player++ {
		if slices.Contains(g.Scored, [2]int{g.Round, player}) {
			continue
		}
		c := Claim{Player: player}
		for _, o := range control {
			least, most := g.earns(player, o)
			c.Points, c.Most = c.Points+least, c.Most+most
			if least != most {
				c.Undecided = append(c.Undecided, o.Objective)
			}
		}
		c.Outcome = engine.Yes
		if c.Points != c.Most {
			c.Outcome = engine.Indeterminate
		}
		c.Why = claimText(g.Scenario, c)
		out = append(out, c)
	}
	return out
}

// earns returns the least and the most that an objective is worth to a player.
func (g *Game) earns(player int, o Control) (least, most int) {
	least = 2
	for _, p := range o.Possible {
		worth := 0
		switch {
		case p == player && g.Scenario == Chance:
			worth = 2
		case p == player:
			worth = 1
		case p == Both && g.Scenario == Chance:
			worth = 1
		}
		least, most = min(least, worth), max(most, worth)
	}
	return min(least, most), most
}

// Both is both players in a Control.
const Both = 3

func claimText(s Scenario, c Claim) string {
	what := map[Scenario]string{Assault: "satellites under control", Chance: "for contesting the satellite",
		Salvage: "supply caches on ship cards", Scramble: "satellites with the player's marker"}[s]
	if c.Outcome == engine.Yes {
		return fmt.Sprintf("%d %s", c.Points, what)
	}
	why := "too close to call at"
	if s == Salvage {
		why = "what was logged does not fit the table at"
	}
	return fmt.Sprintf("%d or %d %s: %s %s", c.Points, c.Most, what, why, listText(c.Undecided))
}

// orText joins alternatives: "A1 or B1".
func orText(all []string) string { return strings.Join(all, " or ") }

func numbersText(all []int) string {
	var out []string
	for _, n := range all {
		out = append(out, fmt.Sprint(n))
	}
	return orText(out)
}

func listText(all []string) string {
	if len(all) < 2 {
		return fmt.Sprint(append(all, "")[0])
	}
	text := all[0]
	for _, s := range all[1 : len(all)-1] {
		text += ", " + s
	}
	return text + " and " + all[len(all)-1]
}
