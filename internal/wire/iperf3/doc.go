// Package iperf3 speaks the protocol of iperf3, so that soku measures against a host with
// iperf3 and without soku: [Open] is the client's side, and the messages are exported for
// the server's side in package server. It moves no measured bytes.
// docs/reference/iperf3.md describes what it supports.
//
// A test has a control connection (TCP), on which the client first sends a cookie
// of 37 bytes. Then the server sends states of one byte: parameters are exchanged,
// streams are opened, the test starts and runs, the client ends it, results are exchanged
// and displayed. Parameters and results are JSON after a length of four bytes,
// big-endian. TCP streams begin with the cookie; UDP streams with a datagram of four bytes
// that the server answers.
//
// Goroutines: a session has one, which reads states while the test runs; Close
// waits for it.
package iperf3
