package datagram

import (
	"crypto/rand"
	"errors"
	"net"
)

// ErrSegments means that the kernel cannot split these segments: the datagrams exceed the
// path's MTU, or the interface does not compute checksums.
var ErrSegments = errors.New("the kernel cannot split segments of this length for the interface")

// Sender sends datagrams of one length.
type Sender struct {
	path  string
	size  int
	most  int
	bytes []byte
	calls sendCalls
}

// NewSender returns a sender of datagrams of size bytes for a path from [SendPath]. Bytes
// that the caller does not set are random.
func NewSender(path string, size int) *Sender {
	segments, messages := sendShape(path, size)
	s := &Sender{path: path, size: size, most: segments * messages}
	s.bytes = make([]byte, s.most*size)
	_, _ = rand.Read(s.bytes) // never fails
	s.calls.prepare(s.bytes, size, segments, messages)
	return s
}

// Limits of one call. The caller reads the clock only between calls,
// and the data should still be in the cache when the kernel copies it.
const (
	batchMost     = 64
	batchBytes    = 256 << 10
	segmentsBytes = 65000 // all segments of a message and their headers fit one IP packet
	messagesMost  = 8
	messagesBytes = 128 << 10
)

// sendShape returns how many datagrams of a length form a message of a path, and how many
// messages a call.
func sendShape(path string, size int) (segments, messages int) {
	switch path {
	case Batch:
		return 1, max(1, min(batchMost, batchBytes/size))
	case GSO:
		segments = max(1, min(segmentsMost(), segmentsBytes/size))
		return segments, max(1, min(messagesMost, messagesBytes/(segments*size)))
	}
	return 1, 1
}

// Most returns how many datagrams can be sent by one call.
func (s *Sender) Most() int { return s.most }

// Datagrams returns the buffer of the first n datagrams of the next call, 1 <= n <= Most,
// one after another, for the caller to write to.
func (s *Sender) Datagrams(n int) []byte { return s.bytes[:n*s.size] }

// Writer sends the datagrams of a [Sender] over one connection.
type Writer struct {
	sender *Sender
	conn   net.Conn
	call   sendCall
}

// Open returns the writer of s over c. An error has kind usage or broken.
func (s *Sender) Open(c net.Conn) (*Writer, error) {
	o := &Writer{sender: s, conn: c}
	if s.path == Write {
		return o, nil
	}
	return o, o.open()
}

// Send sends the first n datagrams of the sender, 1 <= n <= Most, and returns how many
// the kernel accepted; an error is returned only if it accepted none. It obeys the
// connection's write deadline. While the kernel's buffer is full it waits for a few
// milliseconds at most, and may then return 0 without an error. It does not allocate
// unless it fails.
func (o *Writer) Send(n int) (int, error) {
	if o.sender.path != Write {
		return o.send(n)
	}
	if _, err := o.conn.Write(o.sender.Datagrams(1)); err != nil {
		return 0, err
	}
	return 1, nil
}
