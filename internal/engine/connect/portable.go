//go:build !linux

package connect

const rawPath = netPath

// The fastest implementations on this system.
var (
	bestMaker    makers    = newNetMaker
	bestAcceptor acceptors = listenNet
)
