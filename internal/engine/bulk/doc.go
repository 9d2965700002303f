// Package bulk moves bytes over any number of connections for as long as nobody
// says stop, and can be asked at any moment how many there were. It is for the
// protocols whose ends agree on a time and on nothing else: [Source] and
// [DatagramSource] send, [Sink] and [DatagramSink] take what comes, from
// connections that come and go meanwhile. What is counted when, and what is left
// out, is for the caller, who reads the counts at the moments that matter.
//
// It knows no protocol and makes no samples; package engine/tcp measures flows
// whose connections and times are known before.
//
// Goroutines: one on an OS thread of its own for each loop where the system has a
// way for many connections in one loop, else one a connection; one a listener. All
// have ended when Run or Serve returns.
package bulk
