// Package stats turns samples and repeats into figures that hold: the steady
// part of a trial, means and quantiles, confidence intervals over rounds, and
// rankings that say when no difference was shown.
//
// It knows numbers, not tests or units, does no I/O and starts no goroutines.
// Every function is pure: the same input and seed give the same output on every
// platform. The rules and their sources are specified in docs/method.md.
package stats
