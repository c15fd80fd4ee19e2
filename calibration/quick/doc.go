// Package quick estimates a lens and the camera's pose from one or several pictures of the mat, without a chessboard. A few
// markers at the mat's edges do not fix a lens, so the typical lenses of webcams and phones serve as a prior, and the
// covariance states the remaining uncertainty.
//
// One least squares adjustment solves for the lens (9 numbers), the camera's pose in every picture (6 each) and the
// placement of every marker (6 each, the same in all pictures). The lens and the placements have priors. The resulting table
// is like any other, with a larger sigma.
//
// Without markers, the mat's four corners serve instead, clicked or found: see [CornerLayout].
package quick
