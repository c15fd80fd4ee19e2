// Package calibration turns pixels into table points and says how sure it is.
//
// A camera is an [Intrinsics] (the lens: OpenCV's plumb_bob model) and an
// [Extrinsics] (its place over the mat: x_camera = R x_table + t, OpenCV's axes:
// x right, y down, z forward). A [Table] holds both, together with the markers it
// was made from, its residuals and its covariance.
//
// A pixel never becomes a table point through a bare homography: every surface
// has its own height z, and a pixel at height z is the crossing of its ray with
// that plane (PointAt). At 1.2 m a base top, 4 mm up, seems to lie 2 mm further
// out at the mat's corner than the mat under it.
//
// [Register] makes a table from the mat's markers; a [Budget] says how sure its points
// are. The packages below calibrate the lens (lens), estimate lens and place from the mat alone
// (quick), check a table against a printed card (verify) and tell whether it still holds
// (watch).
//
// Pixels follow the convention of package geom: centres at integers.
package calibration
