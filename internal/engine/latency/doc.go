// Package latency measures request/response time over open TCP connections or
// connected UDP sockets: [Run] asks and [Echo] answers
// with a message of the same size, [Floor] does both over loopback to show what the
// tool and the host add. It opens no connection to another host and knows no
// protocol of control.
//
// Closed loop (Options.RequestRate 0): the next request leaves when the reply
// is in; one goroutine on its own OS thread does both, for one flow or for several
// that take turns. Open loop: requests leave on a schedule whatever comes back,
// and each round trip counts from the scheduled time, so that a stall is seen by
// every request it held up (no coordinated omission); a sender goroutine and the
// receiver, Run's caller, each have an OS thread, and the [roundtrip.Window]
// between them bounds what is outstanding. Spinning, one thread does both. In all,
// one more goroutine keeps the books ([roundtrip.Recorder]), unless the loop spins
// and keeps them itself. Run, Echo and Floor wait for every goroutine they start.
//
// On Linux the ping-pong and the echo run outside of the Go runtime, in slices of
// up to 60 ms (type direct), each on a thread of the system that is made for it
// ([sock.OwnThread]), and block or spin; the threads of an open loop that does not spin use
// blocking system calls the runtime knows of. Unless it spins, a round trip ends when the
// kernel got the reply. Elsewhere, and for connections that are no socket of the
// system, messages go through the Go net poller and times are those of the user's
// clock. Latency.Method says which. In a closed loop outside of the Go runtime the
// kernel can also stamp what leaves, so that a round trip is split into path and hosts.
//
// What the figures mean is specified in docs/method.md.
package latency
