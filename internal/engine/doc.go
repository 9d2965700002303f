// Package engine is what the engines below it and the protocols of package wire
// agree on: how the bytes of a flow are moved and what the datagrams look like.
// An engine imports no protocol and a protocol imports no engine; both import
// this package. It does no I/O of its own and starts no goroutines.
package engine
