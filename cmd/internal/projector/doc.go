// Package projector points at places on the mat. A projector over the table shows a browser page
// full screen, which draws thin lines: the measuring line, and the outlines of the ships whose turn
// it is. The calibrated camera finds where the page's pixels fall on the mat by tags that the page
// shows, and verifies the result with other tags.
//
// The projector points; it never measures. Its lines are lit only between the pictures that answers
// use: [Desk.Gate] holds back every picture that may show them.
package projector
