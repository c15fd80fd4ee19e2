// Package calibration turns pixels into table points and states their uncertainty.
//
// A camera is an [Intrinsics] (the lens: OpenCV's plumb_bob model) and an
// [Extrinsics] (its place over the mat: x_camera = R x_table + t, OpenCV's axes:
// x right, y down, z forward). A [Table] combines both with the markers it was made
// from, its residuals and its covariance.
//
// Every surface has its own height z, so a bare homography never maps a pixel to the
// table: PointAt intersects the pixel's ray with the plane at z. Seen from 1.2 m, a
// base top 4 mm up appears 2 mm further out at the mat's corner than the mat below it.
//
// [Register] makes a table from the mat's markers; a [Budget] lists the errors of its
// points. Below this package, lens calibrates the lens, quick estimates lens and camera
// pose from the mat alone, verify checks a table against a printed card, and watch
// detects when a table no longer fits the pictures.
//
// Pixels follow the convention of package geom: centres at integers.
package calibration
