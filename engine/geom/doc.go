// Package geom holds the plane geometry of the table: lengths, angles, points,
// poses, polygons, closest points and the covariances that go with them.
//
// # The table frame
//
// Everything on the table is in millimetres in one right-handed frame. The
// origin is the mat's near left corner, at player 1's left hand; x runs to the
// right, y away from player 1, z up from the mat's surface. A heading is
// measured clockwise from +y, so a ship with heading 0 flies away from player 1
// and one with heading 90° flies to the right:
//
//	      y ^   heading 0
//	        |   /
//	        |  /) heading +θ (clockwise)
//	        | /
//	        |/
//	origin  +---------> x   heading 90°
//
// Coordinates of points and vectors are plain float64 millimetres (squaring a
// typed length would no longer be a length); scalar results use [Length] and
// [Angle], whose one inner unit is the millimetre and the radian.
//
// # The pixel convention
//
// A [Pixel] follows OpenCV: x runs right, y down, and integer coordinates are
// the CENTRES of pixels, so the picture's top left corner is (-0.5, -0.5). The
// whole program uses this one convention; a library that counts otherwise
// (AprilTag puts the origin at the pixel's corner) is converted where it is called.
//
// geom imports the standard library only, and its functions are total: where a
// value is undefined they return (value, ok).
package geom
