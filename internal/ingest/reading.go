package ingest

import (
	"math"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// newReading is an empty result for a record that begins at this line.
func newReading(test measure.Test, tool, version string, record, line int) *measure.Result {
	r := &measure.Result{
		Schema: measure.Schema, Test: test, Path: measure.Path{Direction: measure.Forward},
		Origin: &measure.Origin{Record: record, Line: max(line, 1), Tool: tool, ToolVersion: short(version)},
	}
	if version == "" {
		missing(r, finding.NoToolVersion)
	}
	return r
}

// missing records once what a result does not have.
func missing(r *measure.Result, codes ...finding.Code) {
	for _, code := range codes {
		r.Origin.Missing.AddOnce(measure.NewFinding(code, "", nil))
	}
}

// isMissing reports whether a result does not have what the code names.
func isMissing(r *measure.Result, code finding.Code) bool {
	return len(r.Origin.Missing.With(code)) > 0
}

// warn records once a finding about the program's output.
func warn(r *measure.Result, code finding.Code) {
	r.Findings.AddOnce(measure.NewFinding(code, "", measure.Figures{"tool": r.Origin.Tool}))
}

// setFlows puts the directions into a result and adds up its summary.
func setFlows(r *measure.Result, flows ...measure.Flow) {
	s := measure.Summary{}
	for _, f := range flows {
		s.GoodputBps += f.Summary.GoodputBps
		s.SentBytes += f.Summary.SentBytes
		s.ReceivedBytes += f.Summary.ReceivedBytes
		s.DurationNs = max(s.DurationNs, f.Summary.DurationNs)
		if n := f.Summary.Retransmits; n != nil {
			if s.Retransmits == nil {
				s.Retransmits = new(int64)
			}
			*s.Retransmits += *n
		}
		s.PacketsSent += f.Summary.PacketsSent
		s.PacketsReceived += f.Summary.PacketsReceived
		s.PacketsLost += f.Summary.PacketsLost
		s.PacketsReordered += f.Summary.PacketsReordered
		s.PacketsPerSecond += f.Summary.PacketsPerSecond
		if j := f.Summary.JitterNs; j != nil && (s.JitterNs == nil || *j > *s.JitterNs) {
			s.JitterNs = j
		}
		if l := f.Summary.LossRatio; l != nil && s.LossRatio == nil {
			s.LossRatio = l
		}
	}
	if len(flows) > 1 && s.PacketsSent > 0 && s.LossRatio != nil {
		s.LossRatio = new(float64(s.PacketsLost) / float64(s.PacketsSent))
	}
	r.Flows, r.Summary = flows, s
}

// setLoss fills in the packets sent and lost.
func setLoss(s *measure.Summary, sent, lost int64) {
	s.PacketsSent, s.PacketsLost, s.PacketsReceived = sent, lost, sent-lost
	if sent > 0 {
		s.LossRatio = new(float64(lost) / float64(sent))
	}
}

// setDatagrams fills in the datagrams of a direction whose duration is known, sent and lost.
func setDatagrams(s *measure.Summary, sent, lost int64) {
	setLoss(s, sent, lost)
	if s.DurationNs > 0 {
		s.PacketsPerSecond = float64(s.PacketsReceived) * 1e9 / float64(s.DurationNs)
	}
}

// emptyFlow is a direction without samples and streams; both are lists in a
// document and never null.
func emptyFlow(d measure.Direction) measure.Flow {
	return measure.Flow{Direction: d, Streams: []measure.Stream{}, Samples: []measure.Sample{}}
}

// seconds as the documents write them.
func seconds(s float64) measure.Duration { return measure.Duration(math.Round(s * 1e9)) }
