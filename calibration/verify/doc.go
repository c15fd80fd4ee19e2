// Package verify checks a table calibration against a printed card of known distances.
//
// [Run] measures every known distance of the check card ([DefaultCard]) at every place
// where it lay, compares the errors with the sigmas that the calibration states, and names
// the likely cause when they are too large. A [Record] stands next to the table's file and
// says whether the verification still speaks for the calibration in use. [FitSurface]
// measures with the same card how flat the mat is, and a [GaugeStudy] how well one distance
// repeats.
package verify
