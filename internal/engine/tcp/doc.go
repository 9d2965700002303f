// Package tcp measures the goodput of TCP streams: [Send] writes as fast as the path
// allows, or on a schedule, and [Receive] reads and counts. It works on open connections
// and knows no protocol. Each connection carries bytes in one direction only and belongs
// to the engine until the call returns; by then it is shut down, and the caller closes
// it.
//
// End of a flow: the sender shuts down its side. The receiver reads to the end and then
// shuts down its own side, which shows the sender that everything arrived. If queues take
// too long to drain, the receiver resets the connection instead, and the sender subtracts
// unacknowledged bytes from its count.
//
// If the system has a fast path, bytes go through loops: a few goroutines on OS threads
// of their own, each over a part of the streams, that send to and receive from the kernel
// without blocking. Few streams may have a loop each that blocks in the kernel while its
// queue is full or empty. Without a fast path, with a rate, or if every byte is verified,
// each stream has a goroutine.
//
// Goroutines: one a loop or stream, and one that waits for them; the caller's goroutine
// takes the samples. All have ended when the call returns. docs/method.md specifies what
// is counted.
package tcp
