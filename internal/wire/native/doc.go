// Package native is soku's own protocol: the formats of both ends and the client's
// session. docs/protocol.md specifies it; the server's side is package
// server. It moves no measured packets.
//
// [Open] starts one goroutine that reads the events stream; the session's Close
// ends it and waits. TCP and UDP start one goroutine per data connection for the
// handshake and wait for all of them before they return.
package native
