package probe

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"soku/internal/measure"
)

// StripIPv4 returns the bytes after an IPv4 header; ok is false if there is none.
func StripIPv4(b []byte) (rest []byte, ok bool) {
	if len(b) < ipv4.HeaderLen || b[0]>>4 != 4 {
		return nil, false
	}
	n := int(b[0]&0x0f) * 4
	if n < ipv4.HeaderLen || len(b) < n {
		return nil, false
	}
	return b[n:], true
}

// unreachable4 and unreachable6 are the reasons by the code of "destination unreachable"
// (types 3 and 1), from the IANA registries of ICMP and ICMPv6 parameters.
var (
	unreachable4 = []measure.Reason{
		measure.ReasonNetworkUnreachable, measure.ReasonHostUnreachable, measure.ReasonProtocolUnreachable, measure.ReasonPortUnreachable,
		measure.ReasonPacketTooBig, measure.ReasonSourceRouteFailed, measure.ReasonNetworkUnknown, measure.ReasonHostUnknown,
		measure.ReasonSourceIsolated, measure.ReasonNetworkProhibited, measure.ReasonHostProhibited, measure.ReasonTOSUnreachable,
		measure.ReasonTOSUnreachable, measure.ReasonAdminProhibited, measure.ReasonPrecedenceViolation, measure.ReasonPrecedenceCutoff,
	}
	unreachable6 = []measure.Reason{
		measure.ReasonNoRoute, measure.ReasonAdminProhibited, measure.ReasonBeyondScope, measure.ReasonAddressUnreachable,
		measure.ReasonPortUnreachable, measure.ReasonSourcePolicy, measure.ReasonRejectRoute, measure.ReasonSourceRouteFailed,
		measure.ReasonHeadersTooLong,
	}
)

// meaning is what errors of a type mean by their code, and with another code.
type meaning struct {
	coded []measure.Reason
	other measure.Reason
}

// exceeded is "time exceeded", whose codes are the same in both protocols.
var exceeded = meaning{[]measure.Reason{measure.ReasonTimeExceeded, measure.ReasonReassemblyTimeout}, measure.ReasonTimeExceeded}

// errors4 and errors6 are the types that are errors.
var (
	errors4 = map[ipv4.ICMPType]meaning{
		ipv4.ICMPTypeDestinationUnreachable: {unreachable4, measure.ReasonUnreachable},
		ipv4.ICMPTypeTimeExceeded:           exceeded,
		ipv4.ICMPTypeParameterProblem:       {nil, measure.ReasonParameterProblem},
	}
	errors6 = map[ipv6.ICMPType]meaning{
		ipv6.ICMPTypeDestinationUnreachable: {unreachable6, measure.ReasonUnreachable},
		ipv6.ICMPTypePacketTooBig:           {nil, measure.ReasonPacketTooBig},
		ipv6.ICMPTypeTimeExceeded:           exceeded,
		ipv6.ICMPTypeParameterProblem:       {nil, measure.ReasonParameterProblem},
	}
)

// Reason returns what an ICMP error means, or "" if the message is not an error.
func Reason(v6 bool, typ, code byte) measure.Reason {
	m := errors4[ipv4.ICMPType(typ)]
	if v6 {
		m = errors6[ipv6.ICMPType(typ)]
	}
	if int(code) < len(m.coded) {
		return m.coded[code]
	}
	return m.other
}

// Kind is the class of an answer.
type Kind uint8

// Kinds of answers.
const (
	Nothing Kind = iota // no answer to a probe
	Expired             // the hop limit expired at a node on the path
	Arrived             // the target itself answered
	TooBig              // a node on the path cannot forward a packet of this size
	Blocked             // another error: the probe was not forwarded
)

// kindOf classifies an ICMP error. A closed port counts only if the target itself reports
// it: filters on the path send the same error.
func kindOf(v6 bool, typ, code byte, fromTarget bool) Kind {
	expired, tooBig, closed := typ == 11 && code == 0, typ == 3 && code == 4, typ == 3 && (code == 2 || code == 3)
	if v6 {
		expired, tooBig, closed = typ == 3 && code == 0, typ == 2, typ == 1 && code == 4
	}
	switch {
	case expired:
		return Expired
	case tooBig:
		return TooBig
	case closed && fromTarget:
		return Arrived
	case Reason(v6, typ, code) != "":
		return Blocked
	}
	return Nothing
}

// Extended is what the kernel reports about one error in addition to the quoted packet:
// struct sock_extended_err of linux/errqueue.h and the address after it.
type Extended struct {
	Type, Code byte
	From       netip.Addr // sender of the error
	MTU        int        // bytes; only in errors about size
	// extensions is the offset of RFC 4884 extensions in the quoted data, or 0 without
	// extensions.
	extensions int
}

// Reason returns what the error means.
func (e Extended) Reason(v6 bool) measure.Reason { return Reason(v6, e.Type, e.Code) }

// Origins of errors: SO_EE_ORIGIN_ICMP and SO_EE_ORIGIN_ICMP6.
const (
	originICMP  = 2
	originICMP6 = 3
)

// ParseExtended parses the error: errno in 4 bytes, origin, type, code, padding, info and
// data of 4 bytes each, in the byte order of the machine, followed by the sockaddr of the
// sender. ok is false if it is not from an ICMP message.
func ParseExtended(b []byte, v6 bool) (e Extended, ok bool) {
	const fixed, longest = 16, 1 << 16
	origin := byte(originICMP)
	if v6 {
		origin = originICMP6
	}
	if len(b) < fixed || b[4] != origin {
		return Extended{}, false
	}
	e.Type, e.Code = b[5], b[6]
	if info := binary.NativeEndian.Uint32(b[8:]); info < longest {
		e.MTU = int(info)
	}
	const invalid = 1 // SO_EE_RFC4884_FLAG_INVALID
	if b[14]&invalid == 0 {
		e.extensions = int(binary.NativeEndian.Uint16(b[12:]))
	}
	switch who := b[fixed:]; {
	case !v6 && len(who) >= 8:
		e.From = netip.AddrFrom4([4]byte(who[4:8]))
	case v6 && len(who) >= 24:
		e.From = netip.AddrFrom16([16]byte(who[8:24]))
	}
	return e, true
}

// fill adds the content of the error.
func (a *Answer) fill(e Extended, quoted []byte, c *codec) {
	a.From = e.From
	a.Kind = kindOf(c.v6, e.Type, e.Code, e.From == c.to.WithZone(""))
	switch a.Kind {
	case TooBig:
		a.MTU = e.MTU
	case Blocked:
		a.Reason = e.Reason(c.v6)
	case Expired:
		if e.extensions > 0 && e.extensions < len(quoted) {
			a.Labels = labels(quoted[e.extensions:])
		}
	}
}

// mostLabels limits the label stack of one answer.
const mostLabels = 16

// labels parses the MPLS label stack (RFC 4950) in the extensions (RFC 4884) after the
// quoted packet. Malformed extensions have none.
func labels(b []byte) (out []measure.MPLSLabel) {
	const version, head, objectHead, entry = 2, 4, 4, 4
	if len(b) < head || b[0]>>4 != version {
		return nil
	}
	for b = b[head:]; len(b) >= objectHead; {
		n := int(binary.BigEndian.Uint16(b))
		if n < objectHead || n > len(b) {
			return out
		}
		const classMPLS, incoming = 1, 1
		if b[2] == classMPLS && b[3] == incoming {
			for stack := b[objectHead:n]; len(stack) >= entry && len(out) < mostLabels; stack = stack[entry:] {
				v := binary.BigEndian.Uint32(stack)
				out = append(out, measure.MPLSLabel{Label: int(v >> 12), Class: int(v >> 9 & 7), Last: v>>8&1 == 1, TTL: int(v & 0xff)})
			}
		}
		b = b[n:]
	}
	return out
}
