// Package stats turns samples and repeats into reliable figures: the steady part of a
// trial, means and quantiles, confidence intervals over rounds, and rankings that say
// when no difference was shown.
//
// It knows numbers, not tests or units, does no I/O and starts no goroutines. Every
// function is pure: the same input and seed give the same output on every platform.
// docs/method.md specifies the rules and their sources.
package stats
