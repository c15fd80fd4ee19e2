package metrics_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/metrics"
)

// line is one figure in the text format 0.0.4.
var line = regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? (\S+)$`)

// values reads what was written, and checks that each figure has a head before it.
func values(t *testing.T, text string) map[string]float64 {
	t.Helper()
	out, typed := map[string]float64{}, map[string]bool{}
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if name, ok := strings.CutPrefix(l, "# TYPE "); ok {
			name, _, _ = strings.Cut(name, " ")
			require.False(t, typed[name], "%s is declared twice", name)
			typed[name] = true
		}
		if strings.HasPrefix(l, "#") {
			continue
		}
		m := line.FindStringSubmatch(l)
		require.NotNil(t, m, "%q", l)
		require.True(t, typed[m[1]], "%s has no type", m[1])
		x, err := strconv.ParseFloat(m[3], 64)
		require.NoError(t, err)
		out[m[1]+m[2]] = x
	}
	return out
}

func TestMachineFiguresAreWritten(t *testing.T) {
	root := fstest.MapFS{
		"sys/class/thermal/thermal_zone0/temp":                    {Data: []byte("61250\n")},
		"sys/class/thermal/thermal_zone1/temp":                    {Data: []byte("-274000\n")},
		"sys/class/thermal/thermal_zone2/temp":                    {Data: []byte("broken")},
		"sys/devices/platform/soc/soc:firmware/get_throttled":     {Data: []byte("0x50005\n")},
		"sys/devices/platform/soc/soc:firmware/get_throttled.txt": {Data: []byte("0")},
	}
	var b bytes.Buffer
	metrics.Machine(&b, root, map[string]string{"rulings": t.TempDir() + "/not/there/yet"})
	got := values(t, b.String())
	assert.Greater(t, got[`sightline_disk_free_bytes{keeps="rulings"}`], 1e6)
	delete(got, `sightline_disk_free_bytes{keeps="rulings"}`)
	assert.Equal(t, map[string]float64{
		`sightline_temperature_celsius{zone="0"}`:                  61.25,
		`sightline_throttled_now{reason="undervoltage"}`:           1,
		`sightline_throttled_now{reason="capped"}`:                 0,
		`sightline_throttled_now{reason="throttled"}`:              1,
		`sightline_throttled_now{reason="near_temperature_limit"}`: 0,

		`sightline_throttled_since_start{reason="undervoltage"}`:           1,
		`sightline_throttled_since_start{reason="capped"}`:                 0,
		`sightline_throttled_since_start{reason="throttled"}`:              1,
		`sightline_throttled_since_start{reason="near_temperature_limit"}`: 0,
	}, got)

	b.Reset()
	metrics.Machine(&b, fstest.MapFS{}, nil)
	assert.Empty(t, b.String(), "a machine that says nothing is not said to be cold")
}

func TestProcessFiguresAndVersionAreWritten(t *testing.T) {
	var b bytes.Buffer
	metrics.Build(&b, "a \"b\"\\c\nd")
	assert.Contains(t, b.String(), `{version="a \"b\"\\c\nd",goversion="go`)
	metrics.Process(&b)
	before := values(t, b.String())
	for sum, end := 0, before["process_cpu_seconds_total"]+0.05; ; sum++ { // takes time
		b.Reset()
		metrics.Process(&b)
		if values(t, b.String())["process_cpu_seconds_total"] > end {
			break
		}
		require.Less(t, sum, 1_000_000)
	}
	assert.Greater(t, before["process_resident_memory_bytes"], 1e6)
	assert.Greater(t, before["process_start_time_seconds"], 1e9)
}

func TestThrottledIsParsedFromKernelAndVcgencmd(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "50005": 0x50005, "0x50000\n": 0x50000, "throttled=0x4": 4} {
		bits, ok := metrics.ParseThrottled(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, bits, text)
	}
	for _, text := range []string{"", "0x", "nothing", "123456789"} {
		_, ok := metrics.ParseThrottled(text)
		assert.False(t, ok, text)
	}
}
