// Package ping measures round trips with ICMP echo (RFC 792, RFC 4443): [Run] to any
// address, [Floor] to this host's loopback. It needs no server at the far end. It finds
// no route and no path MTU.
//
// Requests are sent on a fixed schedule, independent of replies. A round trip counts from
// when its request was passed to the kernel, not from when it was due: the figure is the
// path's time, and late sends are counted separately. If the kernel stamps arriving
// packets (Linux), the time between the stamp and the moment this program ran is
// subtracted; if it also reports when a request departed (a raw socket on Linux), the
// round trip counts from there. Latency.Method says so.
//
// Run sends in its caller's goroutine, receives in a second one, and records results in a
// third ([roundtrip.Recorder]); it waits for both.
//
// docs/method.md specifies what the figures mean.
package ping
