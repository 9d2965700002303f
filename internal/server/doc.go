// Package server is the far end of a trial: it listens, tells protocols apart
// by their first bytes, admits clients within its limits, and runs the other
// half of what a client measures. docs/protocol.md specifies what it speaks and
// docs/openapi.yaml its control API. It knows nothing of campaigns and keeps
// no results.
//
// Goroutines, all waited for by Serve: for each port one that accepts TCP
// connections and one that reads the UDP socket; one serves HTTP; one for each
// connection until it is told apart, and for each control connection; and one
// for each session, which leads it from creation to its end, together with those
// of its engines.
// A test of a client of iperf3 is led on the goroutine of its control connection,
// with another that waits for the client's word while it runs. A session is
// led by state that others latch (attached, granted, complete, started,
// finished) and ended by its context.
package server
