// Package projector points at places on the mat: a projector over the table shows a browser's
// page full screen, which draws thin lines, the measuring line and the outlines of the ships
// whose turn it is. Where the page's pixels fall on the mat is found by the calibrated camera,
// which reads tags that the page shows, and is verified with other tags.
//
// The projector points; it never measures. Its lines are lit only between the pictures that
// answers are made from: [Desk.Gate] keeps every picture from the recognition that may show them.
package projector
