// Package ping measures round trips with ICMP echo (RFC 792, RFC 4443): [Run]
// against any address, [Floor] against this host's loopback. It needs no server
// at the far end. It finds no route and discovers no path MTU.
//
// Requests leave on a fixed schedule whatever comes back. A round trip counts
// from the moment its request was handed to the kernel, not from its point of the
// schedule: what is asked is the path's time, and a late send is counted on
// its own. Where the kernel stamps arriving packets (Linux), the time between
// the stamp and the moment this program ran again is taken off; where it also says
// when a request left (a raw socket on Linux), the round trip counts from there.
// Latency.Method says so.
//
// Run sends in its caller's goroutine, receives in one more, and keeps the books
// in a third ([roundtrip.Recorder]); it waits for both.
//
// What the figures mean is specified in docs/method.md.
package ping
