package requests

import (
	"encoding/binary"
	"net"

	"soku/internal/measure/option"
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
// the header or the number in a reply: see [TimesAt].
const (
	MagicRequest uint32 = 0x736b_6c71 // "sklq"
	MagicReply   uint32 = 0x736b_6c72 // "sklr"
	MagicEnd     uint32 = 0x736b_6c65 // "skle": the client has finished

	// HeaderSize is the smallest UDP message.
	HeaderSize = option.MinUDPPayload
	// NumberSize is the smallest TCP message that carries its number.
	NumberSize = option.MinNumberedMessage
)

// TimesAt returns the offset in a reply, with one-way delays, of the times at which the
// echo received the request and sent the reply: ns on its own clock, 8 bytes each.
//
//go:nosplit
func TimesAt(stream bool) int {
	if stream {
		return NumberSize
	}
	return HeaderSize
}

// PutTimes writes the times of [TimesAt] into a reply, if it is long enough.
func PutTimes(b []byte, stream bool, in, out int64) {
	if at := TimesAt(stream); len(b) >= at+16 {
		binary.BigEndian.PutUint64(b[at:], uint64(in))
		binary.BigEndian.PutUint64(b[at+8:], uint64(out))
	}
}

// ParseTimes reads the times of [TimesAt]; both are 0 if the message is too short.
func ParseTimes(b []byte, stream bool) (in, out int64) {
	at := TimesAt(stream)
	if len(b) < at+16 {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(b[at:])), int64(binary.BigEndian.Uint64(b[at+8:]))
}

// Header is the beginning of a message over UDP.
type Header struct {
	Magic  uint32
	Token  uint64
	Number uint64
	AtNs   int64
}

// Put writes h into the first bytes of b, which has at least HeaderSize.
func (h Header) Put(b []byte) {
	_ = b[HeaderSize-1]
	binary.BigEndian.PutUint32(b, h.Magic)
	binary.BigEndian.PutUint64(b[4:], h.Token)
	binary.BigEndian.PutUint64(b[12:], h.Number)
	binary.BigEndian.PutUint64(b[20:], uint64(h.AtNs))
}

// ParseHeader parses a datagram; ok is false if it is of another kind.
func ParseHeader(b []byte) (h Header, ok bool) {
	if len(b) < HeaderSize {
		return h, false
	}
	h = Header{
		Magic:  binary.BigEndian.Uint32(b),
		Token:  binary.BigEndian.Uint64(b[4:]),
		Number: binary.BigEndian.Uint64(b[12:]),
		AtNs:   int64(binary.BigEndian.Uint64(b[20:])),
	}
	return h, h.Magic == MagicRequest || h.Magic == MagicReply || h.Magic == MagicEnd
}

// IsStream reports whether conn carries messages as a stream, not as datagrams.
func IsStream(conn net.Conn) bool {
	switch conn.RemoteAddr().(type) {
	case *net.TCPAddr, *net.UnixAddr:
		return true
	case *net.UDPAddr:
		return false
	}
	_, packets := conn.(net.PacketConn)
	return !packets
}
