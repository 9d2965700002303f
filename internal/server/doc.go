// Package server is the far end of a trial: it listens, recognises protocols by
// their first bytes, admits clients within its limits, and runs the other
// half of what a client measures. Protocols of other tools are packages in this
// folder, which fulfil [Protocol]; this one knows none of them. docs/protocol.md specifies what it speaks and
// docs/openapi.yaml its control API. It knows nothing of campaigns and keeps
// no results.
//
// Goroutines, all waited for by Serve: for each port one that accepts TCP
// connections and one that reads the UDP socket; one serves HTTP; one for each
// connection until its protocol is known, and for each control connection; and one
// for each session, which leads it from creation to its end, together with those
// of its engines. A session is led by state that others latch (attached, granted,
// complete, started, finished) and ended by its context. Connections of other
// protocols stay on the goroutine that recognised them.
package server
