//go:build !linux

package connect

var bestAcceptor acceptors = listenNet
