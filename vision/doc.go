// Package vision is what goes from pictures to a scene: a [Frame] and where it comes
// from, what was located in it, and the tracks of the ships over time. It holds values
// and the interfaces between the packages below it, which do the work.
//
// All of it is pure Go. What needs OpenCV or the AprilTag library is in vision/opencv,
// behind small interfaces that are declared here.
package vision
