//go:build !linux

package main

// cacheLine is 0, unknown: Go cannot pin threads on this system.
func cacheLine() float64 { return 0 }
