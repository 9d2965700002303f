// Package tcp measures the goodput of TCP streams: [Send] writes as fast as
// the path takes it, or on a schedule, and [Receive] reads and counts. It
// works on open connections and knows no protocol; each connection carries
// bytes one way only and belongs to the engine until the call returns, when
// it has been shut down and only remains to be closed.
//
// End of a flow: the sender shuts its side down; the receiver, having read
// everything, shuts its own side down, which tells the sender that all of it
// arrived. A receiver that has waited long enough for queues to drain resets
// instead, and the sender takes what was not acknowledged off its count.
//
// Bytes go through loops where the system has a way for them: a few goroutines on
// OS threads of their own, each over its part of the streams, that hand bytes to
// the kernel and take them out without blocking there; few streams may have a loop
// each, which the kernel holds while there is no room, or nothing. Where it has none,
// for a rate, and to check every byte, each stream has a goroutine.
//
// Goroutines: one a loop or stream, and one that waits for them; the caller's own
// takes the samples. All have ended when the call returns.
// docs/method.md specifies what is counted.
package tcp
