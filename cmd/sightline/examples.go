package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// examples are working command lines, by command. --help and the manual page show them.
var examples = map[string][]string{
	"run": {
		"sightline run --source sim:",
		"sightline run --source /dev/video0 --lens lens.json",
		"sightline run --config /etc/sightline/sightline.toml --listen :8080",
	},
	"measure": {
		"sightline measure scene.json --from A1 --to B1",
		"sightline measure scene.json --arc bullseye --json",
		"sightline locate --calibration table.json table.jpg --json | sightline measure -",
	},
	"move": {
		"sightline move scene.json --ship A1 --maneuver 'bank left 2'",
		"sightline move scene.json --ship A1 --action 'barrel-roll left' --json",
		"sightline move scene.json --ship A1 --drop 'straight 1'",
	},
	"flown":               {"sightline flown before.json after.json --ship A1 --dial 1BB,2FB,3NW"},
	"check":               {"sightline check scene.json --setup", "sightline check scene.json --scenario salvage --json"},
	"draw":                {"sightline draw scene.json -o scene.svg --from A1 --to B1"},
	"locate":              {"sightline locate --calibration table.json table.jpg", "sightline locate --calibration table.json *.jpg --json"},
	"calibrate lens":      {"sightline calibrate lens --board chessboard:9x6:25mm board*.jpg -o lens.json"},
	"calibrate table":     {"sightline calibrate table --lens lens.json --source /dev/video0 -o table.json"},
	"calibrate quick":     {"sightline calibrate quick table.jpg -o table.json"},
	"calibrate verify":    {"sightline calibrate verify --calibration table.json card.jpg"},
	"calibrate budget":    {"sightline calibrate budget --calibration table.json"},
	"obstacles learn-mat": {"sightline obstacles learn-mat --calibration table.json --source /dev/video0 -o mat.png"},
	"obstacles learn":     {"sightline obstacles learn --calibration table.json --name rock1,rock2 --kind asteroid rocks.jpg -o rocks.json"},
	"looks learn": {
		"sightline looks learn --calibration table.json --jig A1,small --source /dev/video0 -o looks/",
		"sightline looks learn --calibration table.json --at A1,small,457,120,0 card.jpg -o looks/",
	},
	"looks list":        {"sightline looks list looks/"},
	"game list":         {"sightline game list"},
	"game export":       {"sightline game export 3 -o game.html"},
	"print all":         {"sightline print all -o first-table.pdf"},
	"print tokens":      {"sightline print tokens -o tokens.pdf", "sightline print tokens --ships A1-A4,A5:large -o tokens.pdf"},
	"print mat-markers": {"sightline print mat-markers --paper letter -o markers.pdf"},
	"print chessboard":  {"sightline print chessboard -o board.pdf"},
	"print charuco":     {"sightline print charuco -o board.pdf"},
	"print check-card":  {"sightline print check-card -o card.pdf"},
	"print jig":         {"sightline print jig -o jig.pdf"},
	"print ids":         {"sightline print ids --ships A1-A3 -o ids.pdf"},
	"squads check":      {"sightline squads check squad.xws", "sightline squads check squad.xws --json"},
	"squads notice":     {"sightline squads notice"},
	"doctor check":      {"sightline doctor", "sightline doctor check --config /etc/sightline/sightline.toml"},
	"doctor dark":       {"sightline doctor dark"},
	"doctor held":       {"sightline doctor held"},
	"doctor wiring":     {"sightline doctor wiring"},
	"setup-board":       {"sudo sightline setup-board"},
	"judge-secret":      {"sightline judge-secret"},
	"replay":            {"sightline replay 12"},
	"rulings list":      {"sightline rulings list"},
	"rulings verify":    {"sightline rulings verify"},
	"rulings export":    {"sightline rulings export 12 -o ruling.html"},
	"record":            {"sightline record --source /dev/video0 --calibration table.json --note kitchen -o table/"},
	"version":           {"sightline version"},
	"man":               {"sightline man > sightline.1"},
	"completion":        {"source <(sightline completion -c bash)", "sightline completion -c fish | source"},

	"hall run":          {"sightline hall --listen :8090", "sightline hall --listen :8090 --tables :4222 --state /srv/hall"},
	"hall invite":       {"sightline hall invite 7", "sightline hall invite 7 --for 48h --png table-7.png"},
	"hall revoke":       {"sightline hall revoke 7"},
	"hall tables":       {"sightline hall tables"},
	"hall judge-secret": {"sightline hall judge-secret", "sightline hall judge-secret --state /srv/hall"},
}

// addExamples adds examples to the help of their commands, and to that of a group the first example
// of each of its commands.
func addExamples(model *kong.Application) {
	for _, leaf := range model.Leaves(true) {
		lines := examples[leaf.Path()]
		show(leaf, lines)
		if group := leaf.Parent; group.Type == kong.CommandNode {
			show(group, lines[:min(1, len(lines))])
		}
	}
}

// show appends lines to a command's help.
func show(node *kong.Node, lines []string) {
	if len(lines) == 0 {
		return
	}
	if !strings.Contains(node.Detail, examplesHead) {
		node.Detail = strings.TrimSpace(node.Detail + "\n\n" + examplesHead + "\n")
	}
	node.Detail += "\n\t" + strings.Join(lines, "\n\t")
}

const examplesHead = "Examples:"
