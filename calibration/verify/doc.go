// Package verify checks a table calibration against a printed card of known distances.
//
// [Run] measures every known distance of the check card ([DefaultCard]) at every place
// where it lay, compares the errors with the calibration's stated sigmas, and names the
// likely cause when they are too large. A [Record] is stored next to the table's file and
// says whether the verification applies to the calibration in use. [FitSurface] measures the
// mat's flatness with the same card, and a [GaugeStudy] the repeatability of a distance.
package verify
