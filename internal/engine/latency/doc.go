// Package latency measures request/response time over one open TCP connection
// or connected UDP socket: [Run] asks, [Echo] answers with a message of the
// same size, [Floor] does both over loopback to show what the tool and the host add.
// It opens no connection to another host, knows no protocol of control and does
// not measure one-way delay.
//
// Closed loop (Options.RequestRate 0): the next request leaves when the reply
// is in; one goroutine on its own OS thread does both. Open loop: requests leave
// on a fixed schedule whatever comes back, and each round trip counts from the
// scheduled time, so that a stall is seen by every request it held up (no
// coordinated omission); a sender goroutine and the receiver, Run's caller, each
// have an OS thread, and the [roundtrip.Window] between them bounds what is
// outstanding. In both, one more goroutine keeps the books
// ([roundtrip.Recorder]). Run, Echo and Floor wait for every goroutine they start.
//
// On Linux, messages go through blocking system calls on the thread of the loop,
// and a round trip ends when the kernel got the reply; elsewhere, on fewer
// processors than the threads need, and for connections that are no socket of the
// system, messages go through the Go net poller and times are those of the user's
// clock. Latency.Method says which.
//
// What the figures mean is specified in docs/method.md.
package latency
