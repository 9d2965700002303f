package ingest

import (
	"cmp"
	"math"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// open makes the result without its figures.
func (t *iperf2Test) open(test measure.Test, atServer bool, record int) *measure.Result {
	r := newReading(test, "iperf", "", record, t.line)
	if !t.exact {
		missing(r, finding.RoundedFigures)
	}
	missing(r, finding.NoHostFacts, finding.NoOptions, finding.NoBaseline)
	r.StartedAt = t.startedAt
	if r.StartedAt.IsZero() {
		missing(r, finding.TimeOfFile)
	}
	direction := measure.Forward
	switch {
	case t.duplex:
		direction = measure.Bidirectional
	case t.reverse:
		direction = measure.Reverse
	}
	r.Path = measure.Path{Client: measure.Endpoint{Address: short(t.near)}, Server: measure.Endpoint{Address: short(t.far)}, Direction: direction}
	port := cmp.Or(t.farPort, t.nearPort)
	if atServer {
		r.Path.Client, r.Path.Server = r.Path.Server, r.Path.Client
		port = t.nearPort
	}
	if n, ok := count(port); ok && n < 65536 {
		r.Options.Port = int(n)
	}
	r.Options.Direction = direction
	return r
}

func (t *iperf2Test) result(s *Source, atServer bool, record int) (*measure.Result, error) {
	test := measure.TestTCP
	if t.udp {
		test = measure.TestUDP
	}
	r := t.open(test, atServer, record)
	r.Options.Streams = len(t.ids)
	var flows []measure.Flow
	for _, d := range r.Options.Direction.Flows() {
		f := emptyFlow(d)
		receiving := atServer != (d == measure.Reverse)
		if err := t.fill(s, r, &f, receiving); err != nil {
			return nil, err
		}
		flows = append(flows, f)
	}
	setFlows(r, flows...)
	if !t.duplex {
		t.compareSum(r)
	}
	return r, nil
}

// stream is the rows of a connection in a direction. For the way back iperf puts an asterisk before
// the ID, at the client of a reverse test and at both ends of a full-duplex one.
func (t *iperf2Test) stream(id string, d measure.Direction) string {
	back := "*" + id
	if t.duplex && d == measure.Reverse || t.reverse && len(t.rows[id]) == 0 {
		return back
	}
	return id
}

// fill adds the streams of a direction up, with the receiver's report if there is one.
func (t *iperf2Test) fill(s *Source, r *measure.Result, f *measure.Flow, receiving bool) error {
	sum := &f.Summary
	var packets, lost int64
	var jitter, retries, reordered float64
	var rate rounding
	hasRetries, hasLoss, hasJitter, reports := true, true, true, 0
	for i, id := range t.ids {
		id = t.stream(id, f.Direction)
		row, intervals, ok := t.total(id)
		if !ok {
			return s.cutOff("ingest.cut_off.iperf2", measure.Figures{"stream": short(id)})
		}
		hasRetries = hasRetries && row.hasRetries
		retries += row.retries
		stream := measure.Stream{Index: i}
		if receiving {
			stream.ReceivedBytes = int64(row.bytes)
		} else {
			stream.SentBytes = int64(row.bytes)
		}
		addSamples(f, intervals, receiving)
		if report, there := t.reports[id]; there {
			row = report
			stream.ReceivedBytes = int64(report.bytes)
			reports++
		}
		hasLoss = hasLoss && row.datagrams
		packets, lost, reordered = packets+row.total, lost+row.lost, reordered+t.reordered[id]
		if hasJitter = hasJitter && row.jitter != nil; hasJitter {
			jitter += *row.jitter
		}
		sum.GoodputBps += row.bps
		rate = rate.add(row.rounding)
		sum.SentBytes += stream.SentBytes
		sum.ReceivedBytes += stream.ReceivedBytes
		sum.DurationNs = max(sum.DurationNs, seconds(row.to))
		f.Streams = append(f.Streams, stream)
	}
	if !plausible(sum.GoodputBps) || len(t.ids) == 0 {
		return s.fail(t.line, "ingest.iperf2.rates", nil)
	}
	if hasRetries && !t.udp {
		sum.Retransmits = new(int64(retries))
	}
	t.noteMissing(r, f, receiving, hasRetries, hasLoss, reports)
	if t.udp && hasLoss {
		setDatagrams(sum, packets, lost)
		sum.PacketsReordered = int64(reordered)
		if hasJitter {
			sum.JitterNs = nsOf(jitter / float64(len(t.ids)))
		}
	}
	rate.note(r, sum.GoodputBps)
	return nil
}

func (t *iperf2Test) noteMissing(r *measure.Result, f *measure.Flow, receiving, hasRetries, hasLoss bool, reports int) {
	if t.udp && !hasLoss {
		missing(r, finding.NoLoss)
	}
	if !t.udp && !hasRetries {
		missing(r, finding.NoRetransmits)
	}
	if !receiving && reports < len(t.ids) {
		missing(r, finding.GoodputOfSender)
	}
	if receiving {
		missing(r, finding.NoSenderCount)
	}
	switch {
	case len(f.Samples) == 0:
		missing(r, finding.NoIntervals)
	case !receiving:
		missing(r, finding.IntervalsOfSender)
	}
}

// compareSum keeps iperf's own sum of several streams if it is another than theirs. iperf divides
// by the time from the first start to some end, and each stream by its own.
func (t *iperf2Test) compareSum(r *measure.Result) {
	sum, _, ok := t.total("SUM")
	if !ok || len(t.ids) < 2 || seconds(2*sum.to) < r.Summary.DurationNs {
		return
	}
	bps, slack := 0.0, sum.slack
	for _, id := range t.ids {
		row, _, _ := t.total(t.stream(id, r.Options.Direction))
		bps, slack = bps+row.bps, slack+row.slack
	}
	if math.Abs(bps-sum.bps) > slack {
		r.Findings.Add(finding.SumDiffers, "", measure.Figures{"tool": r.Origin.Tool, "goodput_bps": bps, "sum_bps": sum.bps})
	}
}

// addSamples adds the intervals of a stream to those of the others.
func addSamples(f *measure.Flow, intervals []iperf2Row, receiving bool) {
	for i, row := range intervals {
		if i >= len(f.Samples) {
			f.Samples = append(f.Samples, measure.Sample{StartNs: int64(row.from * 1e9), EndNs: int64(row.to * 1e9)})
		}
		v := &f.Samples[i]
		if receiving {
			v.ReceivedBytes += int64(row.bytes)
		} else {
			v.SentBytes += int64(row.bytes)
		}
		if row.datagrams {
			v.Packets += row.total - row.lost
			v.Lost += row.lost
		}
	}
}

// bounces makes the result of --bounceback, the round trips of requests over TCP.
func (t *iperf2Test) bounces(s *Source, record int) (*measure.Result, error) {
	r := t.open(measure.TestLatency, false, record)
	r.Options.Own = latency.Options{Protocol: "tcp"}
	var all iperf2Bounces
	first := true
	for _, id := range t.ids {
		row, _, ok := t.total(id)
		if !ok || row.bounces == nil || row.bounces.count < 1 {
			return nil, s.cutOff("ingest.cut_off.iperf2", measure.Figures{"stream": short(id)})
		}
		b := row.bounces
		if first {
			all, first = *b, false
		} else { // of several streams together there is no deviation
			n := all.count + b.count
			all = iperf2Bounces{n, (all.mean*all.count + b.mean*b.count) / n, min(all.least, b.least), max(all.most, b.most), -1}
		}
		r.Summary.DurationNs = max(r.Summary.DurationNs, seconds(row.to))
	}
	r.Summary.ReportedRTT = &measure.RTTFigures{Count: int64(all.count), Mean: nsOf(all.mean), Min: nsOf(all.least), Max: nsOf(all.most)}
	if all.deviation >= 0 {
		r.Summary.ReportedRTT.StdDev = nsOf(all.deviation)
	}
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "iperf"}, Sent: int64(all.count), Received: int64(all.count)}
	missing(r, finding.NoHistogram, finding.NoPercentiles, finding.NoIntervals, finding.NoLoss)
	return r, nil
}
