// Package requests holds what every loop of the latency test agrees on, whichever way its
// messages take into the kernel: the format of a message ([Header]), the schedule of an
// open loop, and what became of each request ([Counts], with the parts of its round trip
// and its one-way delays). It knows no sockets and starts no goroutine but that of the
// [roundtrip.Recorder], which the caller starts.
package requests
