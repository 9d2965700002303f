// Package engine is the interface between the engines below it and the protocols of
// package wire: how the bytes of a flow are moved and what its datagrams look like. An
// engine imports no protocol and a protocol imports no engine; both import this package.
// It does no I/O and starts no goroutines.
package engine
