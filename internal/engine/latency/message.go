package latency

import (
	"encoding/binary"

	"soku/internal/measure"
)

// A message over UDP, big endian; the rest of the datagram is zero:
//
//	 0        4                12               20               28
//	+--------+----------------+----------------+----------------+----...
//	| magic  | token          | number         | ns since start | padding
//	+--------+----------------+----------------+----------------+----...
//
// The magic distinguishes a request, its reply and the end mark, so that two echoes can
// never answer each other. The token is random for each trial: datagrams of an earlier
// trial are ignored.
//
// Over TCP a message of at least 8 bytes begins with its number, big endian;
// TCP keeps the order. With one-way delays, two times follow
// the header or the number in a reply: see timesAt.
const (
	magicRequest uint32 = 0x736b_6c71 // "sklq"
	magicReply   uint32 = 0x736b_6c72 // "sklr"
	magicEnd     uint32 = 0x736b_6c65 // "skle": the client has finished

	headerSize = measure.MinUDPPayload
	// numberSize is the smallest TCP message that carries its number.
	numberSize = measure.MinNumberedMessage
)

// timesAt returns the offset in a reply, with one-way delays, of the times at which the
// echo received the request and sent the reply: ns on its own clock, 8 bytes each.
//
//go:nosplit
func timesAt(stream bool) int {
	if stream {
		return numberSize
	}
	return headerSize
}

// putTimes writes them into a reply, if it is long enough.
func putTimes(b []byte, stream bool, in, out int64) {
	if at := timesAt(stream); len(b) >= at+16 {
		binary.BigEndian.PutUint64(b[at:], uint64(in))
		binary.BigEndian.PutUint64(b[at+8:], uint64(out))
	}
}

// parseTimes reads them; both are 0 if the message is too short.
func parseTimes(b []byte, stream bool) (in, out int64) {
	at := timesAt(stream)
	if len(b) < at+16 {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(b[at:])), int64(binary.BigEndian.Uint64(b[at+8:]))
}

type header struct {
	magic  uint32
	token  uint64
	number uint64
	atNs   int64
}

// put writes h into the first bytes of b, which has at least headerSize.
func (h header) put(b []byte) {
	_ = b[headerSize-1]
	binary.BigEndian.PutUint32(b, h.magic)
	binary.BigEndian.PutUint64(b[4:], h.token)
	binary.BigEndian.PutUint64(b[12:], h.number)
	binary.BigEndian.PutUint64(b[20:], uint64(h.atNs))
}

// parseHeader parses a datagram; ok is false if it is of another kind.
func parseHeader(b []byte) (h header, ok bool) {
	if len(b) < headerSize {
		return h, false
	}
	h = header{
		magic:  binary.BigEndian.Uint32(b),
		token:  binary.BigEndian.Uint64(b[4:]),
		number: binary.BigEndian.Uint64(b[12:]),
		atNs:   int64(binary.BigEndian.Uint64(b[20:])),
	}
	return h, h.magic == magicRequest || h.magic == magicReply || h.magic == magicEnd
}
