// Package linalg solves small dense linear systems with symmetric positive definite
// matrices, stored row by row in a slice, by gonum's Cholesky factorisation.
package linalg
