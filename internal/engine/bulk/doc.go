// Package bulk moves bytes over any number of connections until it is stopped, with
// counts that can be read at any time. It is for protocols whose two ends agree on
// nothing but a time: [Source] and [DatagramSource] send, [Sink] and [DatagramSink]
// receive on connections that open and close meanwhile. The caller decides what to count
// and what to omit, by reading the counts at the right moments.
//
// It knows no protocol and makes no samples; package engine/tcp measures flows whose
// connections and times are known in advance.
//
// Goroutines: with a fast path for many connections, one a loop on an OS thread of its
// own, otherwise one a connection; and one a listener. All have ended when Run or Serve
// returns.
package bulk
