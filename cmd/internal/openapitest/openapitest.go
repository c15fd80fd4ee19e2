// Package openapitest checks an OpenAPI document in tests: against the routes of a server, and
// against what they answer.
package openapitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Document is an OpenAPI document.
type Document map[string]any

// Read reads a document.
func Read(t testing.TB, raw []byte) Document {
	t.Helper()
	var d Document
	require.NoError(t, json.Unmarshal(raw, &d))
	assert.Equal(t, "3.1.0", d.At("openapi"))
	return d
}

// At returns the value under nested keys, or nil.
func (d Document) At(keys ...string) any {
	var x any = map[string]any(d)
	for _, k := range keys {
		m, _ := x.(map[string]any)
		x = m[k]
	}
	return x
}

// Follow follows a reference.
func (d Document) Follow(x any) map[string]any {
	m, _ := x.(map[string]any)
	if ref, ok := m["$ref"].(string); ok {
		return d.Follow(d.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
	}
	return m
}

// Check lists what a schema does not allow in a JSON value. It knows the part of JSON Schema that
// this document uses. Keys of an object that are not described are wrong.
func (d Document) Check(schema, value any, where string) (wrong []string) {
	s := d.Follow(schema)
	say := func(format string, a ...any) { wrong = append(wrong, where+": "+fmt.Sprintf(format, a...)) }
	if any, ok := s["anyOf"].([]any); ok {
		for _, one := range any {
			w := d.Check(one, value, where)
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
			wrong = append(wrong, d.Check(s["items"], one, fmt.Sprintf("%s[%d]", where, i))...)
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

func (d Document) checkObject(s, v map[string]any, where string) (wrong []string) {
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
		wrong = append(wrong, d.Check(p, v[key], where+"."+key)...)
	}
	return wrong
}

// wildcard is a part of a route's path that stands for others.
var wildcard = regexp.MustCompile(`\{(\w+)\}`)

// Address is a route's pattern as OpenAPI writes it.
func Address(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	return strings.ToLower(method), strings.ReplaceAll(strings.TrimSuffix(path, "{$}"), "...}", "}")
}

// CheckRoutes checks that every route is described, and nothing else. Of each pattern of
// net/http's ServeMux, routes says who may ask.
func (d Document) CheckRoutes(t testing.TB, routes map[string]string) {
	t.Helper()
	there := map[string]bool{}
	for pattern, role := range routes {
		method, path := Address(pattern)
		there[method+" "+path] = true
		operation, ok := d.At("paths", path, method).(map[string]any)
		if !assert.True(t, ok, "no file in openapi/ describes %s: add it to the one of your part", pattern) {
			continue
		}
		assert.Equal(t, role, operation["x-role"], "x-role of %s", pattern)
		assert.NotEmpty(t, operation["summary"], pattern)
		for _, name := range wildcard.FindAllStringSubmatch(path, -1) {
			text, err := json.Marshal(operation["parameters"])
			require.NoError(t, err)
			assert.Contains(t, string(text), `"name":"`+name[1]+`"`, "%s: its parameter", pattern)
		}
	}
	paths, _ := d.At("paths").(map[string]any)
	for path, operations := range paths {
		for method := range operations.(map[string]any) {
			assert.True(t, there[method+" "+path], "%s %s is described, and there is no such route", method, path)
		}
	}
}

// CheckReferences checks that every reference leads somewhere, and that every schema is used.
func (d Document) CheckReferences(t testing.TB) {
	t.Helper()
	used := map[string]bool{}
	var walk func(x any)
	walk = func(x any) {
		switch v := x.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				used[ref] = true
				assert.NotNil(t, d.Follow(v), ref)
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
	schemas, _ := d.At("components", "schemas").(map[string]any)
	for name := range schemas {
		assert.True(t, used["#/components/schemas/"+name], "nothing uses %s", name)
	}
}

// CheckAnswer checks an answer of a route against its description. checked reports whether the
// answer was JSON and described.
func (d Document) CheckAnswer(t testing.TB, pattern string, answer *httptest.ResponseRecorder) (checked bool) {
	t.Helper()
	method, path := Address(pattern)
	if answer.Code >= 500 && answer.Code != http.StatusServiceUnavailable {
		return false // a part that the test's server does not have
	}
	responses, _ := d.At("paths", path, method, "responses").(map[string]any)
	response := d.Follow(responses[fmt.Sprint(answer.Code)])
	if response == nil {
		response = d.Follow(responses["default"])
	}
	if !assert.NotNil(t, response, "%s answers %d, which is not described: %s", pattern, answer.Code, answer.Body) {
		return false
	}
	content, _ := response["content"].(map[string]any)
	kind, _, _ := mime.ParseMediaType(answer.Header().Get("Content-Type"))
	if answer.Body.Len() == 0 {
		return false
	}
	described, ok := content[kind].(map[string]any)
	if !assert.True(t, ok, "%s answers %d as %s, which is not described", pattern, answer.Code, kind) || kind != "application/json" {
		return false
	}
	var value any
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &value), pattern)
	return assert.Empty(t, d.Check(described["schema"], value, pattern), "openapi/ does not fit the answer")
}
