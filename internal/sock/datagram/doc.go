// Package datagram moves datagrams of connected UDP sockets into the kernel and
// out of it: one a system call on every platform, and on Linux many at once
// (sendmmsg, recvmmsg), also as segments that the kernel splits and joins
// (UDP_SEGMENT, UDP_GRO). Which of these a flow takes is its path, chosen once
// by [SendPath] or [ReceivePath]; [Sender] and [Receiver] work alike on each.
//
// It knows nothing of what is in the datagrams and counts none. It starts no
// goroutines: a Sender, a Receiver and what they opened belong to one goroutine,
// which they may keep in system calls that the runtime is not told of while
// these cannot wait. docs/method.md specifies the paths.
package datagram
