package main

// The distance of the two virtual cores changes figures by half, and the hypervisor may move
// them at any time. A run's label comes from the round trip of a cache line between the
// cores, before and after the run.
const (
	placedNear    = "near"    // one cache: about 50 ns
	placedFar     = "far"     // across sockets or chiplets: about 330 ns
	placedMixed   = "mixed"   // moved during the run
	placedUnknown = "unknown" // fewer than two cores, or not measured here

	nearBelow = 150.0 // ns
)

func label(before, after float64) string {
	side := func(ns float64) string {
		switch {
		case ns <= 0:
			return placedUnknown
		case ns < nearBelow:
			return placedNear
		}
		return placedFar
	}
	if b, a := side(before), side(after); b == a {
		return b
	}
	return placedMixed
}
