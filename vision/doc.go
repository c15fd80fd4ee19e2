// Package vision goes from pictures to a scene: where the frames come from
// ([Source], [Feed]), the printed ship code ([Token]), and the locator that reads
// codes and fits edges until every ship has a pose with its covariance.
//
// vision itself is pure Go. What needs OpenCV or the AprilTag library is in
// vision/opencv, behind small interfaces that are declared here.
package vision
