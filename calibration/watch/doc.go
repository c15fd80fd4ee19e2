// Package watch checks, picture by picture, whether a table's calibration is still valid.
//
// A [Monitor] compares the mat's markers with their places in the first pictures. Its
// [Verdict] says whether camera and markers have moved, which markers are missing or were
// bumped, and how large a motion the visible markers could have missed.
package watch
