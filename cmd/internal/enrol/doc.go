// Package enrol is the page /looks, on which people show stock ships to the camera. It leads
// through the four quarter turns of a base on the jig sheet, and lists, renames and deletes
// looks.
package enrol
