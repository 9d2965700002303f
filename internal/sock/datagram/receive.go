package datagram

import (
	"net"
	"time"
)

// largest exceeds any datagram, and is the most that the kernel joins, in bytes.
const largest = 1 << 16

// Receiver receives datagrams from one connection or many.
type Receiver struct {
	path  string
	slot  int // bytes stored of each message
	slots int
	bytes []byte
	inlet []*Inlet
	ready []int
	calls receiveCalls

	// State of the last Receive.
	messages int
	message  int // the next to return
	only     Train
}

// NewReceiver returns a receiver for a path from [ReceivePath]. Datagrams are expected to
// have size bytes; of a longer one only the length is reliable. An error has kind
// broken. The caller must call [Receiver.Close].
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

// receiveBytes limits what one call receives: more would leave the cache before it is
// read.
const receiveBytes = 512 << 10

// Close releases the receiver's resources. Connections stay open.
func (r *Receiver) Close() { r.calls.close() }

// Blocks reports whether [Inlet.Receive] waits for a datagram. A receiver that waits
// serves one connection.
func (r *Receiver) Blocks() bool { return r.path == Read }

// Inlet receives from one connection into its [Receiver].
type Inlet struct {
	receiver *Receiver
	conn     net.Conn
	number   int
	done     bool
	call     receiveCall
}

// Open returns the inlet of c, number n of the receiver, counted from 0. An error has kind
// broken.
func (r *Receiver) Open(c net.Conn) (*Inlet, error) {
	in := &Inlet{receiver: r, conn: c, number: len(r.inlet)}
	r.inlet = append(r.inlet, in)
	if r.path == Read {
		return in, nil
	}
	return in, in.open()
}

// few is the number of inlets up to which trying each costs no more than asking the
// kernel which have data.
const few = 8

// Ready returns the numbers of inlets that may have data, in a slice that the next call
// reuses. If there are none it waits for up to wait. It returns all inlets that are not
// done if the receiver blocks anyway, or if there are few inlets and wait is 0.
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

// Done ends the inlet: [Receiver.Ready] no longer returns it.
func (in *Inlet) Done() {
	in.done = true
	in.leave()
}

// Receive receives as many messages as the receiver holds, and returns their number;
// [Receiver.Next] returns them one by one. It obeys the connection's read deadline and
// does not allocate unless it fails. With an error, nothing was received.
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

// Next returns the messages of the last [Inlet.Receive] in the order of arrival; false
// after the last. Its bytes are valid until the next Receive.
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

// Train is one message: a datagram, or several that the kernel joined.
type Train struct {
	Arrived time.Time // kernel's wall clock; zero if unknown
	Joined  bool      // whether it has more than one datagram

	rest    []byte // stored bytes of the datagrams not returned yet
	left    int    // their length
	segment int    // length of each but the last, or 0 if there is only one
}

// newTrain returns a message of length bytes, of which kept are stored.
func newTrain(kept []byte, length, segment int, arrived time.Time) Train {
	length = max(0, length)
	t := Train{Arrived: arrived, rest: kept[:min(len(kept), length)], left: length}
	if segment > 0 && segment < length {
		t.segment, t.Joined = segment, true
	}
	return t
}

// Next returns the next datagram and its length; of one longer than expected b is only
// the beginning. Empty datagrams are not reported: they could not be distinguished from
// the end.
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

// Length returns how many bytes the datagrams have that were not returned yet.
func (t *Train) Length() int { return max(0, t.left) }

// Rest returns the stored bytes of the datagrams that were not returned yet, and the
// length of each but the last, which may be shorter.
func (t *Train) Rest() (b []byte, segment int) { return t.rest, t.segment }

// Skip skips n datagrams, none of which may be a shorter last one.
func (t *Train) Skip(n int) {
	t.rest, t.left = t.rest[n*t.segment:], t.left-n*t.segment
}
