// Package latency measures request/response time over open TCP connections or connected
// UDP sockets: [Run] sends requests, and [Echo] answers each with a message of the same
// size. [Floor] does both over loopback to measure what the tool and the host add. It
// opens no connection to another host and knows no control protocol.
//
// Closed loop (Options.RequestRate 0): the next request is sent when the reply arrived.
// One goroutine on its own OS thread does both, for one flow or for several in turn. Open
// loop: requests are sent on a schedule, independent of replies, and each round trip
// counts from the scheduled time, so that every request delayed by a stall shows it (no
// coordinated omission). A sender goroutine and the receiver, Run's caller, each have an
// OS thread; the [roundtrip.Window] between them limits the outstanding requests. A
// spinning open loop uses one thread for both. One more goroutine records results
// ([roundtrip.Recorder]), unless the loop spins and records them itself. Run, Echo and
// Floor wait for every goroutine they start.
//
// On Linux the closed loop, the echo and the open loop that spins run outside of the Go
// runtime ([direct.Looper]), each on a new system thread ([sock.OwnThread]), and block or
// spin. The threads of an open loop that does not spin use blocking system calls through
// the runtime ([direct.OpenBlocking]). Unless the loop spins, a round trip ends when the
// kernel received the reply. On other systems, and for connections that are not sockets of
// the system, the loops in this package pass messages through the Go net poller, and the
// program reads the times. Latency.Method says which. All loops count in
// [requests.Counts].
//
// docs/method.md specifies what the figures mean.
package latency
