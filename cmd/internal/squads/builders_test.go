package squads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the squad builders write: the format's keys, keys of their own, and points and upgrades in
// several ways. The squads are of our own writing.
func TestSquadsOfTheBuilders(t *testing.T) {
	for _, c := range []struct {
		builder, xws string
		edition      string
		ids          []string
		points       []int
	}{
		{"yasb, 2.5", `{"description":"","faction":"galacticempire","name":"Aces","obstacles":["coreasteroid5","core2asteroid5","gascloud3"],
			"pilots":[{"id":"darthvader","name":"darthvader","points":6,"ship":"tieadvancedx1","upgrades":{"force-power":["hate"],
			"sensor":["firecontrolsystem"]}},{"id":"soontirfel","name":"soontirfel","points":5,"ship":"tieininterceptor","upgrades":{}}],
			"points":11,"vendor":{"yasb":{"builder":"YASB - X-Wing 2.5","builder_url":"https://yasb.app","link":"https://yasb.app/?f=x"}},
			"version":"10/08/2023"}`, "second", []string{"darthvader", "soontirfel"}, []int{6, 5}},
		{"yasb, 2.0, without names", `{"faction":"rebelalliance","pilots":[{"id":"wedgeantilles","ship":"t65xwing","points":52,
			"upgrades":{"configuration":["servomotorsfoils"]}}],"points":52,"version":"2.0.0","vendor":{"yasb":{}}}`, "second",
			[]string{"wedgeantilles"}, []int{52}},
		{"launch bay next", `{"name":"Unnamed squadron","faction":"scumandvillainy","pilots":[{"ship":"firesprayclasspatrolcraft","id":"bobafett",
			"upgrades":{"crew":["perceptivecopilot"],"title":["slave1"]},"points":9}],"points":9,"version":"2.5.0","vendor":{"lbn":{
			"builder":"Launch Bay Next","builder_url":"https://launchbaynext.app","uid":"a-b-c"}},"ruleset":"AMG","format":"Standard"}`,
			"second", []string{"bobafett"}, []int{9}},
		{"launch bay next, lists of nothing", `{"name":null,"faction":"firstorder","pilots":[{"ship":"tiefofighter","id":"midnight",
			"upgrades":[],"points":null}],"version":"2.5.0","obstacles":[]}`, "second", []string{"midnight"}, []int{0}},
		{"fabs, 2.0", `{"faction":"resistance","pilots":[{"id":"poedameron","ship":"t70xwing","points":"68","upgrades":{"talent":["heroic"]},
			"vendor":{"fabs":{"skill":6}}}],"vendor":{"fabs":{"builder":"Fab's Squadron Builder","url":"https://x-wing.fabpsb.net"}},
			"version":"2.0.0","tags":["a","b"]}`, "second", []string{"poedameron"}, []int{68}},
		{"fabs, first edition", `{"description":"","faction":"rebel","name":"Wing","pilots":[{"name":"wedgeantilles","points":31,"ship":"xwing",
			"upgrades":{"ept":["predator"],"amd":["r2d2"]}},{"name":"rookiepilot","ship":"xwing"}],"points":52,
			"vendor":{"fabs":{}},"version":"0.3.0"}`, "first", []string{"wedgeantilles", "rookiepilot"}, []int{31, 0}},
		{"yasb, first edition, a huge ship", `{"faction":"rebel","pilots":[{"name":"cr90corvettefore","ship":"cr90corvettefore","points":50,
			"multisection_id":0},{"name":"cr90corvetteaft","ship":"cr90corvetteaft","points":40,"multisection_id":0}],"version":"0.3.0",
			"vendor":{"voidstate":{"url":"https://xwing-builder.co.uk"}}}`, "first", []string{"cr90corvettefore", "cr90corvetteaft"},
			[]int{50, 40}},
		{"the publisher's builder", "\xEF\xBB\xBF" + `{"version":"2.0.0","description":"","pilots":[{"id":"anakinskywalker",
			"name":"anakinskywalker","ship":"delta7aethersprite","points":60.0,"upgrades":{"configuration":["delta7b"]}}],
			"faction":"galacticrepublic","name":"Jedi","points":60,"vendor":{"ffg":{"builder_url":"https://squadbuilder"}}}`, "second",
			[]string{"anakinskywalker"}, []int{60}},
		{"no ship named", `{"faction":"separatistalliance","pilots":[{"id":"generalgrievous"},{"id":"dfs081"}]}`, "second",
			[]string{"generalgrievous", "dfs081"}, []int{0, 0}},
		{"an imperial list of the first edition", `{"faction":"imperial","name":"Ünïcode “quotes”","pilots":[{"name":"howlrunner","ship":"tiefighter",
			"upgrades":{"ept":["swarmtactics"]},"points":20},{"name":"academypilot","ship":"tiefighter","points":12}],"version":"0.2.0"}`,
			"first", []string{"howlrunner", "academypilot"}, []int{20, 12}},
	} {
		r := checked(t, c.xws)
		assert.Empty(t, r.Unknown, c.builder)
		assert.Empty(t, r.Strangers, c.builder)
		assert.Equal(t, c.edition, r.Edition, c.builder)
		var ids []string
		var points []int
		for _, s := range r.Ships {
			ids, points = append(ids, s.ID), append(points, s.Points)
		}
		assert.Equal(t, c.ids, ids, c.builder)
		assert.Equal(t, c.points, points, c.builder)
	}
}

// A pilot of whom nothing is known is not lost.
func TestUnknownPilotsAreStrangers(t *testing.T) {
	r := checked(t, `{"faction":"rebelalliance","pilots":[{"id":"nobody","ship":"nothing","points":4},{"id":"noone"},{"id":"wedgeantilles"}]}`)
	assert.Len(t, r.Ships, 1)
	assert.Len(t, r.Strangers, 2)
	assert.Equal(t, []string{"nobody", "nothing", "noone"}, r.Unknown)
}
