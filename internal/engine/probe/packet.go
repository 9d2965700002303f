package probe

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// Probes as they are sent, big endian. An echo request:
//
//	 0      1      2        4        6        8        10              18
//	+------+------+--------+--------+--------+--------+---------------+----...
//	| type | code | check  | id     | number | ^number| token         | zeros
//	+------+------+--------+--------+--------+--------+---------------+----...
//
// The sum of the two numbers is the same for every probe, so the checksum of a flow does
// not change; some routers choose a path by it.
//
// A UDP datagram. If this package writes the header, the checksum is the number:
//
//	 0        2        4        6        8               16       18       20
//	+--------+--------+--------+--------+---------------+--------+--------+----...
//	| source | dest   | length | check  | token         | number | adjust | zeros
//	+--------+--------+--------+--------+---------------+--------+--------+----...
//
// so that eight quoted bytes are enough to identify it.
// A TCP SYN has the number in the low half of its sequence number, and a part of the token
// in the high half.
const (
	echoLeast = 18
	udpHead   = 8
	udpLeast  = udpHead + 12
	synLength = 24

	protocolICMP   = 1
	protocolTCP    = 6
	protocolUDP    = 17
	protocolICMPv6 = 58
)

// codec writes the probes of one run and parses what errors quote of them.
type codec struct {
	kind     string // icmp, udp, tcp
	v6       bool
	from, to netip.Addr
	port     uint16   // of the target
	ports    []uint16 // of the flows: source port or echo identifier
	token    uint64
}

// ipHead returns the length of the IP header that the kernel adds.
func (c *codec) ipHead() int {
	if c.v6 {
		return 40
	}
	return 20
}

// least returns the shortest IP packet that holds a probe.
func (c *codec) least() int {
	switch c.kind {
	case "udp":
		return c.ipHead() + udpLeast
	case "tcp":
		return c.ipHead() + synLength
	}
	return c.ipHead() + echoLeast
}

// build returns the probe without its IP header; size is that of the whole packet in
// bytes, 0 for the shortest.
func (c *codec) build(flow int, number uint16, size int) []byte {
	b := make([]byte, max(size, c.least())-c.ipHead())
	switch c.kind {
	case "udp":
		c.udp(b, flow, number)
	case "tcp":
		b = b[:synLength]
		c.syn(b, flow, number)
	default:
		c.echo(b, flow, number)
	}
	return b
}

func (c *codec) echo(b []byte, flow int, number uint16) {
	b[0] = 8
	if c.v6 {
		b[0] = 128
	}
	binary.BigEndian.PutUint16(b[4:], c.ports[flow])
	binary.BigEndian.PutUint16(b[6:], number)
	binary.BigEndian.PutUint16(b[8:], ^number)
	binary.BigEndian.PutUint64(b[10:], c.token)
	if !c.v6 { // the kernel writes that of ICMPv6
		binary.BigEndian.PutUint16(b[2:], ^sum(0, b))
	}
}

func (c *codec) udp(b []byte, flow int, number uint16) {
	binary.BigEndian.PutUint16(b, c.ports[flow])
	binary.BigEndian.PutUint16(b[2:], c.port)
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)))
	binary.BigEndian.PutUint64(b[8:], c.token)
	binary.BigEndian.PutUint16(b[16:], number)
	// The adjust field makes the checksum, which is the complement of the sum, equal to
	// the number.
	adjust := fold(uint32(^number) + uint32(^sum(c.pseudo(protocolUDP, len(b)), b)))
	binary.BigEndian.PutUint16(b[18:], adjust)
	binary.BigEndian.PutUint16(b[6:], number)
}

func (c *codec) syn(b []byte, flow int, number uint16) {
	binary.BigEndian.PutUint16(b, c.ports[flow])
	binary.BigEndian.PutUint16(b[2:], c.port)
	binary.BigEndian.PutUint32(b[4:], c.sequence(number))
	b[12], b[13] = synLength/4<<4, 2 // SYN
	binary.BigEndian.PutUint16(b[14:], 64240)
	b[20], b[21] = 2, 4 // maximum segment size
	binary.BigEndian.PutUint16(b[22:], 1220)
	binary.BigEndian.PutUint16(b[16:], ^sum(c.pseudo(protocolTCP, len(b)), b))
}

func (c *codec) sequence(number uint16) uint32 {
	return uint32(c.token)&0xffff0000 | uint32(number)
}

// pseudo returns the sum of the pseudo header (RFC 768, RFC 9293, RFC 8200 section 8.1).
func (c *codec) pseudo(protocol byte, length int) uint32 {
	s := uint32(protocol) + uint32(length)
	return uint32(sum(uint32(sum(s, c.from.AsSlice())), c.to.AsSlice()))
}

// sum returns the ones' complement sum (RFC 1071) of b, continued from s.
func sum(s uint32, b []byte) uint16 {
	for ; len(b) >= 2; b = b[2:] {
		s = uint32(fold(s + uint32(binary.BigEndian.Uint16(b))))
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return fold(s)
}

func fold(s uint32) uint16 {
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s&0xffff)
}

// quoted finds the probe that an ICMP error is about, from what it quotes after the IP
// header; eight bytes are enough.
func (c *codec) quoted(b []byte) (flow int, number uint16, ok bool) {
	if len(b) < 8 {
		return 0, 0, false
	}
	word := func(i int) uint16 { return binary.BigEndian.Uint16(b[i:]) }
	if c.kind == "icmp" {
		echo := byte(8)
		if c.v6 {
			echo = 128
		}
		flow = slices.Index(c.ports, word(4))
		if b[0] != echo || flow < 0 || c.alien(b[8:], 2) {
			return 0, 0, false
		}
		return flow, word(6), true
	}
	flow = slices.Index(c.ports, word(0))
	if flow < 0 || word(2) != c.port {
		return 0, 0, false
	}
	if c.kind == "tcp" {
		seq := binary.BigEndian.Uint32(b[4:])
		return flow, uint16(seq), seq&0xffff0000 == c.sequence(0)
	}
	if number, ok = c.payload(b[udpHead:]); ok {
		return flow, number, true
	}
	if c.alien(b[udpHead:], 0) {
		return 0, 0, false
	}
	return flow, word(6), word(6) != 0
}

// alien reports whether a quoted payload has, at that offset, a token of another run.
// Routers that add extensions fill the part that they do not quote with zeros (RFC 4884
// section 5.2).
func (c *codec) alien(payload []byte, at int) bool {
	if len(payload) < at+8 {
		return false
	}
	token := binary.BigEndian.Uint64(payload[at:])
	return token != c.token && token != 0
}

// payload parses the number of a UDP probe from its payload.
func (c *codec) payload(b []byte) (number uint16, ok bool) {
	if len(b) < 10 || binary.BigEndian.Uint64(b) != c.token {
		return 0, false
	}
	return binary.BigEndian.Uint16(b[8:]), true
}

// reply finds the probe that a packet from the target answers, from the data after its IP
// header. For a datagram only the flow is known.
func (c *codec) reply(b []byte) (flow int, number uint16, vague, ok bool) {
	if len(b) < 8 {
		return 0, 0, false, false
	}
	word := func(i int) uint16 { return binary.BigEndian.Uint16(b[i:]) }
	if c.kind == "icmp" {
		typ := byte(0)
		if c.v6 {
			typ = 129
		}
		flow = slices.Index(c.ports, word(4))
		if b[0] != typ || flow < 0 || len(b) < echoLeast || binary.BigEndian.Uint64(b[10:]) != c.token {
			return 0, 0, false, false
		}
		return flow, word(6), false, true
	}
	flow = slices.Index(c.ports, word(2))
	if flow < 0 || word(0) != c.port {
		return 0, 0, false, false
	}
	if c.kind == "udp" {
		return flow, 0, true, true
	}
	const syn, rst, ack = 2, 4, 16
	if len(b) < 20 || b[13]&ack == 0 || b[13]&(syn|rst) == 0 {
		return 0, 0, false, false
	}
	seq := binary.BigEndian.Uint32(b[8:]) - 1
	return flow, uint16(seq), false, seq&0xffff0000 == c.sequence(0)
}
