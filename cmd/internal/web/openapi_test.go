package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/engine"
)

// description is the OpenAPI document, for tests.
type description map[string]any

func described(t testing.TB, s http.Handler) description {
	answer := ask(s, http.MethodGet, "/api/openapi.json", "", network, "")
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	var d description
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &d))
	return d
}

// at goes down by keys; nil where there is nothing.
func (d description) at(keys ...string) any {
	var x any = map[string]any(d)
	for _, k := range keys {
		m, _ := x.(map[string]any)
		x = m[k]
	}
	return x
}

// follow follows a reference.
func (d description) follow(x any) map[string]any {
	m, _ := x.(map[string]any)
	if ref, ok := m["$ref"].(string); ok {
		return d.follow(d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
	}
	return m
}

// check lists what of a JSON value the schema does not allow. It knows what this
// document uses of JSON Schema, and an object may hold nothing that is not described.
func (d description) check(schema, value any, where string) (wrong []string) {
	s := d.follow(schema)
	say := func(format string, a ...any) { wrong = append(wrong, where+": "+fmt.Sprintf(format, a...)) }
	if any, ok := s["anyOf"].([]any); ok {
		for _, one := range any {
			w := d.check(one, value, where)
			if len(w) == 0 {
				return nil
			}
			wrong = append(wrong, w...)
		}
		return wrong
	}
	if allowed, ok := s["enum"].([]any); ok && !slices.Contains(allowed, value) {
		say("%v is none of %v", value, allowed)
	}
	kind, _ := s["type"].(string)
	switch v := value.(type) {
	case nil:
		if kind != "" && kind != "null" {
			say("null is no %s", kind)
		}
	case map[string]any:
		if kind != "object" && kind != "" {
			say("an object is no %s", kind)
		}
		wrong = append(wrong, d.checkObject(s, v, where)...)
	case []any:
		if kind != "array" && kind != "" {
			say("an array is no %s", kind)
		}
		if least, ok := s["minItems"].(float64); ok && len(v) < int(least) {
			say("%d items are too few", len(v))
		}
		for i, one := range v {
			wrong = append(wrong, d.check(s["items"], one, fmt.Sprintf("%s[%d]", where, i))...)
		}
	case string:
		if kind != "string" && kind != "" {
			say("%q is no %s", v, kind)
		}
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			say("%q does not match %s", v, p)
		}
	case bool:
		if kind != "boolean" && kind != "" {
			say("%v is no %s", v, kind)
		}
	case float64:
		if kind != "number" && kind != "" && (kind != "integer" || v != float64(int64(v))) {
			say("%v is no %s", v, kind)
		}
	}
	return wrong
}

func (d description) checkObject(s, v map[string]any, where string) (wrong []string) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, key := range required {
		if _, ok := v[key.(string)]; !ok {
			wrong = append(wrong, where+": "+key.(string)+" is missing")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		p, known := properties[key]
		if !known {
			rest, ok := s["additionalProperties"]
			if !ok && properties != nil {
				wrong = append(wrong, where+": "+key+" is not described")
				continue
			}
			p = rest
		}
		wrong = append(wrong, d.check(p, v[key], where+"."+key)...)
	}
	return wrong
}

// addressOf is a route's pattern as OpenAPI writes it.
func addressOf(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	return strings.ToLower(method), strings.TrimSuffix(path, "{$}")
}

func TestEveryRouteIsDescribedAndNothingElse(t *testing.T) {
	_, s := everything(t)
	d := described(t, s)
	assert.Equal(t, "3.1.0", d.at("openapi"))
	there := map[string]bool{}
	for _, r := range s.Routes() {
		method, path := addressOf(r.Pattern)
		there[method+" "+path] = true
		operation, ok := d.at("paths", path, method).(map[string]any)
		if !assert.True(t, ok, "no file in openapi/ describes %s: add it to the one of your part", r.Pattern) {
			continue
		}
		assert.Equal(t, r.Role.String(), operation["x-role"], "x-role of %s", r.Pattern)
		assert.NotEmpty(t, operation["summary"], r.Pattern)
		for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
			text, err := json.Marshal(operation["parameters"])
			require.NoError(t, err)
			assert.Contains(t, string(text), `"name":"`+name[1]+`"`, "%s: its parameter", r.Pattern)
		}
	}
	paths, _ := d.at("paths").(map[string]any)
	for path, operations := range paths {
		for method := range operations.(map[string]any) {
			assert.True(t, there[method+" "+path], "%s %s is described, and there is no such route", method, path)
		}
	}
}

func TestEveryReferenceOfTheDescriptionLeadsSomewhere(t *testing.T) {
	_, s := everything(t)
	d := described(t, s)
	used := map[string]bool{}
	var walk func(x any)
	walk = func(x any) {
		switch v := x.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				used[ref] = true
				assert.NotNil(t, d.follow(v), ref)
			}
			for _, y := range v {
				walk(y)
			}
		case []any:
			for _, y := range v {
				walk(y)
			}
		}
	}
	walk(map[string]any(d))
	schemas, _ := d.at("components", "schemas").(map[string]any)
	for name := range schemas {
		assert.True(t, used["#/components/schemas/"+name], "nothing uses %s", name)
	}
}

// Real answers, in several states of the table, say nothing that is not described.
func TestAnswersAreAsDescribed(t *testing.T) {
	states := map[string]func(*fakeTable){
		"a pair is answered": func(f *fakeTable) { f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}) },
		"nothing is chosen":  func(*fakeTable) {},
		"too close":          func(f *fakeTable) { f.choose(live.Choice{From: "A1", To: "A2", Arc: engine.ArcFront}) },
		"no camera": func(f *fakeTable) {
			f.change(func(state *live.State) { *state = live.State{Health: live.Health{Code: live.NoCamera}} })
		},
	}
	for name, make := range states {
		t.Run(name, func(t *testing.T) {
			f, s := everything(t)
			make(f)
			d := described(t, s)
			checked := 0
			for _, r := range s.Routes() {
				method, path := addressOf(r.Pattern)
				line := routeLines[r.Pattern]
				asked := path
				if line.path != "" {
					asked = line.path
				}
				answer := ask(s, strings.ToUpper(method), asked, line.body, loopback, s.Cookie(access.Judge, "Jo", time.Now()))
				response := d.follow(d.at("paths", path, method, "responses", fmt.Sprint(answer.Code)))
				if answer.Code >= 500 && answer.Code != http.StatusServiceUnavailable {
					continue // a part that the test's table does not have
				}
				if !assert.NotNil(t, response, "%s answers %d, which is not described: %s", r.Pattern, answer.Code, answer.Body) {
					continue
				}
				content, _ := response["content"].(map[string]any)
				kind, _, _ := mime.ParseMediaType(answer.Header().Get("Content-Type"))
				if answer.Body.Len() == 0 {
					continue
				}
				described, ok := content[kind].(map[string]any)
				if !assert.True(t, ok, "%s answers %d as %s, which is not described", r.Pattern, answer.Code, kind) || kind != "application/json" {
					continue
				}
				var value any
				require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &value), r.Pattern)
				assert.Empty(t, d.check(described["schema"], value, r.Pattern), "openapi/ does not fit the answer")
				checked++
			}
			assert.Greater(t, checked, 4)
		})
	}
}

func TestTheCheckOfTheDescriptionFindsWhatIsWrong(t *testing.T) {
	_, s := everything(t)
	d := described(t, s)
	var state map[string]any
	require.NoError(t, json.Unmarshal(ask(s, http.MethodGet, "/api/state", "", loopback, "").Body.Bytes(), &state))
	schema := map[string]any{"$ref": "#/components/schemas/State"}
	require.Empty(t, d.check(schema, state, "state"))
	for name, spoil := range map[string]func(map[string]any){
		"a key too many":     func(m map[string]any) { m["surprise"] = 1.0 },
		"a key too few":      func(m map[string]any) { delete(m, "ships") },
		"a text for a list":  func(m map[string]any) { m["ships"] = "none" },
		"null for a number":  func(m map[string]any) { m["seq"] = nil },
		"a fraction":         func(m map[string]any) { m["seq"] = 1.5 },
		"no such state":      func(m map[string]any) { m["health"].(map[string]any)["code"] = "fine" },
		"a list in a number": func(m map[string]any) { m["sigmas"] = []any{3.0} },
	} {
		var copied map[string]any
		data, err := json.Marshal(state)
		require.NoError(t, err)
		require.NoError(t, json.NewDecoder(bytes.NewReader(data)).Decode(&copied))
		spoil(copied)
		assert.NotEmpty(t, d.check(schema, copied, "state"), name)
	}
}
