//go:build !linux

package main

// cacheLine is 0, unknown: threads cannot be pinned here by what Go offers.
func cacheLine() float64 { return 0 }
