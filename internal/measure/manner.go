package measure

import (
	"errors"
	"io"
	"time"
)

// ErrSilence is inside the error of a flow that was given up because nothing came, or
// nothing moved, for too long.
var ErrSilence = errors.New("nothing came for too long")

// Contents are where the bytes of TCP streams come from and where they go. The zero
// value is of bytes that nobody looks at. The functions are called once a stream, and
// what they open is closed when the stream ends.
type Contents struct {
	// Source is what a sender sends. Where it ends, the flow does.
	Source func() (io.ReadCloser, error)
	// Sink gets what a receiver reads.
	Sink func() (io.WriteCloser, error)
}

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
	// Silence is how long a receiver waits for the first byte and for each next one,
	// also of a flow that has a time; 0 is the engine's own patience, which is for the
	// first byte, and for the next ones of a flow without a time. A sender of a flow
	// without a time that moves nothing waits for no less. What ends a flow then is an
	// [ErrSilence].
	Silence time.Duration
	// Untold: the far end never tells what it counted, so that the sender's
	// acknowledged count is all there is to know of a flow.
	Untold bool
	// Repeating: what a sender of TCP or UDP sends is a pattern that can be compressed.
	Repeating bool
	// Contents take the place of bytes that nobody looks at, over TCP.
	Contents Contents
	// Datagrams is the header of the datagrams of UDP; nil is soku's own.
	Datagrams DatagramFormat
	// Lap, of a latency test over TCP: after so many round trips of a flow its client
	// sends one message more, which nobody answers. 0 is never.
	Lap int64
}

// Idle is how long a flow may stand still in this manner, 0 for any time: limit where
// nothing but its bytes ends it, and lull more, which its rate alone may take.
func (m Manner) Idle(role Role, timed bool, limit, lull time.Duration) time.Duration {
	switch {
	case role == Receiver && m.Silence > 0:
		return limit
	case timed:
		return 0
	}
	return limit + lull
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
