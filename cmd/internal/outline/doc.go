// Package outline lets a person mark bases by hand: on a live picture, on what is held, or on a photograph that is dropped
// on its page, /outline. The person drags a wire frame of a base onto the base; two tries say how exactly. What was marked
// is measured as any scene, and may be held, so that every page shows it and a judge rules on it.
//
// Pictures are kept in memory, a few and for an hour. What is written of them is what a ruling keeps, and what was marked last in a picture
// of the camera, with what that showed there: the marks are offered again where a later picture shows the same.
package outline
