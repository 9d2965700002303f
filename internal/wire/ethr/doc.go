// Package ethr speaks the protocol of Ethr, Microsoft's tool, in its version 1.0.0
// and with the start synchronisation that its server has had since December 2025:
// the messages of both ends and the client's session. docs/reference/ethr.md specifies
// the protocol; the server's side is package server. It moves no measured packets.
//
// A TCP connection of a bandwidth or latency test begins with a request, Syn, and
// the answer, Ack; after that it carries payload only. Closing the connection ends the
// test: neither end reports what it counted. The connections of a connection test carry no
// data. A UDP test has no request: every datagram is payload.
//
// It starts no goroutines.
package ethr
