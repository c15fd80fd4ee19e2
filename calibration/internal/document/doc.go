// Package document reads and writes the files of package calibration and its subpackages: strict
// YAML with errors that name the line, a hash of a file's content, and saving that loses nothing
// when the power fails. Package strictjson reads their JSON.
package document
