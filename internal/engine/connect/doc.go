// Package connect measures how fast TCP connections are set up: how many a second, and
// how long each takes from its SYN to its SYN-ACK. [Run] is the client's side; it needs a
// [Listener] at the far end only for the far end's count. It opens no session and does
// not decide who may measure.
//
// On Linux both sides make raw system calls on threads of their own: a socket, its
// options, connect and close for each connection, without allocating. On other systems,
// and in some tests, package net is used behind the same interfaces (maker, acceptor).
// Connect.ClientPath and Connect.ServerPath of a result say which.
//
// Run starts a goroutine for each connector, one that collects their records, and two that
// watch the context and the time; it waits for all of them. [Listener.Serve] starts a goroutine
// for each accepting thread and waits for them.
//
// docs/method.md specifies what the figures mean.
package connect
