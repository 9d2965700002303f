// Package ethr speaks the protocol of Ethr, Microsoft's tool, in its version 1.0.0
// and with the start synchronisation that its server has had since December 2025:
// the messages both ends share and the client's session. docs/reference/ethr.md
// says what is spoken; the server's side is package server. It moves no measured
// packets.
//
// A TCP connection of a bandwidth or latency test begins with a request, Syn, and
// the answer, Ack; after that it carries measured bytes only. The end of the
// connection is the end of the test: neither end ever tells what it counted.
// Connections of a test of connections carry nothing at all, and so is every
// datagram measured, without a request.
//
// It starts no goroutines.
package ethr
