// Package accuracy measures how well the program sees: on the simulated table,
// and on photorealistic pictures with known truth where those exist. It holds
// tests only; `make accuracy` runs them and prints their report.
package accuracy
