package trial

import (
	"net/netip"
	"strings"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

const (
	// otherTraffic is the share of an interface's bytes from which other traffic is a finding,
	// and leastOther the least amount that is.
	otherTraffic = 0.15
	leastOther   = 1_000_000

	// Headers of a packet, Ethernet to TCP with time stamps and to UDP, over IPv6.
	tcpHeaders = 14 + 40 + 32
	udpHeaders = 14 + 40 + 8
	// usualMSS is the payload of a packet where the kernel does not say.
	usualMSS = 1400

	resentSYNs   = 0.02 // share of the opened connections whose SYN was sent again
	refusedOpens = 0.01 // share of them that the listener dropped
)

// crossCheck holds the test's own count against what the hosts counted: other bytes on the
// interface of the path, and in connect SYNs that were sent again or dropped by listeners.
func crossCheck(r *measure.Result) {
	if r.Connect != nil {
		checkOpens(r)
		return
	}
	group := r.Trial != nil && r.Trial.Group != nil // others measure at the same time
	if addr, err := netip.ParseAddr(r.Path.Server.Address); err != nil || addr.IsLoopback() || group {
		return
	}
	for _, end := range []struct {
		where measure.Where
		host  *measure.Host
		sends measure.Direction
	}{{measure.AtClient, r.Hosts.Client, measure.Forward}, {measure.AtServer, r.Hosts.Server, measure.Reverse}} {
		if end.host == nil || end.host.Counters == nil || strings.HasPrefix(end.host.Facts.Interface, "lo") {
			continue
		}
		for i := range r.Flows {
			f := &r.Flows[i]
			direction, counted := "received", end.host.Counters.RxBytes
			if f.Direction == end.sends {
				direction, counted = "sent", end.host.Counters.TxBytes
			}
			checkInterface(r, end.where, end.host.Facts.Interface, direction, counted, onTheWire(f, r.Options))
		}
	}
}

// checkInterface reports other traffic. test is the most that the test's packets are.
func checkInterface(r *measure.Result, where measure.Where, iface, direction string, counted, test int64) {
	if other := counted - test; test > 0 && other >= leastOther && float64(other) >= otherTraffic*float64(counted) {
		r.Findings.Add(finding.OtherTraffic, where, measure.Figures{
			"interface": iface, "direction": direction, "interface_bytes": counted, "test_bytes": test, "other_ratio": float64(other) / float64(counted),
		})
	}
}

// onTheWire returns the least number of bytes that a flow moved in packets, with retransmits,
// headers, the omitted start, and the acknowledgements of a flow in the other direction. It returns
// 0 if the number is unknown.
func onTheWire(f *measure.Flow, o measure.Options) (bytes int64) {
	for _, s := range f.Streams {
		switch {
		case s.Packets != nil:
			size := int64(o.Size)
			fragments := size/usualMSS + 1
			bytes += (max(s.Packets.Sent, s.Packets.Received+s.Packets.Duplicated) + s.Packets.Omitted) * (size + fragments*udpHeaders)
		case s.TCP != nil && s.TCP.SentBytes > 0:
			packets, later := max(s.TCP.DataSegsOut, s.TCP.SentBytes/max(s.TCP.MSS, 1)), sentLater(&s)
			bytes += s.TCP.SentBytes + later + (packets+later/max(s.TCP.MSS, 1))*tcpHeaders
		case o.Omit > 0:
			return 0
		default:
			sent := max(s.SentBytes, s.ReceivedBytes)
			bytes += sent + sent/usualMSS*tcpHeaders
		}
	}
	if o.Direction == measure.Bidirectional && bytes > 0 {
		bytes += bytes / usualMSS * tcpHeaders
	}
	return bytes
}

// sentLater is what a sender's kernel sent after it was read, at the end of the time: the payload
// that was then still in the socket, and as much of it again as of the bytes before.
func sentLater(s *measure.Stream) int64 {
	passed := s.TCP.SentBytes // payload that had been sent once
	if s.TCP.AckedBytes > 0 {
		passed = min(passed, s.TCP.AckedBytes+s.TCP.UnackedSegs*s.TCP.MSS)
	}
	left := max(s.SentBytes, s.ReceivedBytes) - passed
	if left <= 0 {
		return 0
	}
	return int64(float64(left) * float64(s.TCP.SentBytes) / float64(passed))
}

// cutShort is the failure of a timed TCP flow whose receiver read to the end of its streams
// long before their time, and less than the sender sent; nil without one. A receiver that was
// held up before its first read took less time, too, but it read everything.
func cutShort(r *measure.Result) error {
	if r.Test != measure.TestTCP || !engine.Timed(r.Options) {
		return nil
	}
	for _, f := range r.Flows {
		s := f.Summary
		if float64(s.DurationNs) < float64(r.Options.Duration)/2 && float64(s.ReceivedBytes) < float64(s.SentBytes)*(1-disagreement) {
			return measure.Fail(measure.KindBroken, "tcp.cut_short", measure.Figures{
				"direction": f.Direction, "received_bytes": s.ReceivedBytes, "sent_bytes": s.SentBytes,
				"after_ns": s.DurationNs, "duration_ns": r.Options.Duration,
			}).WithHintCode("stream_broken", nil)
		}
	}
	return nil
}

// checkOpens reports what the kernels of both ends counted about setting up connections. They
// count all of the network namespace.
func checkOpens(r *measure.Result) {
	opened := r.Connect.Opened
	if opened == 0 {
		return
	}
	share := func(n int64) float64 { return float64(n) / float64(opened) }
	if n := totalOf(r.Hosts.Client, "tcp.syn_retransmits"); share(n) >= resentSYNs {
		r.Findings.Add(finding.SYNsResent, measure.AtClient, measure.Figures{"syn_retransmits": n, "opened": opened})
	}
	if n := totalOf(r.Hosts.Server, "tcp.listen_drops") + totalOf(r.Hosts.Server, "tcp.request_queue_drops"); share(n) >= refusedOpens {
		r.Findings.Add(finding.ListenerDropped, measure.AtServer, measure.Figures{
			"dropped": n, "listen_overflows": totalOf(r.Hosts.Server, "tcp.listen_overflows"), "opened": opened,
		})
	}
}

// totalOf returns the increase of a counter of a host's series in the whole trial, or 0 if it is
// unknown.
func totalOf(h *measure.Host, key string) int64 {
	if h == nil {
		return 0
	}
	v, err := h.Series.Values()
	if err != nil {
		return 0
	}
	return v.Total(key)
}
