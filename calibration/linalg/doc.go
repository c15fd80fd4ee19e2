// Package linalg solves small dense linear systems: symmetric positive definite matrices,
// row by row in a slice, by gonum's Cholesky factorisation.
package linalg
