//go:build !linux

package connect

const rawPath = netPath

// bestMaker is the fastest implementation on this system.
var bestMaker makers = newNetMaker
