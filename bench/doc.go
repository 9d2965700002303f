// Bench measures soku and every peer that is installed side by side, interleaved
// in one run, and writes docs/performance.md.
//
// It is for one question: is soku as fast as the fastest of its kind, and as the
// machine itself? The machine's part is the reference programs in bench/limit. It
// asserts nothing and is no test: figures depend on the machine they come from.
//
// Runs follow one another on one goroutine. While one runs, a second goroutine
// collects the output of the server; it is waited for before the run ends.
package main
