// Package rulebook has the texts of the rules that verdicts name, for the judge's page and the
// documents of rulings.
package rulebook

import "strings"

// Rule is a rule's name and text.
type Rule struct {
	Name string `json:"number"` // "G16"
	Text string `json:"text"`
}

// Of returns the rules that the engine names, as in "1e G34 G36", with their texts.
func Of(rule string) []Rule {
	var out []Rule
	for _, word := range strings.Fields(rule) {
		if strings.HasPrefix(word, "G") {
			out = append(out, Rule{word, Texts[word]})
		}
	}
	return out
}

// Texts are the rules' texts by name, as in docs/rules.md. They must not be changed.
var Texts = map[string]string{
	"G2":  "The band that falls over the closest point is the range; here a band is closed at its far edge, 100.0 mm is range 1.",
	"G3":  "Attack range goes to the closest point of the target inside the arc.",
	"G4":  "Attack range goes to the closest point of the target inside the arc; range and attack range are two results.",
	"G7":  "A weapon that may fire out of arc measures to the closest point, in the arc or not.",
	"G8":  "It may not use the closest point in the arc instead.",
	"G10": "At a range: the band of the closest point.",
	"G16": "At a range: the band of the closest point, of objects too.",
	"G17": "Objects in contact, guides counted, are at range 0.",
	"G19": "Contact is range 1, and so is a ship of itself.",
	"G34": "Of lines of equal length the attacker may choose one.",
	"G36": "Obstructed: the range is measured through an obstacle.",
	"G37": "Obstructed: the range is measured through one or more obstacles.",
	"G45": "In arc: any part of the base is in the area of the arc.",
	"G47": "Some tokens print an auxiliary arc.",
	"G50": "A ship with a primary turret has a printed arc too.",
	"G59": "The arcs' lines are crossed diagonals: one apex.",
	"G60": "Full arcs divide at the hashmarks on the base's sides.",
	"G61": "A turret fires in the arc that it points to.",
	"G62": "A double turret has two.",
	"G64": "The bullseye is a strip with parallel sides.",
	"G73": "A ship at range 0 is no target.",
	"G95": "Touching: one ship overlapped the other in a maneuver, and they are in contact since.",

	"G102": "A ship may not attack one that it touches.",
	"G175": "On an asteroid, no attack.",
	"G177": "At range 0 of an asteroid, no attack.",
	"G178": "At range 0 of any obstacle, no attack.",
	"G179": "At range 0 of a gas cloud, no locks either way.",
}
