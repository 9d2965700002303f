package verdict

import (
	"fmt"
	"math"

	"soku/internal/measure"
)

// stream is one stream at both ends: the prefix of its columns.
type stream struct {
	prefix           string
	sender, receiver series
}

func (s stream) key(name string) string { return s.prefix + name }

// tcp are the figures of the streams of a TCP flow.
func (f *Figures) tcp(r *measure.Result, flow *measure.Flow, e ends) {
	if flow == nil {
		return
	}
	f.finalTCP(r, flow)
	var streams []stream
	var acked, sent, counted, whole float64 // bytes
	for i := range flow.Streams {
		s := stream{fmt.Sprintf("%s.%d.", flow.Direction, i), e.sender, e.receiver}
		whole += float64(flow.Streams[i].ReceivedBytes)
		if e.sender.columns[s.key("rtt_ns")] != nil {
			streams = append(streams, s)
			a, _ := e.sender.sum(s.key("acked_bytes"))
			b, _ := e.sender.sum(s.key("sent_bytes"))
			acked, sent, counted = acked+a, sent+b, counted+float64(flow.Streams[i].ReceivedBytes)
		}
	}
	if len(streams) == 0 {
		return
	}
	scale := 1.0 // only the first streams have columns
	if counted > 0 {
		scale = whole / counted
	}
	f.waiting(streams)
	f.limited(streams)
	f.losses(streams, e.sender, scale)
	f.timeouts(streams, e.sender, len(flow.Streams))
	f.roundTrips(streams, e.sender)
	f.together(streams, e.sender)
	f.other(r, flow, e, sent*scale, acked*scale, whole, tcpOverhead)
}

// finalTCP are the figures of what the sender's kernel knew at the end.
func (f *Figures) finalTCP(r *measure.Result, flow *measure.Flow) {
	moved := 0.0
	slow, resent, smallest := true, int64(0), int64(math.MaxInt64)
	bbr, known, windows := false, len(flow.Streams) > 0, true
	var bytes []float64
	for _, s := range flow.Streams {
		if s.ReceivedBytes > 0 {
			moved++
		}
		bytes = append(bytes, float64(s.ReceivedBytes))
		if s.TCP == nil {
			known = false
			continue
		}
		windows = windows && s.TCP.CwndSegments > 0 // another tool reports retransmits alone
		slow = slow && (s.TCP.SsthreshSegs == 0 || s.TCP.SsthreshSegs > 1e6)
		resent += s.TCP.Retransmits
		if s.TCP.MinRTTNs > 0 {
			smallest = min(smallest, s.TCP.MinRTTNs)
		}
		bbr = bbr || s.TCP.Congestion == "bbr"
	}
	f.set(Streams, moved)
	f.set(FixedAmount, count(r.Options.Bytes > 0))
	f.set(DurationNs, float64(flow.Summary.DurationNs))
	if j := jain(bytes); moved > 1 && r.Test == measure.TestTCP { // streams of a copy take whole files
		f.set(Jain, j)
	}
	if !known {
		return
	}
	if windows {
		f.set(SlowStart, count(slow))
	}
	f.set(Retransmits, float64(resent))
	f.set(BBR, count(bbr))
	if smallest < math.MaxInt64 {
		f.set(DurationRTTs, float64(flow.Summary.DurationNs)/float64(smallest))
	}
}

// jain is Jain's index of fairness (RFC 5166, section 2.3); not a number if all are zero.
func jain(v []float64) float64 {
	sum, of := 0.0, 0.0
	for _, x := range v {
		sum += x
		of += x * x
	}
	return sum * sum / of / float64(len(v))
}

// waiting are the figures of where bytes wait: sockets, the flight, the windows. The median is
// over all streams and intervals after the start.
func (f *Figures) waiting(streams []stream) {
	for _, c := range []struct {
		to      Key
		key, by string
		atFar   bool
	}{
		{WindowUsed, "unacked_bytes", "snd_wnd_bytes", false},
		{CwndUsed, "unacked_bytes", "cwnd_bytes", false},
		{UnsentTimes, "notsent_bytes", "unacked_bytes", false},
		{SendBufferUsed, "send_queue_bytes", "send_buffer_bytes", false},
		{ReceiveBufferUsed, "receive_queue_bytes", "receive_buffer_bytes", true},
	} {
		var all []float64
		where := measure.Where("")
		for _, s := range streams {
			at := s.sender
			if c.atFar {
				at = s.receiver
			}
			where = at.where
			if at.columns[s.key(c.by)] != nil {
				all = append(all, at.late().quotients(s.key(c.key), s.key(c.by))...)
			}
		}
		f.setAt(c.to, median(all), where, "")
	}
}

// limited are the kernel's chronographs (RFC 4898 calls them SndLimTime), which it has from
// 4.10 on. That of busy time moves in any transfer.
func (f *Figures) limited(streams []stream) {
	for to, key := range map[Key]string{RwndLimited: "rwnd_limited_ns", SndbufLimited: "sndbuf_limited_ns"} {
		sum, span := 0.0, 0.0
		for _, s := range streams {
			if s.sender.columns[s.key("busy_ns")] == nil {
				continue
			}
			n, _ := s.sender.sum(s.key(key))
			sum += n
			span += s.sender.span()
		}
		if span > 0 {
			f.setAt(to, sum/span, streams[0].sender.where, "")
		}
	}
}

// losses are the figures of what was sent again. scale is how much more all streams moved than
// those with columns: the kernel counts the recoveries of all.
func (f *Figures) losses(streams []stream, sender series, scale float64) {
	var resent, needless, out, acked float64
	for _, s := range streams {
		for name, to := range map[string]*float64{"retransmits": &resent, "dsacks": &needless, "segments_out": &out, "acked_bytes": &acked} {
			n, _ := sender.sum(s.key(name))
			*to += n
		}
	}
	if out == 0 { // Linux before 4.6 does not count them
		return
	}
	lost := max(resent-needless, 0)
	f.setAt(LossRatio, lost/out, sender.where, "")
	f.setAt(Acknowledged, acked, sender.where, "")
	f.setAt(LossVariance, lossVariance(streams, sender.late()), sender.where, "")
	if n, known := sender.sum("tcp.recoveries"); known {
		f.setAt(Recoveries, n, sender.where, "")
		f.setAt(LossesPerRecovery, lost*scale/max(n, 1), sender.where, "")
	} else if lost == 0 {
		f.setAt(Recoveries, 0, sender.where, "")
		f.setAt(LossesPerRecovery, 0, sender.where, "")
	}
}

// lossVariance compares how the losses of three intervals vary with what independent ones would do
// (the index of dispersion of a binomial distribution). It is not a number where too little is lost.
func lossVariance(streams []stream, s series) float64 {
	var lost, out []float64
	for _, x := range streams {
		for name, sign := range map[string]float64{"retransmits": 1, "dsacks": -1, "segments_out": 0} {
			column, _ := s.column(x.key(name))
			if lost == nil {
				lost, out = make([]float64, len(column)/3), make([]float64, len(column)/3)
			}
			for i, v := range column[:len(lost)*3] {
				if lost[i/3] += sign * float64(max(v, 0)); sign == 0 {
					out[i/3] += float64(max(v, 0))
				}
			}
		}
	}
	share := mean(lost) / mean(out)
	if len(lost) < 6 || !(share > 0 && share < 1) || mean(lost) < 5 {
		return math.NaN()
	}
	sum := 0.0
	for i := range lost {
		sum += (lost[i] - share*out[i]) * (lost[i] - share*out[i]) / (share * (1 - share) * max(out[i], 1))
	}
	return sum / float64(len(lost)-1)
}

// timeouts are the figures of full segments that do not arrive. Linux counts the time-outs of a
// connection from 6.7 on, and always those of the network namespace.
func (f *Figures) timeouts(streams []stream, sender series, all int) {
	own, smallest := 0.0, math.Inf(1)
	for _, s := range streams {
		n, _ := sender.sum(s.key("timeouts"))
		own += n
		mss, mtu := sender.gauge(s.key("mss_bytes")), sender.gauge(s.key("pmtu_bytes"))
		if len(mss) > 0 && len(mtu) > 0 {
			// A gateway that lowers the segment size of new connections makes no segment smaller.
			smallest = min(smallest, least(mss)/max(min(quantile(mss, 1), least(mtu)-52), 1))
		}
	}
	if !math.IsInf(smallest, 0) {
		f.setAt(SegmentRatio, smallest, sender.where, "")
	}
	if n, known := sender.sum("tcp.timeouts"); known || own > 0 {
		f.setAt(Timeouts, max(own/float64(len(streams)), n/float64(all)), sender.where, "")
	}
}

func (f *Figures) roundTrips(streams []stream, sender series) {
	var smallest, late, largest, soonest []float64
	first := sender.between(sender.at[sender.from], sender.at[sender.from]+1e9)
	var medians []float64
	for _, s := range streams {
		smallest = append(smallest, sender.gauge(s.key("min_rtt_ns"))...)
		late = append(late, sender.late().gauge(s.key("rtt_ns"))...)
		largest = append(largest, first.gauge(s.key("rtt_ns"))...)
		soonest = append(soonest, first.gauge(s.key("min_rtt_ns"))...)
		if own := sender.late().gauge(s.key("rtt_ns")); len(own) > 0 && knowsItsQueue(s, sender.late()) {
			medians = append(medians, median(own))
		}
	}
	if len(smallest) == 0 || len(late) == 0 {
		return
	}
	low, middle := least(smallest), median(late)
	f.setAt(RTTTimes, middle/low, sender.where, "")
	f.setAt(QueueNs, middle-low, sender.where, "")
	if len(largest) > 0 && len(soonest) > 0 {
		f.setAt(RTTGrowth, 1-least(soonest)/quantile(largest, 1), sender.where, "")
	}
	f.lossBurst(streams, sender, middle)
	if control, known := f.Value(ControlQueue); known && middle > low {
		f.set(BesideRatio, max(control, 0)/(middle-low))
	}
	if len(medians) > 1 {
		f.setAt(RTTSpread, (quantile(medians, 1)-least(medians))/mean(medians), sender.where, "")
		f.setAt(RTTAlike, alike(streams, sender.late()), sender.where, "")
	}
}

// lossBurst holds the losses of a recovery against chance. rtt is the round trip with load, ns. A sender
// that does not slow down for losses, such as bbr, loses several of the packets of a round trip by chance.
func (f *Figures) lossBurst(streams []stream, sender series, rtt float64) {
	burst, known := f.Value(LossesPerRecovery)
	ratio, both := f.Value(LossRatio)
	segments := 0.0
	for _, s := range streams {
		n, _ := sender.sum(s.key("acked_bytes"))
		if mss := sender.gauge(s.key("mss_bytes")); len(mss) > 0 {
			segments += n / median(mss)
		}
	}
	if known && both && segments > 0 && sender.span() > 0 {
		window := segments / float64(len(streams)) * rtt / sender.span()
		f.setAt(LossBurst, burst/(1+ratio*window), sender.where, "")
	}
}

// fewSegments is a window in which a stream has so few packets that its smoothed round trip is
// that of some of them, of a while ago: of 32 streams in one queue of 62 Mbit/s, those of 1 to 7
// segments differed by 13 to 200 %, those of 8 and more by 1 to 9 %.
const fewSegments = 8

// knowsItsQueue reports whether a stream has packets enough for its round trip to be that of
// the queue in which it waits. Streams of an unknown window are taken to.
func knowsItsQueue(x stream, s series) bool {
	window, segment := s.gauge(x.key("cwnd_bytes")), s.gauge(x.key("mss_bytes"))
	return len(window) == 0 || len(segment) == 0 || median(window) >= fewSegments*median(segment)
}

// alike is how the round trips of streams move together: of the correlations of all pairs the
// one that a tenth is below. Streams in one queue wait the same. It is not a number if the round
// trips of some stream are level, so that only noise is left.
func alike(streams []stream, s series) float64 {
	var moving [][]float64
	for _, x := range streams {
		column, _ := s.column(x.key("rtt_ns"))
		v := make([]float64, len(column))
		for i := range column {
			v[i] = float64(max(column[i], 0))
		}
		if middle := median(v); len(v) < 10 || quantile(v, 0.9)-quantile(v, 0.1) < 0.05*middle {
			return math.NaN()
		}
		moving = append(moving, v)
	}
	var pairs []float64
	for i := range moving {
		for j := range i {
			pairs = append(pairs, correlation(moving[i], moving[j]))
		}
	}
	return quantile(pairs, 0.1)
}

// together compares how the streams vary with how their sum does.
func (f *Figures) together(streams []stream, sender series) {
	late := sender.late()
	if len(streams) < 2 || late.to-late.from < 10 {
		return
	}
	sum := make([]float64, late.to-late.from-1) // the last interval is not whole
	apart := 0.0
	for _, s := range streams {
		column, _ := late.column(s.key("acked_bytes"))
		v := make([]float64, len(sum))
		for i := range v {
			v[i] = float64(max(column[i], 0))
			sum[i] += v[i]
		}
		apart += variance(v)
	}
	if apart > 0 {
		f.setAt(TogetherTimes, variance(sum)/apart, sender.where, "")
	}
}
