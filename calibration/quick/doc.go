// Package quick estimates a lens and the camera's place from pictures of the mat alone: no chessboard, one picture or
// several. What a few markers at the mat's edges do not say of the lens is filled in by what lenses of webcams and phones
// are like, and the covariance says how little that is worth.
//
// It is one adjustment by least squares of the lens (9 numbers), the place of the camera in every picture (6 each), and how
// every marker really lies (6 each, the same in all pictures). The lens and the markers' places have priors, nothing
// else does. The table that comes of it is like any other, with a larger sigma.
//
// Without markers the mat's four corners do, clicked or found: [CornerLayout] makes places of them.
package quick
