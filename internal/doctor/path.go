package doctor

import (
	"fmt"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// PathChecks are those of the path to the far end.
var PathChecks = []Check{
	{"port", GroupPath, Problem, measure.High, port},
	{"path_mtu", GroupPath, Note, measure.High, pathMTU},
	{"clock_offset", GroupPath, Warning, measure.High, clockOffset},
}

// Path is what was found out on the way to the far end.
type Path struct {
	Host    string
	Address string         // empty: the name has none
	Err     *measure.Error // why a short test with the server failed; nil: it did not
	Echo    *Echo          // nil: not asked, or the system does not permit it
	MTU     *measure.PathMTU
	MTUErr  *measure.Error // why MTU is nil
	Offset  *Offset
}

// Echo is how many echo requests were answered, and the median round trip.
type Echo struct {
	Received int64
	RTTNs    float64
}

// Offset is how far the clock of the far end is ahead of this one, between two bounds, ns: a
// server gives its time in whole seconds.
type Offset struct{ LeastNs, MostNs int64 }

// port says why the server cannot be measured with. Echo tells a firewall from a host that is
// not there.
func port(s *Subject) Outcome {
	e := s.Path.Err
	if e == nil {
		return well
	}
	echo := s.Path.Echo != nil && s.Path.Echo.Received > 0
	f := Finding{Cause: e, Figures: measure.Figures{
		"trouble": "failed", "host": s.Path.Host, "port": s.Port, "echo": echo, "asked": s.Path.Echo != nil,
	}}
	say := func(trouble string, commands ...string) {
		f.Figures["trouble"], f.Commands = trouble, commands
	}
	switch {
	case strings.HasPrefix(e.Code, "dns."):
		say("name", "getent hosts "+s.Path.Host)
	case e.Code == "dial.refused":
		say("refused", serverCommand(s.Port))
	case e.Code == "dial.no_answer":
		say("filtered", fmt.Sprintf("soku trace %s --probe tcp --port %d", s.Path.Host, s.Port))
		if !echo {
			f.Confidence = measure.Medium // it may be off
		}
	case e.Code == "dial.no_route" && echo:
		say("prohibited", fmt.Sprintf("soku trace %s --probe tcp --port %d", s.Path.Host, s.Port))
	case e.Code == "dial.no_route":
		say("no_route", "ip route get "+s.Path.Address)
	case e.Code == "dial.forbidden":
		say("forbidden", "nft list ruleset")
	case e.Code == "native.other_program", e.Code == "native.closed", e.Code == "native.no_answer", e.Code == "native.status":
		say("other_program")
		f.Severity = Warning // other tests than soku's may be meant
	case e.Kind == measure.KindRefused:
		say("denied")
		f.Severity = Warning
	}
	return found(f)
}

// serverCommand starts a server at the far end.
func serverCommand(port int) string {
	if port == option.DefaultPort {
		return "soku server"
	}
	return fmt.Sprintf("soku server --listen :%d", port)
}

func pathMTU(s *Subject) Outcome {
	m := s.Path.MTU
	if m == nil {
		switch e := s.Path.MTUErr; {
		case s.Facts.OS != linux:
			return not(OtherSystem)
		case e == nil || s.Path.Address == "":
			return not(NotReached)
		case e.Kind == measure.KindPermission:
			return not(NeedsRights)
		case e.Kind == measure.KindUnreachable:
			return not(NoEcho)
		}
		return not(Unreadable)
	}
	sent := m.InterfaceBytes
	if m.RouteBytes > 0 {
		sent = min(sent, m.RouteBytes)
	}
	if m.Bytes >= sent {
		return well
	}
	f := Finding{Figures: measure.Figures{
		"path_mtu_bytes": m.Bytes, "sent_bytes": sent, "limit": m.Limit, "locked": m.RouteLocked, "after": "",
	}}
	if m.After != nil {
		f.Figures["after"] = m.After.Address
	}
	if m.Limit == measure.LimitReported && !m.RouteLocked {
		return found(f) // TCP learns it at the first packet
	}
	f.Severity = Problem
	if m.Limit == measure.LimitUnknown {
		f.Severity, f.Confidence = Warning, measure.Medium
	}
	if probing, _ := s.sysctl(mtuProbing); probing == "0" {
		f.Changes = s.raise(mtuProbing, "1")
	}
	return found(f)
}

// mtuProbing has TCP find a size that gets through when large segments are lost (RFC 4821).
const mtuProbing = "net.ipv4.tcp_mtu_probing"

// clockOffsetMost is the difference of two clocks from which on records of two hosts are in a
// wrong order.
const clockOffsetMost = 500 * time.Millisecond

func clockOffset(s *Subject) Outcome {
	o := s.Path.Offset
	switch most := int64(clockOffsetMost); {
	case o == nil && s.Path.Err == nil && s.Path.Address != "":
		return not(Unreadable)
	case o == nil:
		return not(NotReached)
	case o.LeastNs >= most:
		return found(Finding{Figures: measure.Figures{"offset_ns": o.LeastNs}})
	case o.MostNs <= -most:
		return found(Finding{Figures: measure.Figures{"offset_ns": o.MostNs}})
	}
	return well
}
