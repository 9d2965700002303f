package iperf3

import (
	"soku/internal/measure"
)

// streamOf is the place, from 0, of a direction's stream among those of the test:
// those that the client sends were opened first.
func streamOf(p *Parameters, forward bool, index int) int {
	if p.Bidirectional && !forward {
		return p.Parallel + index
	}
	return index
}

// ResultsOf says in iperf3's words what one end counted.
func ResultsOf(e *measure.End, p *Parameters, server bool) *Results {
	r := &Results{SenderHasRetransmits: -1, Streams: []StreamResult{}}
	if e.Host != nil && e.Host.Counters != nil && e.Host.Counters.WallNs > 0 {
		c := e.Host.Counters
		percent := func(ns int64) float64 { return 100 * float64(ns) / float64(c.WallNs) }
		r.CPUUser, r.CPUSystem = percent(c.ProcessUserNs), percent(c.ProcessSysNs)
		r.CPUTotal = r.CPUUser + r.CPUSystem
	}
	if server && p.ServerSends() || !server && p.ServerReceives() {
		r.SenderHasRetransmits = 0
	}
	for i := range e.Flows {
		r.addFlow(&e.Flows[i], p)
	}
	return r
}

func (r *Results) addFlow(f *measure.FlowEnd, p *Parameters) {
	for i := range f.Streams {
		s := &f.Streams[i]
		out := StreamResult{
			ID: StreamID(streamOf(p, f.Direction == measure.Forward, i)), Retransmits: -1,
			EndTime: float64(f.DurationNs) / 1e9,
		}
		if f.Role == measure.Sender {
			out.Bytes = s.SentBytes
		} else {
			out.Bytes = s.ReceivedBytes
		}
		if t := s.TCP; t != nil && f.Role == measure.Sender {
			out.Retransmits = t.Retransmits
			r.SenderHasRetransmits = 1
		}
		if s.TCP != nil && s.TCP.Congestion != "" {
			r.CongestionUsed = s.TCP.Congestion
		}
		if c := s.Packets; c != nil {
			out.Packets, out.Errors, out.Jitter = c.Sent, c.Lost, c.JitterNs/1e9
		}
		r.Streams = append(r.Streams, out)
	}
}

// EndOf is what the far end counted, of which the server's results tell when server.
func EndOf(r *Results, p *Parameters, server bool) *measure.End {
	e := &measure.End{}
	flows := []measure.Direction{measure.Forward}
	switch {
	case p.Bidirectional:
		flows = append(flows, measure.Reverse)
	case p.Reverse:
		flows[0] = measure.Reverse
	}
	var longest float64
	for _, d := range flows {
		role := measure.Sender
		if server == (d == measure.Forward) {
			role = measure.Receiver
		}
		f := measure.FlowEnd{Direction: d, Role: role}
		for i := range p.Parallel {
			s := r.Stream(StreamID(streamOf(p, d == measure.Forward, i)))
			if s == nil {
				f.Streams = nil
				break
			}
			seconds := min(max(0, s.EndTime-s.StartTime), MaxTime+MaxOmit+3600)
			longest = max(longest, seconds)
			f.DurationNs = max(f.DurationNs, int64(seconds*1e9))
			f.Streams = append(f.Streams, streamEnd(s, r, p, role, i))
		}
		if f.Streams != nil {
			e.Flows = append(e.Flows, f)
		}
	}
	if longest > 0 {
		e.Host = &measure.Host{Counters: countersOf(r, longest)}
	}
	return e
}

func streamEnd(s *StreamResult, r *Results, p *Parameters, role measure.Role, index int) measure.Stream {
	out := measure.Stream{Index: index}
	if role == measure.Sender {
		out.SentBytes = s.Bytes
		if p.Protocol == "tcp" && s.Retransmits >= 0 {
			out.TCP = &measure.TCPInfo{Retransmits: s.Retransmits, Congestion: r.CongestionUsed}
		}
		// How many datagrams it sent would say more than was measured: it goes on
		// until it is told to stop, while the receiver has ended.
		return out
	}
	out.ReceivedBytes = s.Bytes
	if p.Protocol == "udp" {
		highest, lost := s.Packets-s.OmittedPackets, s.Errors-s.OmittedErrors
		out.Packets = &measure.PacketCount{
			Sent: highest, Received: max(0, highest-max(0, lost)), Lost: max(0, lost), JitterNs: finite(s.Jitter) * 1e9,
		}
	}
	return out
}

// countersOf is what a process cost in the test's seconds.
func countersOf(r *Results, seconds float64) *measure.Counters {
	ns := func(percent float64) int64 {
		return int64(min(max(0, finite(percent)), 100*4096) / 100 * seconds * 1e9)
	}
	c := &measure.Counters{WallNs: int64(seconds * 1e9), ProcessUserNs: ns(r.CPUUser), ProcessSysNs: ns(r.CPUSystem)}
	c.CoresUsed = float64(c.ProcessUserNs+c.ProcessSysNs) / float64(c.WallNs)
	return c
}
