// Package udp measures UDP: [Send] sends numbered, timed datagrams on an
// absolute schedule or as fast as it goes; [Receive] finds goodput, loss,
// reordering, duplicates and jitter in the numbers. It works on connected
// sockets whose return path somebody else has proven, and knows no protocol
// but its own datagram header. A receiver never sends; what has no header of
// this package is ignored.
//
// Goroutines: a sender has one a processor, at most one a stream, and so has a
// receiver whose path out of the kernel takes many datagrams at once; on the
// path of one datagram a call a receiver has one a stream. Either has one that
// waits for them, and the caller's own takes the samples. All have ended when
// the call returns.
// docs/method.md specifies what is counted, docs/protocol.md the datagrams.
package udp
