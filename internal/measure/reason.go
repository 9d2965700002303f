package measure

import "soku/internal/text/messages"

// Reason is why a path ends, as the code of what an ICMP error reports. Its words are the
// message reason.CODE of the catalogues.
type Reason string

// Reasons, with the type and code of ICMP (RFC 792, RFC 1812 section 5.2.7.1) and ICMPv6
// (RFC 4443, RFC 6550, RFC 8883).
const (
	ReasonNetworkUnreachable  Reason = "network_unreachable"  // ICMP 3/0
	ReasonHostUnreachable     Reason = "host_unreachable"     // ICMP 3/1
	ReasonProtocolUnreachable Reason = "protocol_unreachable" // ICMP 3/2
	ReasonPortUnreachable     Reason = "port_unreachable"     // ICMP 3/3, ICMPv6 1/4
	ReasonPacketTooBig        Reason = "packet_too_big"       // ICMP 3/4, ICMPv6 2
	ReasonSourceRouteFailed   Reason = "source_route_failed"  // ICMP 3/5, ICMPv6 1/7
	ReasonNetworkUnknown      Reason = "network_unknown"      // ICMP 3/6
	ReasonHostUnknown         Reason = "host_unknown"         // ICMP 3/7
	ReasonSourceIsolated      Reason = "source_isolated"      // ICMP 3/8
	ReasonNetworkProhibited   Reason = "network_prohibited"   // ICMP 3/9
	ReasonHostProhibited      Reason = "host_prohibited"      // ICMP 3/10
	ReasonTOSUnreachable      Reason = "tos_unreachable"      // ICMP 3/11, 3/12
	ReasonAdminProhibited     Reason = "admin_prohibited"     // ICMP 3/13, ICMPv6 1/1
	ReasonPrecedenceViolation Reason = "precedence_violation" // ICMP 3/14
	ReasonPrecedenceCutoff    Reason = "precedence_cutoff"    // ICMP 3/15
	ReasonNoRoute             Reason = "no_route"             // ICMPv6 1/0
	ReasonBeyondScope         Reason = "beyond_scope"         // ICMPv6 1/2
	ReasonAddressUnreachable  Reason = "address_unreachable"  // ICMPv6 1/3
	ReasonSourcePolicy        Reason = "source_policy"        // ICMPv6 1/5
	ReasonRejectRoute         Reason = "reject_route"         // ICMPv6 1/6
	ReasonHeadersTooLong      Reason = "headers_too_long"     // ICMPv6 1/8
	ReasonUnreachable         Reason = "unreachable"          // ICMP 3 and ICMPv6 1 with any other code
	ReasonTimeExceeded        Reason = "time_exceeded"        // ICMP 11/0, ICMPv6 3/0
	ReasonReassemblyTimeout   Reason = "reassembly_timeout"   // ICMP 11/1, ICMPv6 3/1
	ReasonParameterProblem    Reason = "parameter_problem"    // ICMP 12, ICMPv6 4
)

// English are the words of the reason in English; none of the empty one.
func (r Reason) English() string {
	if r == "" {
		return ""
	}
	return messages.English().OrKey("reason."+string(r), nil)
}
