package trial

import (
	"math"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/stats"
)

// disagreement is the share of the sender's bytes by which the receiver's count
// may differ before a result says so.
const disagreement = 0.005

// assemble makes the figures of r from what the client (own) and the server
// (other) counted. Either may be empty where the trial broke off: what the
// remaining half shows is kept, and no figure is made up for the missing one.
func assemble(r *measure.Result, own, other *measure.End, floor *measure.FloorReading) {
	if other.Host != nil {
		// The half's facts are of this trial, those of the handshake may be older.
		if r.Hosts.Server == nil || other.Host.Facts.OS != "" {
			r.Hosts.Server = &measure.Host{Facts: other.Host.Facts}
		}
		r.Hosts.Server.Counters, r.Hosts.Server.PinnedCPUs, r.Hosts.Server.Series = other.Host.Counters, other.Host.PinnedCPUs, other.Host.Series
	}
	r.Findings = append(r.Findings, own.Findings...)
	r.Findings = append(r.Findings, other.Findings...)
	if own.Connect != nil && own.Latency != nil {
		assembleConnect(r, own, other, floor)
		return
	}
	if own.Latency != nil {
		assembleLatency(r, own.Latency, floor)
		return
	}
	if own.Copy != nil {
		assembleCopy(r, own.Copy, other.Copy)
		return
	}
	for _, dir := range r.Options.Direction.Flows() {
		sent := flowEnd(dir, measure.Sender, own, other)
		received := flowEnd(dir, measure.Receiver, own, other)
		if sent == nil && received == nil {
			continue
		}
		r.Flows = append(r.Flows, makeFlow(dir, sent, received, r))
	}
	if len(r.Flows) > 0 {
		r.Summary = total(r.Flows)
	}
	if own.UnderLoad != nil {
		assembleUnderLoad(r, own.UnderLoad)
	}
}

func flowEnd(dir measure.Direction, role measure.Role, ends ...*measure.End) *measure.FlowEnd {
	for _, e := range ends {
		for i := range e.Flows {
			if f := &e.Flows[i]; f.Direction == dir && f.Role == role && len(f.Streams) > 0 {
				return f
			}
		}
	}
	return nil
}

func makeFlow(dir measure.Direction, sent, received *measure.FlowEnd, r *measure.Result) measure.Flow {
	f := measure.Flow{Direction: dir, Streams: mergeStreams(sent, received)}
	if sent != nil {
		f.TXPath = sent.Path
	}
	if received != nil {
		f.RXPath, f.Acknowledged = received.Path, received.Acknowledged
	}
	for _, s := range f.Streams {
		f.Summary.SentBytes += s.SentBytes
		f.Summary.ReceivedBytes += s.ReceivedBytes
	}
	countRetransmits(&f)
	countPackets(&f, sent != nil && received != nil)
	warnDrops(&f, r)
	warnSegments(&f, r)
	if received == nil {
		f.Samples = sent.Samples
		f.Summary.DurationNs = measure.Duration(sent.DurationNs)
		f.Summary.SetConfidence(measure.Low, measure.NewFinding(finding.ReceiverCountMissing, "", nil))
		return f
	}
	f.Samples = received.Samples
	if len(f.Samples) == 0 && sent != nil {
		f.Samples = sent.Samples
	}
	f.Summary.DurationNs = measure.Duration(received.DurationNs)
	rate(&f, received, r.Options)
	warnLate(&f, sent, received, r)
	warnLevels(&f, received, r.Options, r)
	f.Summary.Fairness = fairness(&f)
	if d := f.Summary.DurationNs; d > 0 {
		f.Summary.PacketsPerSecond = float64(f.Summary.PacketsReceived) * 1e9 / float64(d)
	}
	if sent != nil && f.Summary.PacketsSent == 0 {
		warnDisagreement(&f, r)
	}
	return f
}

// rate fills goodput and confidence from the receiver's samples. The nominal
// end cuts off the drain of queues after the sender stopped, which runs at the
// path's rate but with fewer and fewer streams.
func rate(f *measure.Flow, received *measure.FlowEnd, o measure.Options) {
	if len(received.Samples) == 0 {
		rateOfWhole(f, received)
		return
	}
	end := received.DurationNs
	if o.Duration > 0 && int64(o.Duration) < end {
		end = int64(o.Duration)
	}
	steady := stats.SteadyState(received.Samples, end)
	f.Summary.SetConfidence(steady.Confidence, steady.Reason)
	if steady.Bytes == 0 && f.Summary.ReceivedBytes > 0 {
		// A test that is shorter than a sample, or whose bytes came after its end.
		steady.StartNs, steady.EndNs, steady.Bytes = 0, received.DurationNs, f.Summary.ReceivedBytes
	}
	whole := o.Bytes > 0 || o.Omit > 0
	if whole || steady.EndNs <= steady.StartNs {
		// The person chose the part that counts.
		steady.StartNs, steady.EndNs, steady.Bytes = window(received.Samples, end)
		if o.Bytes > 0 || steady.EndNs <= steady.StartNs {
			steady.StartNs, steady.EndNs, steady.Bytes = 0, received.DurationNs, f.Summary.ReceivedBytes
		}
	}
	f.Summary.SteadyStartNs = measure.Duration(steady.StartNs)
	f.Summary.GoodputBps = steady.Bps()
}

// warnLate replaces the figures of a receiver that read everything in less than half of the time for
// which the sender sent: its clock begins with its first read, which a host without a free processor
// delays. The duration that was asked for is that of the flow then.
func warnLate(f *measure.Flow, sent, received *measure.FlowEnd, r *measure.Result) {
	s, d := &f.Summary, r.Options.Duration
	if sent == nil || !engine.Timed(r.Options) || 2*sent.DurationNs < int64(d) || 2*received.DurationNs >= sent.DurationNs ||
		float64(s.ReceivedBytes) < float64(s.SentBytes)*(1-disagreement) {
		return
	}
	r.Findings.Add(finding.ReceiverBeganLate, measure.Where(f.Direction), measure.Figures{"counted_ns": received.DurationNs, "duration_ns": d})
	s.SetConfidence(measure.Low, r.Findings[len(r.Findings)-1])
	s.DurationNs, s.SteadyStartNs = d, 0
	s.GoodputBps = float64(s.ReceivedBytes) * 8e9 / float64(d)
}

// rateOfWhole is for a receiver that reports how much it received, and not when.
func rateOfWhole(f *measure.Flow, received *measure.FlowEnd) {
	f.Summary.SetConfidence(measure.Medium, measure.NewFinding(finding.ReceiverWithoutSamples, "", nil))
	if received.DurationNs > 0 {
		f.Summary.GoodputBps = float64(f.Summary.ReceivedBytes) * 8e9 / float64(received.DurationNs)
	}
}

// window is all samples that end by the nominal end.
func window(samples []measure.Sample, end int64) (from, to, bytes int64) {
	for i, s := range samples {
		if s.EndNs > end && i > 0 {
			break
		}
		if i == 0 {
			from = s.StartNs
		}
		to = s.EndNs
		bytes += s.ReceivedBytes
	}
	return from, to, bytes
}

func mergeStreams(sent, received *measure.FlowEnd) []measure.Stream {
	if received == nil {
		return sent.Streams
	}
	out := received.Streams
	if sent == nil {
		return out
	}
	for i := range out {
		if i >= len(sent.Streams) {
			break
		}
		s := sent.Streams[i]
		out[i].SentBytes, out[i].TCP = s.SentBytes, s.TCP
		if out[i].Packets != nil && s.Packets != nil {
			out[i].Packets.Sent = s.Packets.Sent
			out[i].Packets.Lost = max(0, s.Packets.Sent-out[i].Packets.Received)
		}
		for j := range out[i].Samples {
			if j < len(s.Samples) {
				out[i].Samples[j].SentBytes = s.Samples[j].SentBytes
				out[i].Samples[j].TCP = s.Samples[j].TCP
			}
		}
	}
	return out
}

func countRetransmits(f *measure.Flow) {
	var n int64
	for _, s := range f.Streams {
		if s.TCP == nil {
			return
		}
		n += s.TCP.Retransmits
	}
	f.Summary.Retransmits = &n
}

func countPackets(f *measure.Flow, both bool) {
	var jitter float64
	var drops int64
	var streams, known int
	for _, s := range f.Streams {
		if s.Packets == nil {
			return
		}
		streams++
		f.Summary.PacketsSent += s.Packets.Sent
		f.Summary.PacketsReceived += s.Packets.Received
		f.Summary.PacketsLost += s.Packets.Lost
		f.Summary.PacketsReordered += s.Packets.Reordered
		f.Summary.PacketsDuplicated += s.Packets.Duplicated
		if n := s.Packets.SocketDrops; n != nil {
			drops += *n
			known++
		}
		jitter += s.Packets.JitterNs
	}
	if streams == 0 || !both {
		return
	}
	if known == streams {
		f.Summary.SocketDrops = &drops
	}
	f.Summary.JitterNs = new(jitter / float64(streams))
	if f.Summary.PacketsSent > 0 {
		f.Summary.LossRatio = new(float64(f.Summary.PacketsLost) / float64(f.Summary.PacketsSent))
	}
}

func warnDisagreement(f *measure.Flow, r *measure.Result) {
	sent, got := float64(f.Summary.SentBytes), float64(f.Summary.ReceivedBytes)
	if sent > 0 && math.Abs(sent-got)/sent > disagreement {
		r.Findings.Add(finding.ReceiverDisagrees, measure.Where(f.Direction), measure.Figures{"sent_bytes": sent, "received_bytes": got})
	}
}

// total adds the directions up; what does not add (confidence, duration,
// jitter, fairness) takes the worse.
func total(flows []measure.Flow) measure.Summary {
	sum := flows[0].Summary
	for _, f := range flows[1:] {
		s := f.Summary
		sum.GoodputBps += s.GoodputBps
		sum.SentBytes += s.SentBytes
		sum.ReceivedBytes += s.ReceivedBytes
		sum.PacketsSent += s.PacketsSent
		sum.PacketsReceived += s.PacketsReceived
		sum.PacketsLost += s.PacketsLost
		sum.PacketsReordered += s.PacketsReordered
		sum.PacketsDuplicated += s.PacketsDuplicated
		sum.PacketsPerSecond += s.PacketsPerSecond
		sum.SocketDrops = addCounts(sum.SocketDrops, s.SocketDrops)
		sum.Retransmits = addCounts(sum.Retransmits, s.Retransmits)
		sum.JitterNs = larger(sum.JitterNs, s.JitterNs)
		sum.Fairness = lessFair(sum.Fairness, s.Fairness)
		sum.DurationNs = max(sum.DurationNs, s.DurationNs)
		sum.SteadyStartNs = max(sum.SteadyStartNs, s.SteadyStartNs)
		if trust(s.Confidence) < trust(sum.Confidence) {
			why, _ := s.Why()
			why.Where = measure.Where(f.Direction)
			sum.SetConfidence(s.Confidence, why)
		}
	}
	if sum.LossRatio != nil && sum.PacketsSent > 0 {
		sum.LossRatio = new(float64(sum.PacketsLost) / float64(sum.PacketsSent))
	}
	return sum
}

func addCounts(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

func larger(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(max(*a, *b))
}

func trust(c measure.Confidence) int {
	switch c {
	case measure.High:
		return 2
	case measure.Medium:
		return 1
	}
	return 0
}

// cost adds up what both ends spent on 1e9 payload bytes. One end alone says
// little: what one saves the other may spend.
func cost(r *measure.Result) {
	var sum float64
	for _, h := range []*measure.Host{r.Hosts.Client, r.Hosts.Server} {
		if h == nil || h.Counters == nil || h.Counters.CPUSecPerGB == 0 {
			return
		}
		sum += h.Counters.CPUSecPerGB
	}
	r.Summary.CPUSecPerGB = &sum
}

// fairness returns how evenly the streams of a flow shared its goodput, or nil if the flow has
// one stream or no byte was counted.
func fairness(f *measure.Flow) *measure.Fairness {
	shares := f.StreamBps()
	if len(shares) < 2 {
		return nil
	}
	index := stats.Jain(shares)
	if math.IsNaN(index) {
		return nil
	}
	low, high := stats.Range(shares)
	return &measure.Fairness{JainIndex: index, MinBps: low, MedianBps: stats.Median(shares), MaxBps: high}
}

// lessFair is that of two directions whose streams shared it less evenly.
func lessFair(a, b *measure.Fairness) *measure.Fairness {
	if a == nil || b != nil && b.JainIndex < a.JainIndex {
		return b
	}
	return a
}
