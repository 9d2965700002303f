// Package connect measures how fast TCP connections are set up: how many a
// second, and how long each takes from its SYN to its SYN-ACK. [Run] is the
// client's side; it needs a [Listener] at the far end only for the far end's
// count. It opens no session and decides nothing about who may measure.
//
// On Linux either side makes raw system calls on threads of its own: a socket,
// its options, connect and close for each connection, nothing allocated. Other
// systems, and tests, take package net, behind the same interfaces (maker,
// acceptor). Connect.ClientPath and Connect.ServerPath of a result say which.
//
// Run starts a goroutine for each connector, one that collects what they
// recorded, and one that watches the context; it waits for all of them.
// [Listener.Serve] starts a goroutine for each accepting thread and waits for
// them.
//
// What the figures mean is specified in docs/method.md.
package connect
