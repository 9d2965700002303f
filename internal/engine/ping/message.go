package ping

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"soku/internal/engine/probe"
	"soku/internal/measure"
)

// An echo request as this package sends it, big endian:
//
//	 0      1      2        4        6        8               16              24
//	+------+------+--------+--------+--------+---------------+---------------+----...
//	| type | code | check  | id     | seq    | token         | number        | pattern
//	+------+------+--------+--------+--------+---------------+---------------+----...
//
// The payload begins with the token. It is random for each run, so that replies to other
// pings of this host are distinguished even if identifier and sequence number are the
// same. seq is the low 16 bits of the number. A payload that is too short contains only
// the fields that fit completely.
const (
	headerSize  = 8 // of ICMP echo
	tokenSize   = 8
	numberedLen = 16

	protocolICMP   = 1
	protocolICMPv6 = 58
)

// request builds echo request number n; payload has the final length.
func request(v6 bool, id uint16, token, n uint64, payload []byte) ([]byte, error) {
	if len(payload) >= tokenSize {
		binary.BigEndian.PutUint64(payload, token)
	}
	if len(payload) >= numberedLen {
		binary.BigEndian.PutUint64(payload[tokenSize:], n)
	}
	m := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: int(id), Seq: int(uint16(n)), Data: payload}}
	if v6 {
		m.Type = ipv6.ICMPTypeEchoRequest
	}
	return m.Marshal(nil) // the kernel fills in the checksum of ICMPv6
}

// kind is the class of a message.
type kind uint8

const (
	other   kind = iota // not related to this run
	reply               // an echo reply
	failure             // an ICMP error about an echo request of this host
)

// message is the relevant part of an ICMP message.
type message struct {
	kind    kind
	id, seq uint16
	payload []byte         // of a reply
	to      netip.Addr     // of a failure: where the request was going
	reason  measure.Reason // of a failure
}

// parse parses an ICMP message that begins at b. Malformed messages are other.
func parse(v6 bool, b []byte) message {
	protocol := protocolICMP
	if v6 {
		protocol = protocolICMPv6
	}
	if len(b) < headerSize {
		return message{}
	}
	if reason := probe.Reason(v6, b[0], b[1]); reason != "" {
		return quoted(v6, b[headerSize:], reason)
	}
	if !v6 && b[0] != byte(ipv4.ICMPTypeEchoReply) || v6 && b[0] != byte(ipv6.ICMPTypeEchoReply) {
		return message{}
	}
	m, err := icmp.ParseMessage(protocol, b)
	if err != nil {
		return message{}
	}
	e, ok := m.Body.(*icmp.Echo)
	if !ok {
		return message{}
	}
	return message{kind: reply, id: uint16(e.ID), seq: uint16(e.Seq), payload: e.Data}
}

// echoAtEnd parses the request at the end of a packet of this host; size is the length of
// its payload. A shorter packet contains no request.
func echoAtEnd(packet []byte, size int) message {
	if len(packet) < headerSize+size {
		return message{}
	}
	b := packet[len(packet)-headerSize-size:]
	return message{id: binary.BigEndian.Uint16(b[4:]), seq: binary.BigEndian.Uint16(b[6:]), payload: b[headerSize:]}
}

// quoted parses the start of the datagram that an ICMP error quotes.
func quoted(v6 bool, b []byte, reason measure.Reason) message {
	m := message{kind: failure, reason: reason}
	var inner []byte
	echo := byte(ipv4.ICMPTypeEcho)
	if v6 {
		const headerLen = 40
		if len(b) < headerLen || b[0]>>4 != 6 || b[6] != protocolICMPv6 {
			return message{}
		}
		m.to, inner, echo = netip.AddrFrom16([16]byte(b[24:40])), b[headerLen:], byte(ipv6.ICMPTypeEchoRequest)
	} else {
		var ok bool
		if inner, ok = probe.StripIPv4(b); !ok || b[9] != protocolICMP {
			return message{}
		}
		m.to = netip.AddrFrom4([4]byte(b[16:20]))
	}
	if len(inner) < headerSize || inner[0] != echo {
		return message{}
	}
	m.id, m.seq = binary.BigEndian.Uint16(inner[4:]), binary.BigEndian.Uint16(inner[6:])
	return m
}
