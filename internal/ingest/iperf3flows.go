package ingest

import (
	"cmp"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// iperf3Flows makes one flow per direction from the document's end and its intervals.
func iperf3Flows(r *measure.Result, d *iperf3Doc) {
	e, main := &d.End, r.Options.Direction.Flows()[0]
	var flows []measure.Flow
	add := func(dir measure.Direction, sent, received, sum *iperf3Sum) {
		if sent == nil && received == nil && sum == nil {
			return
		}
		flows = append(flows, iperf3Flow(r, d, dir, sent, received, sum))
	}
	add(main, e.Sent, e.Received, e.Sum)
	if r.Options.Direction == measure.Bidirectional {
		add(measure.Reverse, e.OtherSent, e.OtherReceived, e.OtherSum)
	}
	if len(flows) > 0 {
		setFlows(r, flows...)
	}
}

func iperf3Flow(r *measure.Result, d *iperf3Doc, dir measure.Direction, sent, received, sum *iperf3Sum) measure.Flow {
	f := emptyFlow(dir)
	s := &f.Summary
	if sent != nil && sent.Bytes > 0 {
		s.SentBytes = int64(sent.Bytes)
		s.DurationNs = seconds(sent.Seconds)
	}
	receives := (dir == measure.Reverse) != d.atServer()
	told := receives || !d.atServer() && d.Error == "" && !d.open // a client has the server's count once the test has ended
	counted := int64(0)                                           // what the goodput counts
	switch {
	case received != nil && (received.Bytes > 0 || s.SentBytes == 0 || told):
		s.GoodputBps, s.ReceivedBytes, s.DurationNs = received.Bps, int64(received.Bytes), seconds(received.Seconds)
		counted = s.ReceivedBytes
	case sent != nil:
		s.GoodputBps, counted = sent.Bps, s.SentBytes
		missing(r, finding.GoodputOfSender)
	}
	if s.GoodputBps == 0 && counted > 0 && s.DurationNs > 0 { // it was no number
		s.GoodputBps = float64(counted) * 8e9 / float64(s.DurationNs)
		missing(r, finding.GoodputComputed)
	}
	if sent != nil && sent.Retransmits != nil {
		s.Retransmits = new(int64(*sent.Retransmits))
	} else if r.Test == measure.TestTCP {
		missing(r, finding.NoRetransmits)
	}
	if r.Test == measure.TestUDP {
		iperf3Datagrams(r, s, d, dir, sent, received, sum)
	}
	if s.SentBytes == 0 {
		missing(r, finding.NoSenderCount)
	}
	iperf3Samples(r, d, &f)
	iperf3Streams(r, d, &f)
	return f
}

// iperf3Datagrams fills in loss and jitter. Versions before 3.9 have one sum, with the sender's
// bytes and the receiver's losses.
func iperf3Datagrams(r *measure.Result, s *measure.Summary, d *iperf3Doc, dir measure.Direction, sent, received, sum *iperf3Sum) {
	from := received
	if from == nil || from.Packets == nil || *from.Packets == 0 {
		from = sum
	}
	if sum != nil && sent == nil && received == nil { // before 3.9
		s.SentBytes, s.DurationNs = int64(sum.Bytes), seconds(sum.Seconds)
		s.GoodputBps = sum.Bps
		missing(r, finding.GoodputOfSender)
	}
	if from == nil || from.Packets == nil || from == sum && d.sumOfSender(r, sum, received) {
		missing(r, finding.NoLoss)
		return
	}
	if from.Jitter != nil {
		s.JitterNs = nsOf(*from.Jitter)
	}
	packets, lost := *from.Packets, 0.0
	if from.Lost != nil {
		lost = max(*from.Lost, 0) // late datagrams make it negative
	}
	most := packets
	if n := d.datagramsSent(r, dir, sent, s.SentBytes); n > 0 {
		most = min(most, n)
	}
	if lost > most {
		r.Findings.Add(finding.LossImpossible, "", measure.Figures{"tool": r.Origin.Tool, "lost": lost, "sent": most})
		missing(r, finding.NoLoss)
		return
	}
	if from.OutOfOrder != nil {
		s.PacketsReordered = int64(*from.OutOfOrder)
	}
	setDatagrams(s, int64(packets), int64(lost))
}

// datagramsSent is how many datagrams the sender sent by its own counts, with those of an omitted start, or
// 0 if the document has none. A receiver computes its number from the sequence numbers that it saw.
func (d *iperf3Doc) datagramsSent(r *measure.Result, dir measure.Direction, sent *iperf3Sum, bytes int64) float64 {
	n := 0.0
	for i := range d.Intervals {
		for _, v := range []*iperf3Sum{d.Intervals[i].Sum, d.Intervals[i].Other} {
			if v == nil || v.Packets == nil {
				continue
			}
			if of, sender := d.direction(r, v); sender && of == dir {
				n += *v.Packets
			}
		}
	}
	if sent != nil && sent.Packets != nil {
		n = max(n, *sent.Packets)
	}
	if block := float64(r.Options.Size); n > 0 && block > 0 {
		n = max(n, float64(bytes)/block)
	}
	return n
}

// sumOfSender reports whether the losses of a sum are those of a sender, which knows of none and
// writes 0. A client before 3.9, whose document has no sum of the receiver, puts the server's there.
func (d *iperf3Doc) sumOfSender(r *measure.Result, sum, received *iperf3Sum) bool {
	_, sender := d.direction(r, sum)
	return sender && (received != nil || d.atServer())
}

// direction is the direction of a sum. Versions before 3.7 do not mark sums and have one
// direction only.
func (d *iperf3Doc) direction(r *measure.Result, sum *iperf3Sum) (dir measure.Direction, sender bool) {
	if sum.Sender == nil {
		dir = r.Options.Direction.Flows()[0]
		return dir, (dir == measure.Forward) != d.atServer()
	}
	if *sum.Sender != d.atServer() {
		return measure.Forward, *sum.Sender
	}
	return measure.Reverse, *sum.Sender
}

// iperf3Samples reads the intervals of a direction: the receiver's, which a client has of a
// reverse test or from the server's output, otherwise the sender's.
func iperf3Samples(r *measure.Result, d *iperf3Doc, f *measure.Flow) {
	sending := false
	collect := func(d *iperf3Doc) (out []measure.Sample) {
		from := -1.0
		for i := range d.Intervals {
			for _, sum := range []*iperf3Sum{d.Intervals[i].Sum, d.Intervals[i].Other} {
				if sum == nil || sum.Omitted || sum.End <= sum.Start {
					continue
				}
				dir, sender := d.direction(r, sum)
				if dir != f.Direction {
					continue
				}
				if from < 0 {
					from = sum.Start
				}
				sending = sender
				out = append(out, iperf3Sample(sum, from, sender))
			}
		}
		return out
	}
	f.Samples = append(f.Samples, collect(d)...)
	if sending && d.Server != nil {
		d.Server.Start.ConnectingTo = nil
		if theirs := collect(d.Server); len(theirs) > 0 && !sending {
			f.Samples = theirs
		} else {
			sending = true
		}
	}
	switch {
	case len(f.Samples) == 0:
		missing(r, finding.NoIntervals)
	case sending:
		missing(r, finding.IntervalsOfSender)
	}
}

func iperf3Sample(sum *iperf3Sum, from float64, sender bool) measure.Sample {
	out := measure.Sample{StartNs: int64(max(sum.Start-from, 0) * 1e9), EndNs: int64(max(sum.End-from, 0) * 1e9)}
	if sender {
		out.SentBytes = int64(sum.Bytes)
		return out
	}
	out.ReceivedBytes = int64(sum.Bytes)
	if sum.Packets != nil {
		out.Packets = int64(*sum.Packets)
		if sum.Lost != nil && *sum.Lost <= *sum.Packets {
			out.Lost = int64(max(*sum.Lost, 0))
			out.Packets -= out.Lost
		}
	}
	if sum.Jitter != nil {
		out.JitterNs = *sum.Jitter * 1e6
	}
	return out
}

// iperf3Streams reads the document's result of each stream.
func iperf3Streams(r *measure.Result, d *iperf3Doc, f *measure.Flow) {
	for _, v := range d.End.Streams {
		known := cmp.Or(v.Sender, v.UDP, v.Receiver)
		if known == nil || len(f.Streams) >= 1<<12 {
			continue
		}
		if dir, _ := d.direction(r, known); dir != f.Direction {
			continue
		}
		out := measure.Stream{Index: len(f.Streams)}
		switch {
		case v.UDP != nil:
			out.SentBytes = int64(v.UDP.Bytes)
		case v.Sender != nil:
			out.SentBytes = int64(v.Sender.Bytes)
			out.TCP = iperf3Info(v.Sender, d.End.Congestion)
		}
		if v.Receiver != nil {
			out.ReceivedBytes = int64(v.Receiver.Bytes)
		}
		f.Streams = append(f.Streams, out)
	}
	if len(f.Streams) < r.Options.Streams {
		f.Streams = []measure.Stream{} // an incomplete list would look complete
		missing(r, finding.NoStreams)
	}
}

func iperf3Info(s *iperf3Sum, congestion string) *measure.TCPInfo {
	if s.Retransmits == nil {
		return nil
	}
	return &measure.TCPInfo{
		Congestion: short(congestion), Retransmits: int64(*s.Retransmits),
		RTTNs: int64(s.MeanRTT * 1e3), MinRTTNs: int64(s.MinRTT * 1e3),
	}
}
