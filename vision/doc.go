// Package vision leads from pictures to a scene. It holds the values and interfaces that the
// packages below it share: a [Frame] and its source, what was located in it, and the tracks of the
// ships over time.
//
// All of it is pure Go. What needs OpenCV or the AprilTag library is in vision/opencv, behind small
// interfaces declared here.
package vision
