// Package udp measures UDP: [Send] sends datagrams with sequence numbers and send times,
// on an absolute schedule or as fast as the host can; [Receive] derives goodput, loss,
// reordering, duplicates and jitter. It works on connected sockets whose return path was
// already verified, and knows no protocol but its own datagram header. A receiver never
// sends; it ignores datagrams without this header.
//
// Goroutines: a sender has one a processor, at most one a stream, and so has a receiver
// whose path receives many datagrams a call; on the path of one datagram a call a
// receiver has one a stream. Each has one more that waits for them; the caller's
// goroutine takes the samples. All have ended when the call returns. docs/method.md
// specifies what is counted, docs/protocol.md the datagrams.
package udp
