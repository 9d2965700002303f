// Bench measures soku and every installed peer side by side, interleaved in one run, and
// writes docs/performance.md.
//
// It answers one question: is soku as fast as the fastest peer, and as the machine allows?
// The reference programs in bench/limit show what the machine allows. It is not a test and
// asserts nothing: figures depend on the machine.
//
// One goroutine executes the runs one after another. During a run a second goroutine
// collects the output of the server; it ends before the run does.
package main
