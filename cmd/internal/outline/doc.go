// Package outline lets a person mark bases by hand: on a live picture, on the held one, or on a
// photograph dropped on its page, /outline. The person drags a wire frame onto the base; a second
// try shows the person's precision. The marks are measured like any scene. They can be held, so
// that every page shows them and a judge can rule on them.
//
// Pictures stay in memory, at most a few and for an hour. Stored are only rulings, and the last
// marks in a picture of the camera together with what the picture showed there: the page offers
// these marks again if a later picture shows the same.
package outline
