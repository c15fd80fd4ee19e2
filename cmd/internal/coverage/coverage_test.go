package coverage

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration/lens"
)

func TestTheCoveragePictureShowsWhatIsCovered(t *testing.T) {
	s := lens.GuideState{Views: 3, Covered: 2.0 / 48, Tilts: [4]bool{true, false, true, false}, Far: true,
		Advice: "tilt it", Sigma: &lens.GuideSigma{Fx: 1.25, Fy: 1, Cx: 2, Cy: 3, Mat: 0.12, RMS: 0.2}}
	s.Counts[0][0], s.Counts[5][7] = 20, 2
	assert.Equal(t, []string{
		"+----------------+",
		"|██              |  views     3",
		"|                |  covered   4 % of the picture",
		"|                |  tilted    left yes, right no, top yes, bottom no",
		"|                |  distance  near no, far yes",
		"|                |  so far    fx ± 1.2, fy ± 1.0, cx ± 2.0, cy ± 3.0 px",
		"|              ░░|            a mat point ± 0.12 mm, rms 0.20 px",
		"+----------------+",
		"next: tilt it",
	}, Picture(s))
}

func TestWithoutATerminalOnlyChangesArePrinted(t *testing.T) {
	var out bytes.Buffer
	r := NewReport(&out)
	s := lens.GuideState{Views: 1, Advice: "tilt it"}
	for range 3 {
		r.Step("frame 1", lens.GuideStep{Outcome: lens.GuideNotFound, Reason: "no board"}, s)
		r.Step("frame 2", lens.GuideStep{Outcome: lens.GuideMoving, Reason: "hold still"}, s)
	}
	r.Step("frame 3", lens.GuideStep{Outcome: lens.GuideTaken, Added: "the first view"}, s)
	r.Step("frame 4", lens.GuideStep{Outcome: lens.GuideNotFound, Reason: "no board"}, s)
	assert.Equal(t, "frame 1: no board\nframe 3: view 1 taken: it adds the first view; next: tilt it\nframe 4: no board\n", out.String())
}

func TestOnATerminalThePictureIsRedrawnInPlace(t *testing.T) {
	var out bytes.Buffer
	r := &Report{out: &out, place: true}
	s := lens.GuideState{Advice: strings.Repeat("a long advice ", 12)}
	r.Step("frame 1", lens.GuideStep{Outcome: lens.GuideNotFound, Reason: "no board"}, s)
	first := out.String()
	assert.NotContains(t, first, "A\x1b", "nothing stands there yet")
	n := strings.Count(first, "\n")
	out.Reset()
	r.Step("frame 2", lens.GuideStep{Outcome: lens.GuideNotFound, Reason: "no board"}, s)
	assert.True(t, strings.HasPrefix(out.String(), "\x1b["+string(rune('0'+n/10))+string(rune('0'+n%10))+"A"), "%q", out.String()[:8])
	for _, line := range strings.Split(strings.ReplaceAll(first, "\x1b[2K", ""), "\n") {
		assert.LessOrEqual(t, len([]rune(line)), 79, line)
	}
}
