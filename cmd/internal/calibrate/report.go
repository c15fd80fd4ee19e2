package calibrate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// printTable prints a table calibration for people: the camera's pose, the markers' residuals, the
// uncertainty, and advice if it is poor.
func printTable(out io.Writer, t *calibration.Table, scale calibration.ScaleCheck, flat verify.FlatnessFit, file string) error {
	middle, corner, sure := sureness(calibration.NewBudget(*t, calibration.Uncertainty{}))
	printWarnings(out, t, file, scale, corner) // first, so that they are not overlooked
	center := t.Center()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	known := t.CenterSigma()
	fmt.Fprintf(w, "camera\t%.1f ± %.1f mm over the mat at x %.1f ± %.1f, y %.1f ± %.1f mm (1 sigma)\n", center[2], known[2],
		center[0], known[0], center[1], known[1])
	fmt.Fprintf(w, "rms\t%.3f px of the markers' corners\n", t.RMS)
	ids := make([]string, len(t.Used))
	for i, id := range slices.Sorted(slices.Values(t.Used)) {
		ids[i] = fmt.Sprint(id)
	}
	fmt.Fprintf(w, "markers\t%d of %d used: %s\n", len(t.Used), len(t.Layout.Markers), strings.Join(ids, " "))
	for _, r := range t.Rejected {
		fmt.Fprintf(w, "left out\t%s: %s\n", r.Name, r.Reason)
	}
	if corners, ok := t.MatCorners(); ok {
		for i, name := range [4]string{"near left", "near right", "far right", "far left"} {
			fmt.Fprintf(w, "mat corner\t%s at %.2f, %.2f px\n", name, corners[i].X, corners[i].Y)
		}
	}
	printScale(w, t, scale)
	if flat.Surface != nil {
		fmt.Fprintf(w, "flatness\tfrom %d places: %+.2f to %+.2f mm; heights known to %.2f mm there, before to %.2f mm\n", flat.Places,
			flat.Lowest.Millimeters(), flat.Highest.Millimeters(), flat.After.Millimeters(), flat.Before.Millimeters())
	}
	if sure {
		fmt.Fprintf(w, "sure to\t%.2f mm (1 sigma) at the mat's centre, %.2f mm in its worst corner: calibrate budget says why\n",
			calibration.LargestSigma(middle.Total(1)).Millimeters(), calibration.LargestSigma(corner.Total(1)).Millimeters())
	}
	fmt.Fprintf(w, "wrote\t%s\n", file)
	if err := w.Flush(); err != nil {
		return err
	}
	return printResiduals(out, t)
}

// printWarnings prints a paragraph for each reason not to trust a table, and advice for one that
// could be better.
func printWarnings(w io.Writer, t *calibration.Table, file string, scale calibration.ScaleCheck, corner calibration.Terms) {
	for _, d := range t.Doubts() {
		fmt.Fprintf(w, "warning: %s: %s: what follows is unverified\n\n", file, d)
	}
	for _, advice := range advise(t, scale, corner) {
		fmt.Fprintf(w, "warning: %s\n\n", advice)
	}
}

// printScale reports the effect of measured distances on the scale.
func printScale(w io.Writer, t *calibration.Table, scale calibration.ScaleCheck) {
	for _, d := range scale.Distances {
		fmt.Fprintf(w, "distance\tmarkers %d to %d: measured %.1f ± %.1f mm, %.2f mm by the layout: %+.2f mm, expected within ± %.2f mm\n",
			d.From, d.To, d.Length.Millimeters(), d.Sigma.Millimeters(), d.Seen.Millimeters(), d.Difference.Millimeters(), d.Expected.Millimeters())
	}
	if len(scale.Distances) > 0 {
		fmt.Fprintf(w, "scale\tchanged by %+.3f %%; now known to %.3f %%, before to %.3f %%\n", 100*scale.Change, 100*scale.After,
			100*scale.Before)
		return
	}
	fmt.Fprintf(w, "scale\tknown to %.3f %% by the layout alone; --distance A:B:MM makes it surer\n", 100*t.ScaleSigma)
}

// sureness returns the budget of a base's top at the mat's centre and at its worst corner.
func sureness(b *calibration.Budget) (middle, corner calibration.Terms, ok bool) {
	l := b.Table().Layout
	w, h := float64(l.Width), float64(l.Height)
	middle, ok = b.At(geom.Point{X: w / 2, Y: h / 2}, token.BaseTop)
	const in = 20 // half a small base
	for _, p := range [...]geom.Point{{X: in, Y: in}, {X: w - in, Y: in}, {X: w - in, Y: h - in}, {X: in, Y: h - in}} {
		terms, seen := b.At(p, token.BaseTop)
		ok = ok && seen
		if corner == nil || calibration.LargestSigma(terms.Total(1)) > calibration.LargestSigma(corner.Total(1)) {
			corner = terms
		}
	}
	return middle, corner, ok
}

// printResiduals prints how far each marker lies from where the others put it.
func printResiduals(out io.Writer, t *calibration.Table) error {
	if len(t.Residuals) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nHow far each marker lies from where the others put it (± what was expected, 1 sigma):\n\n")
	fmt.Fprint(w, "marker\talong the edge\taway from the mat\tturned\tsigmas\t\n")
	for _, m := range t.Residuals {
		note := ""
		if !m.Used {
			note = "left out: it was moved"
		}
		fmt.Fprintf(w, "%d\t%+.2f ± %.2f mm\t%+.2f ± %.2f mm\t%+.1f ± %.1f°\t%.1f\t%s\n", m.ID,
			m.Along.Millimeters(), m.AlongSigma.Millimeters(), m.Across.Millimeters(), m.AcrossSigma.Millimeters(),
			m.Turn.Degrees(), m.TurnSigma.Degrees(), m.Distance, note)
	}
	return w.Flush()
}

// The limits of a good table; beyond them the command gives advice.
const (
	goodScatter = 1.4  // multiple of the stated placement; chance exceeds it in one of a thousand tables
	goodCorner  = 0.5  // mm, sigma of a base in the mat's worst corner
	goodNoise   = 0.15 // px, of a marker's corner
	goodFocal   = 0.01 // relative sigma of the focal length that the markers' suspicion adds
	chanceFocal = 2.0  // sigmas from the lens file's focal length; chance exceeds it in one of 22 tables
	goodBend    = 0.3  // mm, sigma of the picture's bend
	otherLens   = 0.5  // probability of a lens that is not the file's
	goodMarkers = 6
)

// advise returns advice for a table that could be better, most important first.
func advise(t *calibration.Table, scale calibration.ScaleCheck, corner calibration.Terms) (out []string) {
	for _, m := range t.Residuals {
		if !m.Used {
			out = append(out, fmt.Sprintf("Marker %d lies %.1f mm from its place (%+.1f mm along the edge, %+.1f mm away from the mat). Lay it "+
				"again and repeat this; the rest of the table holds without it.",
				m.ID, m.Offset().Millimeters(), m.Along.Millimeters(), m.Across.Millimeters()))
		}
	}
	if scale.Contradicts() {
		out = append(out, "The measured distances contradict the layout or each other. Measure them again, from centre to centre; then measure "+
			"the mat: is it as large as --mat says?")
	}
	placement := t.Layout.Placement
	if placement == (calibration.Placement{}) {
		placement = calibration.DefaultPlacement
	}
	if k := math.Sqrt(t.PlacementFactor); k > goodScatter {
		out = append(out, fmt.Sprintf("The markers scatter by %.2f mm where %.2f mm was expected; every answer carries that. Measure their "+
			"places from the mat's corners again. If they are right, the lens file may be of another camera or focus.",
			k*placement.XY.Millimeters(), placement.XY.Millimeters()))
	}
	if x, y := t.Intrinsics.Fx, t.Intrinsics.Fy; !t.Intrinsics.Square() {
		out = append(out, fmt.Sprintf("The lens file's fx and fy (%.1f and %.1f px) differ by %.1f %%, as if the camera's pixels were not "+
			"square. Few cameras' are not: is one of the two a mistake?", x, y, 100*math.Abs(x/y-1)))
	}
	if t.FocalDoubt > goodFocal && t.FocalSigmas > chanceFocal {
		out = append(out, fmt.Sprintf("The markers suspect the lens: its focal length may be off by %.0f %%, which every answer now carries. "+
			"Is it the file of this lens, focus, zoom and picture size? calibrate lens makes a new one.", 100*t.FocalDoubt))
	}
	if t.OtherLens > otherLens {
		out = append(out, "The markers fit another lens better than the file's; every answer carries that. Is it the file of this lens, focus, "+
			"zoom and picture size, and is the picture neither cropped nor turned? calibrate lens makes a new one.")
	}
	if t.BentSigma.Millimeters() > goodBend {
		out = append(out, fmt.Sprintf("The picture is bent between the markers by about %.1f mm, and every answer carries that: the camera "+
			"shook, or corrects its picture by itself. Fix it, switch stabilisation and distortion correction off, and repeat this.",
			t.BentSigma.Millimeters()))
	}
	if t.CornerSigma > goodNoise {
		out = append(out, fmt.Sprintf("The markers' corners are known to %.2f px only, 0.05 is usual: focus the camera, give it more light, or "+
			"hold it still.", t.CornerSigma))
	}
	if oneSide(t) {
		out = append(out, fmt.Sprintf("All %d markers that are used lie along one side of the mat: the opposite one is known badly, and run "+
			"gives no answers while it sees no others. Let the camera see markers of two sides at least.", len(t.Used)))
	} else if len(t.Used) < goodMarkers {
		out = append(out, fmt.Sprintf("Only %d markers are used, and a bumped one is hard to tell among so few. Let the camera see at least %d.",
			len(t.Used), min(goodMarkers, len(t.Layout.Markers))))
	}
	if sigma := calibration.LargestSigma(corner.Total(1)); !scale.Contradicts() && sigma.Millimeters() > goodCorner {
		out = append(out, fmt.Sprintf("A base in the worst corner is known to %.2f mm. What counts most there is the %s (%s): see calibrate "+
			"budget.", sigma.Millimeters(), largest(corner), remedy(largest(corner))))
	}
	return out
}

// oneSide reports whether all used markers lie beyond the same side of the mat.
func oneSide(t *calibration.Table) bool {
	w, h := float64(t.Layout.Width), float64(t.Layout.Height)
	beyond := [...]func(p geom.Point) bool{
		func(p geom.Point) bool { return p.X < 0 }, func(p geom.Point) bool { return p.X > w },
		func(p geom.Point) bool { return p.Y < 0 }, func(p geom.Point) bool { return p.Y > h },
	}
	return slices.ContainsFunc(beyond[:], func(out func(geom.Point) bool) bool {
		return !slices.ContainsFunc(t.Layout.Markers, func(m calibration.Marker) bool { return slices.Contains(t.Used, m.ID) && !out(m.Center) })
	})
}

// largest returns the name of the largest term.
func largest(terms calibration.Terms) (name string) {
	most := -1.0
	for _, t := range terms {
		if s := calibration.LargestSigma(t.Cov).Millimeters(); s > most {
			most, name = s, t.Name
		}
	}
	return name
}

// remedy says how to reduce a term.
func remedy(term string) string {
	switch term {
	case calibration.TermPixel, calibration.TermModel:
		return "a camera with more pixels, or closer to the mat"
	case calibration.TermLens:
		return "calibrate lens with more views of the board, tilted and in the picture's corners"
	case calibration.TermPose:
		return "lay the markers more exactly and say so with --marker-sigma, or use more of them"
	case calibration.TermHeight, calibration.TermFlatness:
		return "lay the mat flat, and mount the camera higher"
	case calibration.TermScale:
		return "measure two long distances with a steel rule, --distance A:B:MM"
	}
	return "print and lay the tokens more exactly"
}
