// Package datagram sends and receives datagrams of connected UDP sockets: one per system
// call on every platform, and on Linux many per call (sendmmsg, recvmmsg), also as
// segments that the kernel splits and joins (UDP_SEGMENT, UDP_GRO). The path of a flow is
// one of these, chosen once by [SendPath] or [ReceivePath]; [Sender] and [Receiver]
// behave the same on each.
//
// It does not know the content of the datagrams and counts none. It starts no goroutines:
// a Sender, a Receiver and what they opened belong to one goroutine. System calls that
// cannot wait are made without notifying the runtime. docs/method.md specifies the paths.
package datagram
