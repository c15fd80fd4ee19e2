// Package watch tells, picture by picture, whether a table's calibration still holds.
//
// A [Monitor] compares the mat's markers with where the first pictures showed them. Its
// [Verdict] says whether camera and markers are still where they were, which markers are
// missing or were bumped, and how large a motion the markers in view could have missed.
package watch
