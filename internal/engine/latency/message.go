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
// The magic tells a request from its reply and from the end mark, so that two
// echoes can never answer each other. The token is drawn for each trial: a
// datagram that strayed in from an earlier one is ignored.
//
// Over TCP a message of at least 8 bytes begins with its number, big endian;
// the order of the stream does the rest. With one-way delays, two times follow
// the header or the number in a reply: see timesAt.
const (
	magicRequest uint32 = 0x736b_6c71 // "sklq"
	magicReply   uint32 = 0x736b_6c72 // "sklr"
	magicEnd     uint32 = 0x736b_6c65 // "skle": the client is done

	headerSize = measure.MinUDPPayload
	// numberSize is the least TCP message that carries its number.
	numberSize = measure.MinNumberedMessage
)

// timesAt is where, with one-way delays, a reply has the times at which the echo
// had the request and sent the reply: ns on a clock of its own, 8 bytes each.
//
//go:nosplit
func timesAt(stream bool) int {
	if stream {
		return numberSize
	}
	return headerSize
}

// putTimes writes them into a reply, if it has room.
func putTimes(b []byte, stream bool, in, out int64) {
	if at := timesAt(stream); len(b) >= at+16 {
		binary.BigEndian.PutUint64(b[at:], uint64(in))
		binary.BigEndian.PutUint64(b[at+8:], uint64(out))
	}
}

// parseTimes reads them; both are 0 in a message without room.
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

// parseHeader reads a datagram; ok is false for one that is none of these.
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
