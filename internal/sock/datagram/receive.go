package datagram

import (
	"net"
	"time"
)

// largest is more than any datagram, and what the kernel joins at most.
const largest = 1 << 16

// Receiver takes datagrams out of the kernel, from one connection or many.
type Receiver struct {
	path  string
	slot  int // bytes of a message that are kept
	slots int
	bytes []byte
	inlet []*Inlet
	ready []int
	calls receiveCalls

	// What the last Receive brought.
	messages int
	message  int // whose datagrams are handed out
	split    split
	arrived  time.Time
}

// NewReceiver returns a receiver by a path that [ReceivePath] chose. The
// datagrams are expected to have size bytes; of a longer one only the length is
// sure. Errors are of kind broken. The caller must [Receiver.Close] it.
func NewReceiver(path string, size int) (*Receiver, error) {
	r := &Receiver{path: path, slot: largest, slots: 1}
	switch path {
	case Batch:
		r.slot = (size + 63) &^ 63 // so that no two share a cache line
		r.slots = max(1, min(batchMost, receiveBytes/r.slot))
	case GRO:
		r.slots = receiveBytes / r.slot
	}
	r.bytes = make([]byte, r.slots*r.slot)
	if path == Read {
		return r, nil
	}
	return r, r.calls.prepare(r.bytes, r.slot, r.slots)
}

// receiveBytes bounds what one call brings: more would be out of the cache
// before it is looked at.
const receiveBytes = 512 << 10

// Close gives back what the receiver has from the system. Connections stay open.
func (r *Receiver) Close() { r.calls.close() }

// Waits tells whether [Inlet.Receive] waits for a datagram. A receiver that
// waits serves one connection.
func (r *Receiver) Waits() bool { return r.path == Read }

// Inlet receives from one connection into its [Receiver].
type Inlet struct {
	receiver *Receiver
	conn     net.Conn
	number   int
	call     receiveCall
}

// Open returns the inlet from c, the n-th of the receiver, counted from 0.
// Errors are of kind broken.
func (r *Receiver) Open(c net.Conn) (*Inlet, error) {
	in := &Inlet{receiver: r, conn: c, number: len(r.inlet)}
	r.inlet = append(r.inlet, in)
	if r.path == Read {
		return in, nil
	}
	return in, in.open()
}

// Ready returns the numbers of inlets that may have something, in a slice that
// the next call reuses; when there are none it waits for one for as long as
// wait. Where the receiver waits anyway, and for a single inlet when wait is 0,
// that is all of them.
func (r *Receiver) Ready(wait time.Duration) []int {
	r.ready = r.ready[:0]
	if r.path != Read && (wait > 0 || len(r.inlet) > 1) {
		return r.poll(wait)
	}
	for i := range r.inlet {
		r.ready = append(r.ready, i)
	}
	return r.ready
}

// Receive takes what has come, as far as the receiver holds it, and returns the
// number of messages; [Receiver.Next] hands out the datagrams in them. It obeys
// the connection's read deadline and does not allocate unless it fails. An
// error means that nothing was taken.
func (in *Inlet) Receive() (int, error) {
	r := in.receiver
	r.messages, r.message, r.split = 0, 0, split{}
	if r.path != Read {
		return in.receive()
	}
	n, err := in.conn.Read(r.bytes)
	if err != nil {
		return 0, err
	}
	r.messages, r.message = 1, 1
	r.split, r.arrived = split{rest: r.bytes[:n], left: n}, time.Time{}
	return 1, nil
}

// Datagram is one that came.
type Datagram struct {
	Bytes   []byte    // until the next Receive; of a longer one than expected the beginning
	Length  int       // of all of it
	Arrived time.Time // wall clock of the kernel; zero where it does not say
	Joined  bool      // whether it came joined with others
}

// Next hands out what the last [Inlet.Receive] brought, in the order of arrival;
// false when that was all.
func (r *Receiver) Next() (Datagram, bool) {
	for {
		if b, n, ok := r.split.next(); ok {
			return Datagram{Bytes: b, Length: n, Arrived: r.arrived, Joined: r.split.joined}, true
		}
		if r.message >= r.messages {
			return Datagram{}, false
		}
		r.split, r.arrived = r.calls.read(r.message)
		r.message++
	}
}

// split cuts a message into the datagrams that were joined in it.
type split struct {
	rest    []byte // what was kept of those not handed out yet
	left    int    // their length
	segment int    // length of each but the last; 0 for a single one
	joined  bool
}

// newSplit is for a message of length bytes, of which kept are there.
func newSplit(kept []byte, length, segment int) split {
	length = max(0, length)
	s := split{rest: kept[:min(len(kept), length)], left: length}
	if segment > 0 && segment < length {
		s.segment, s.joined = segment, true
	}
	return s
}

// next is the next datagram and its length. An empty datagram is none: it could
// not be told from the end.
func (s *split) next() ([]byte, int, bool) {
	if s.left <= 0 {
		return nil, 0, false
	}
	n := s.left
	if s.segment > 0 {
		n = min(n, s.segment)
	}
	b := s.rest[:min(n, len(s.rest))]
	s.rest, s.left = s.rest[len(b):], s.left-n
	return b, n, true
}
