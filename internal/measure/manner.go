package measure

import "time"

// Manner is how a protocol moves the bytes of a flow where that is not soku's own
// way. The zero value is soku's own: a TCP sender ends its streams, a receiver
// answers that it has read them to their ends, and datagrams have soku's header.
type Manner struct {
	// Kept connections stay open when a flow ends. A TCP sender stops at its time,
	// waits for a bounded time until what it queued is acknowledged, and neither
	// shuts its side down nor resets it. A receiver stops at its own time, when it
	// has Options.Bytes, when the far end closes, which is then no error, or when
	// Over is closed.
	Kept bool
	// Over is closed when the protocol says that the flow is over; nil is never.
	// Receivers then take what is queued already and return, senders stop at once,
	// and neither is an error. A flow with it may have no time and no amount.
	Over <-chan struct{}
	// Untold: the far end never tells what it counted, so that the sender's
	// acknowledged count is all there is to know of a flow.
	Untold bool
	// Datagrams is the header of the datagrams of UDP; nil is soku's own.
	Datagrams DatagramFormat
	// Lap, of a latency test over TCP: after so many round trips of a flow its client
	// sends one message more, which nobody answers. 0 is never.
	Lap int64
}

// DatagramFormat is the header that every datagram of a UDP flow begins with.
// Its methods are called from many goroutines at once and must not allocate.
type DatagramFormat interface {
	// Size is the length of the header, bytes: the least payload.
	Size() int
	// PutAll writes the headers of datagrams of size bytes that lie one after
	// another in b and leave at the time. Numbers of a stream count from 0; that of
	// the first is first.
	PutAll(b []byte, size, stream int, first uint64, at time.Time)
	// Parse reads a header: the number, and the send time, ns on any clock of the
	// sender's. The number of one with fin is how many datagrams the stream had.
	// It is not ok for a datagram that is none of this format.
	Parse(b []byte) (number uint64, sentNs int64, fin, ok bool)
	// Fin writes the last word of a stream that had so many datagrams and returns
	// its length; 0 where the format has none. b has room for Size bytes.
	Fin(b []byte, stream int, datagrams uint64, at time.Time) int
}
