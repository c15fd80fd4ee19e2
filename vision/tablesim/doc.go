// Package tablesim is the simulated table: it renders frames of a known scene through a known lens,
// and provides the truth about them. It is the source "sim:" and the truth of the end-to-end tests.
//
// A [Table] is a camera, a mat with its markers, a scene and a look; [Table.Render] returns a
// [vision.Frame] and its [Truth]. [RandomTable] makes varied tables from a seed, and [Open] plays a
// short scripted game.
//
// The renderer is a ray caster in plain Go. It shares no code with what it tests: it takes the
// camera's numbers from [calibration.Camera] but projects, undistorts and intersects by its own
// means (see lens.go), and a test compares the two. It shares only what is printed: the tokens'
// artwork ([token.Token.At]), the markers' cells and the layout.
//
// Light is summed in linear form and encoded with the sRGB curve at the end, as in a camera; blur
// and noise act on the linear light. The frames of reference are those of package geom: millimetres
// on the table, pixel centres at integers.
package tablesim
