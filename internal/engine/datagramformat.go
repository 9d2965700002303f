package engine

import "time"

// DatagramFormat is the header that every datagram of a UDP flow begins with. Its
// methods may be called from several goroutines concurrently and must not allocate.
type DatagramFormat interface {
	// Size is the length of the header in bytes: the smallest payload.
	Size() int
	// PutAll writes the headers of consecutive datagrams of size bytes each that lie
	// back to back in b. Datagrams of a stream are numbered from 0; first is the number
	// of the first one, at is the send time of all.
	PutAll(b []byte, size, stream int, first uint64, at time.Time)
	// Parse reads a header: the number, and the send time in ns on any clock of the
	// sender. With fin, the number is how many datagrams the stream had. ok is false for
	// a datagram of another format.
	Parse(b []byte) (number uint64, sentNs int64, fin, ok bool)
	// Fin writes the last datagram of a stream that had this many datagrams and returns
	// its length, or 0 if the format has none. b has room for Size bytes.
	Fin(b []byte, stream int, datagrams uint64, at time.Time) int
}
