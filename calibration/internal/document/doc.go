// Package document reads and writes the files of package calibration and its subpackages:
// strict decoding with errors that name the line or key, a hash of a file's content, and
// saving that loses nothing when the power fails.
package document
