// Package lens calibrates a camera's lens from pictures of a board, and reads and writes
// lens files.
//
// [Solve] finds the focal lengths, the principal point and the distortion from views of a
// board of known size, with their covariance. A [Guide] instructs the person who holds the
// board: it takes the views that add something and asks for those that are missing.
// [MatSigma] propagates the lens's covariance to the mat.
//
// [Load] and [Store] read and write lens files in the form of ROS camera_info, JSON or
// YAML. Load also reads the files that OpenCV's calibration sample writes.
package lens
