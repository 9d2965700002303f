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
	message  int // that is handed out next
	only     Train
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

// Blocks tells whether [Inlet.Receive] waits for a datagram. A receiver that
// waits serves one connection.
func (r *Receiver) Blocks() bool { return r.path == Read }

// Inlet receives from one connection into its [Receiver].
type Inlet struct {
	receiver *Receiver
	conn     net.Conn
	number   int
	done     bool
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

// few inlets are looked at one after another: to ask which of them have something
// would take as long.
const few = 8

// Ready returns the numbers of inlets that may have something, in a slice that
// the next call reuses; when there are none it waits for one for as long as
// wait. Where the receiver waits anyway, and for few inlets when wait is 0,
// that is all of them but those that are done.
func (r *Receiver) Ready(wait time.Duration) []int {
	r.ready = r.ready[:0]
	if r.path != Read && (wait > 0 || len(r.inlet) > few) {
		return r.poll(wait)
	}
	for i, in := range r.inlet {
		if !in.done {
			r.ready = append(r.ready, i)
		}
	}
	return r.ready
}

// Done ends the inlet: it is in no answer of [Receiver.Ready] any more.
func (in *Inlet) Done() {
	in.done = true
	in.leave()
}

// Receive takes what has come, as far as the receiver holds it, and returns the
// number of messages; [Receiver.Next] hands them out. It obeys the connection's read
// deadline and does not allocate unless it fails. An error means that nothing was
// taken.
func (in *Inlet) Receive() (int, error) {
	r := in.receiver
	r.messages, r.message = 0, 0
	if r.path != Read {
		return in.receive()
	}
	n, err := in.conn.Read(r.bytes)
	if err != nil {
		return 0, err
	}
	r.messages, r.only = 1, newTrain(r.bytes[:n], n, 0, time.Time{})
	return 1, nil
}

// Next hands out what the last [Inlet.Receive] brought, in the order of arrival;
// false when that was all. Its bytes hold until the next Receive.
func (r *Receiver) Next() (Train, bool) {
	if r.message >= r.messages {
		return Train{}, false
	}
	r.message++
	if r.path == Read {
		return r.only, true
	}
	return r.calls.read(r.message - 1), true
}

// Train is one message: a datagram, or some that the kernel joined.
type Train struct {
	Arrived time.Time // wall clock of the kernel; zero where it does not say
	Joined  bool      // whether it has more than one datagram

	rest    []byte // what was kept of those not handed out yet
	left    int    // their length
	segment int    // length of each but the last; 0 for a single one
}

// newTrain is for a message of length bytes, of which kept are there.
func newTrain(kept []byte, length, segment int, arrived time.Time) Train {
	length = max(0, length)
	t := Train{Arrived: arrived, rest: kept[:min(len(kept), length)], left: length}
	if segment > 0 && segment < length {
		t.segment, t.Joined = segment, true
	}
	return t
}

// Next is the next datagram and its length; of a longer one than expected there is
// only the beginning. An empty datagram is none: it could not be told from the end.
func (t *Train) Next() (b []byte, length int, ok bool) {
	if t.left <= 0 {
		return nil, 0, false
	}
	length = t.left
	if t.segment > 0 {
		length = min(length, t.segment)
	}
	b = t.rest[:min(length, len(t.rest))]
	t.rest, t.left = t.rest[len(b):], t.left-length
	return b, length, true
}

// Rest is what was kept of a train's datagrams not handed out yet, and the length of
// each but the last, which may be shorter.
func (t *Train) Rest() (b []byte, segment int) { return t.rest, t.segment }

// Skip passes over n datagrams, none of which may be a shorter last one.
func (t *Train) Skip(n int) {
	t.rest, t.left = t.rest[n*t.segment:], t.left-n*t.segment
}
