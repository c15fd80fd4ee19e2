// Package enrol is the page /looks, on which ships that carry nothing of ours are shown to the camera once: it guides somebody
// through the four quarter turns of a base on the jig sheet, and lists, renames and deletes what was shown.
package enrol
