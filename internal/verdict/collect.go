package verdict

import (
	"strings"

	"soku/internal/measure"
)

// ends are the series of the two ends of a direction.
type ends struct {
	sender, receiver series
	arrival          series // of the receiver, and not cut
	// control is the end whose control connection tells more: the one that sent more on it.
	control series
}

// FiguresOf are the figures of one direction of a result.
func FiguresOf(r *measure.Result, direction measure.Direction) *Figures {
	f := &Figures{readings: map[Key]reading{}, queueless: queueless(r.Hosts.Client) && queueless(r.Hosts.Server)}
	client, server := seriesOf(r.Hosts.Client, measure.AtClient), seriesOf(r.Hosts.Server, measure.AtServer)
	e := ends{sender: client, receiver: server}
	receiving := r.Hosts.Server
	if direction == measure.Reverse {
		e.sender, e.receiver = server, client
		receiving = r.Hosts.Client
	}
	if r.Copy != nil && r.Hosts.Server == nil {
		e.receiver, receiving = client, r.Hosts.Client // a local copy has one process
	}
	flow := flowOf(r, direction)
	e.arrival = e.receiver
	e.cut(r, direction)
	e.control = client
	if distinctValues(server.gauge("control.rtt_ns")) > distinctValues(client.gauge("control.rtt_ns")) {
		e.control = server
	}
	e.control = e.control.between(e.sender.bounds())
	f.hosts(e, receiving)
	f.control(e.control)
	f.asked(r, flow)
	switch r.Test {
	case measure.TestConnect:
		f.connect(r, e)
	case measure.TestCopy:
		f.copy(r)
		if flow := copyFlow(r, direction, e.sender); flow != nil {
			f.goodput(flow, r.Options)
			delete(f.readings, GoodputPeak) // streams of a copy pause for files and then catch up
			f.tcp(r, flow, e)
		}
	case measure.TestUDP:
		f.goodput(flow, r.Options)
		f.udp(r, flow, e)
	default:
		f.goodput(flow, r.Options)
		f.tcp(r, flow, e)
	}
	return f
}

// queueless reports whether a host passes its packets to itself, without a queueing discipline.
func queueless(h *measure.Host) bool {
	return h != nil && isLoopback(h.Facts.Interface) && h.Facts.Qdisc == "noqueue"
}

func flowOf(r *measure.Result, direction measure.Direction) *measure.Flow {
	for i := range r.Flows {
		if r.Flows[i].Direction == direction {
			return &r.Flows[i]
		}
	}
	return nil
}

// cut limits both series to the time in which the test moved bytes, as the sender saw it: the
// ends start within half a round trip of each other. Of a copy whose stages were measured apart
// that is the last one, the whole copy.
func (e *ends) cut(r *measure.Result, direction measure.Direction) {
	first, last := -1, -1
	if r.Test == measure.TestTCP || r.Test == measure.TestCopy {
		for _, key := range e.sender.withPrefix(string(direction)+".", ".segments_out") {
			for i, v := range e.sender.columns[key] {
				if v > 0 {
					last = max(last, i)
					if first < 0 || i < first {
						first = i
					}
				}
			}
		}
	}
	from, to := int64(0), int64(1<<62)
	if first >= 0 {
		from, to = e.sender.at[first], e.sender.at[last+1]
	}
	if stage := wholeCopy(r); stage != nil && first >= 0 {
		from = max(from, to-stage.DurationNs)
	}
	if d := int64(r.Options.Duration); d > 0 {
		to = min(to, d+int64(r.Options.Omit)) // what queues held arrives after that
	}
	e.sender, e.receiver = e.sender.between(from, to), e.receiver.between(from, to)
}

// bounds are the first and the last moment; all of time for an empty series.
func (s series) bounds() (from, to int64) {
	if s.empty() {
		return 0, 1 << 62
	}
	return s.at[s.from], s.at[s.to]
}

func distinctValues(v []float64) int {
	seen := map[float64]bool{}
	for _, x := range v {
		seen[x] = true
	}
	return len(seen)
}

// hosts are the figures of processors and drivers.
func (f *Figures) hosts(e ends, receiving *measure.Host) {
	f.processors(e.sender, SenderThread, SenderRun, SenderThrottled, SenderSoftirq)
	f.processors(e.receiver, ReceiverThread, ReceiverRun, ReceiverThrottled, ReceiverSoftirq)
	if s, known := f.Value(SenderThread); known {
		if r, known := f.Value(ReceiverThread); known {
			f.set(ThreadLead, s-r)
		}
	}
	if receiving != nil && receiving.Counters != nil {
		f.setAt(ReceiverShared, count(receiving.Counters.Shared), e.receiver.where, "")
	}
	f.allowance(e.sender)
	f.allowance(e.receiver)
}

func (f *Figures) processors(s series, thread, run, throttled, softirq Key) {
	busiest := s.shares("thread.busiest_ns")
	if len(busiest) == 0 {
		return
	}
	f.setAt(thread, median(busiest), s.where, "")
	f.setAt(run, median(s.shares("thread.busiest_run_ns")), s.where, "")
	f.setAt(throttled, 0, s.where, "")
	if periods, known := s.sum("cgroup.periods"); known && periods > 0 {
		n, _ := s.sum("cgroup.throttled_periods")
		f.setAt(throttled, n/periods, s.where, "")
	}
	most, core := -1.0, ""
	for _, key := range s.withPrefix("cpu", ".softirq_ns") {
		if share := median(s.shares(key)); share > most {
			most, core = share, strings.TrimSuffix(key, ".softirq_ns")
		}
	}
	if core != "" {
		f.setAt(softirq, most, s.where, core)
	}
}

// allowance is what the driver counts as held back by the cloud: the largest counter of
// both hosts.
func (f *Figures) allowance(s series) {
	packets := 0.0
	for _, key := range []string{"interface.sent_packets", "interface.received_packets"} {
		n, _ := s.sum(key)
		packets += n
	}
	for _, key := range s.withPrefix("driver.", "_allowance_exceeded") {
		n, _ := s.sum(key)
		if old, known := f.Value(AllowanceRatio); packets > 0 && (!known || n/packets > old) {
			f.setAt(AllowanceRatio, min(n/packets, 1), s.where, strings.TrimPrefix(key, "driver."))
		}
	}
}

// control collects the figures of the control connection: a flow on the same path as the load.
func (f *Figures) control(s series) {
	smallest, samples := s.gauge("control.min_rtt_ns"), roundTripsOf(s.gauge("control.rtt_ns"))
	if len(samples) > 0 && s.span() > mostApart*float64(s.to-s.from) {
		samples = s.late().gauge("control.rtt_ns") // of several round trips, and what was before the load is long past
	}
	if len(samples) > 0 && len(smallest) > 0 {
		low := least(smallest)
		// In a full queue every packet waits. One that was lost is late for its own reasons.
		quick := max(quantile(samples, 0.25), low)
		f.setAt(ControlRTTTimes, quick/low, s.where, "")
		f.setAt(ControlQueue, quick-low, s.where, "")
		f.setAt(ControlRTTs, float64(len(samples)), s.where, "")
	}
	if n, known := s.sum("control.retransmits"); known {
		f.setAt(ControlResent, n, s.where, "")
	}
}

// mostApart is how far apart readings may be, in ns, to have at most one round trip of the
// control connection between two. Those of trials of more than two minutes are further.
const mostApart = 350e6

// roundTripsOf are the round trips behind a smoothed one. A connection that sends little moves its
// smoothed round trip by an eighth of the difference at each (RFC 6298), so what it had before
// the load stays in it for seconds. One that never moves had no round trips.
func roundTripsOf(smoothed []float64) (out []float64) {
	for i := 1; i < len(smoothed); i++ {
		if smoothed[i] != smoothed[i-1] {
			out = append(out, max(smoothed[i-1]+8*(smoothed[i]-smoothed[i-1]), 0))
		}
	}
	return out
}

func (f *Figures) asked(r *measure.Result, flow *measure.Flow) {
	switch {
	case r.Test == measure.TestConnect && r.Options.RequestRate > 0:
		f.set(AskedRatio, r.Summary.ConnectionsPerSecond/float64(r.Options.RequestRate))
	case flow != nil && r.Options.Rate > 0 && flow.Summary.GoodputBps > 0:
		f.set(AskedRatio, flow.Summary.GoodputBps/float64(r.Options.Rate))
	}
}

// Frames are longer than their payload: by headers of Ethernet, IPv4 and TCP with time stamps
// around 1448 bytes, or of Ethernet, IPv4 and UDP around a datagram.
const tcpOverhead = 66.0 / 1448

func udpOverhead(o measure.Options) float64 { return 42 / float64(max(o.Size, 1)) }

// background is what control connections and the like may move unnoticed, in bytes per second.
const background = 25e3

// other is the share of the interface's bytes that is not the test's, of the end where it is
// larger. sent and received are the payload bytes of the flow within the series, and arrived all of
// it. At the receiver the share of the whole trial counts where it is smaller: readings of a busy
// host come late, and of many streams what the first ones received is taken for all.
func (f *Figures) other(r *measure.Result, flow *measure.Flow, e ends, sent, received, arrived, overhead float64) {
	acknowledgements := 0.0 // of the flow in the other direction: at most one a segment
	for i := range r.Flows {
		if back := &r.Flows[i]; r.Test == measure.TestTCP && back.Direction != flow.Direction {
			acknowledgements = float64(back.Summary.ReceivedBytes) * tcpOverhead
		}
	}
	share := func(s series, key string, moved float64) (ratio float64, known bool) {
		total, known := s.sum(key)
		if !known || total <= 0 || moved <= 0 || s.loopback {
			return 0, false
		}
		return max(total-moved*(1+overhead)-acknowledgements-background*s.span()/1e9, 0) / total, true
	}
	if ratio, known := share(e.sender, "interface.sent_bytes", sent); known {
		f.setAt(OtherTraffic, ratio, e.sender.where, "")
	}
	ratio, known := share(e.receiver, "interface.received_bytes", received)
	if !known {
		return
	}
	if whole, known := share(e.arrival, "interface.received_bytes", arrived); known {
		ratio = min(ratio, whole)
	}
	if old, known := f.Value(OtherTraffic); !known || ratio > old {
		f.setAt(OtherTraffic, ratio, e.receiver.where, "")
	}
}

func count(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// connect are the figures of a test of connections.
func (f *Figures) connect(r *measure.Result, e ends) {
	c := r.Connect
	if c == nil {
		return
	}
	f.set(FailedConnections, float64(c.Failed))
	tried := float64(max(c.Opened+c.Failed+c.Unfinished, 1))
	resent, resentKnown := e.sender.sum("tcp.syn_retransmits")
	if resentKnown {
		f.setAt(SYNsResent, resent/tried, e.sender.where, "")
	}
	if n, known := e.receiver.sum("conntrack.dropped"); known {
		failed, _ := e.receiver.sum("conntrack.insert_failed")
		f.setAt(ConntrackDrops, (n+failed)/tried, e.receiver.where, "")
	}
	// Linux always has these counters, and a document leaves out those that did not move.
	drops, known := 0.0, !e.receiver.empty() && e.receiver.linux
	for _, key := range []string{"tcp.listen_drops", "tcp.request_queue_drops"} { // an overflow is a drop, too
		n, there := e.receiver.sum(key)
		drops, known = drops+n, known || there
	}
	if known {
		f.setAt(ListenDrops, drops/tried, e.receiver.where, "")
		if resentKnown && r.Options.RequestRate == 0 && c.DurationNs > 0 {
			f.setAt(ListenStall, min(drops, resent)*1e9/float64(c.DurationNs)/float64(max(r.Options.Streams, 1)), e.receiver.where, "")
		}
	}
}
