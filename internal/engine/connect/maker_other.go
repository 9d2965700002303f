//go:build !linux

package connect

const rawPath = netPath

// bestMaker is the fastest way here.
var bestMaker makers = newNetMaker
