package iperf3

import (
	"time"

	"soku/internal/measure"
)

// streamOf is the index, from 0, of a direction's stream among those of the test: streams
// that the client sends are opened first.
func streamOf(p *Parameters, forward bool, index int) int {
	if p.Bidirectional && !forward {
		return p.Parallel + index
	}
	return index
}

// ResultsOf converts one end's counts into iperf3's results over the whole test, including
// the omitted start: the rate of a path that failed early is over the whole time.
func ResultsOf(e *measure.End, p *Parameters, server bool, ran time.Duration) *Results {
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
	seconds := max(0, ran.Seconds()-float64(p.Omit))
	for i := range e.Flows {
		r.addFlow(&e.Flows[i], p, seconds)
	}
	return r
}

func (r *Results) addFlow(f *measure.FlowEnd, p *Parameters, seconds float64) {
	for i := range f.Streams {
		s := &f.Streams[i]
		out := StreamResult{
			ID: StreamID(streamOf(p, f.Direction == measure.Forward, i)), Retransmits: -1,
			EndTime: seconds,
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
			// Versions before 3.17 subtract their own omitted counts.
			out.Packets, out.OmittedPackets = c.Sent+c.Omitted, c.Omitted
			out.Errors, out.Jitter = c.Lost, c.JitterNs/1e9
		}
		r.Streams = append(r.Streams, out)
	}
}

// EndOf converts the other end's results into its counts; server: it is the server's.
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
		// Its number of datagrams sent is larger than what was measured: it sends until
		// the end of the test reaches it, when the receiver has already ended.
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

// countersOf is the processor time of a process during the test.
func countersOf(r *Results, seconds float64) *measure.Counters {
	ns := func(percent float64) int64 {
		return int64(min(max(0, finite(percent)), 100*4096) / 100 * seconds * 1e9)
	}
	c := &measure.Counters{WallNs: int64(seconds * 1e9), ProcessUserNs: ns(r.CPUUser), ProcessSysNs: ns(r.CPUSystem)}
	c.CoresUsed = float64(c.ProcessUserNs+c.ProcessSysNs) / float64(c.WallNs)
	return c
}
