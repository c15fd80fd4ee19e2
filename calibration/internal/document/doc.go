// Package document reads and writes the files of package calibration and its parts, whatever
// they hold: strict decoding with errors that name the line or key, a hash of what a file
// says, and saving that loses nothing when the power fails.
package document
