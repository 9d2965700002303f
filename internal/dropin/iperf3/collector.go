package iperf3

import (
	"time"

	"soku/internal/measure"
)

// collector makes intervals from the progress that the engines of this end report.
// Both directions are reported separately and emitted together. One goroutine at a time
// calls it.
type collector struct {
	role    string
	test    Test
	sockets []int // one element a stream, forward first
	emit    func(Interval)

	waiting [2][]measure.Progress // forward and reverse of a test both ways
	whole   [2]*measure.Progress  // with an interval of 0: all of the test
	last    [2]*measure.Progress  // of a client's test with a time: its last interval
	endNs   [2]int64              // of the interval before that one
	tracks  []track               // one element a stream
}

// track accumulates the intervals of a sending stream.
type track struct {
	retransmits               int64 // at the end of the last interval
	omitted                   bool  // the last interval was
	maxCwnd, maxWindow        int64
	maxRTT, minRTT, sumRTT, n int64 // microseconds
	last                      SenderState
}

func newCollector(role string, test Test, sockets []int, emit func(Interval)) *collector {
	return &collector{role: role, test: test, sockets: sockets, emit: emit, tracks: make([]track, len(sockets))}
}

// way is 0 for forward and 1 for reverse.
func way(d measure.Direction) int {
	if d == measure.Reverse {
		return 1
	}
	return 0
}

// observe takes one engine's interval.
func (c *collector) observe(p measure.Progress) {
	w := way(p.Direction)
	if !p.Omitted && !c.isLast(p) {
		c.endNs[w] = p.EndNs
	}
	switch {
	case c.test.Interval == 0:
		c.join(w, p)
	case c.isLast(p):
		c.last[w] = joined(c.last[w], p)
	default:
		c.pass(p)
	}
}

// join makes one interval of all that are not of the omitted start.
func (c *collector) join(w int, p measure.Progress) {
	c.follow(p)
	if p.Omitted {
		return
	}
	c.whole[w] = joined(c.whole[w], p)
}

// joined is one interval of two: a, which may be nil, and the next.
func joined(a *measure.Progress, next measure.Progress) *measure.Progress {
	if a == nil {
		return &next
	}
	a.EndNs = next.EndNs
	for i := range a.Samples {
		s := next.Samples[i]
		s.StartNs = a.Samples[i].StartNs
		s.SentBytes += a.Samples[i].SentBytes
		s.ReceivedBytes += a.Samples[i].ReceivedBytes
		s.Packets += a.Samples[i].Packets
		s.Lost += a.Samples[i].Lost
		a.Samples[i] = s
	}
	return a
}

// isLast reports whether p is the last interval of a client's test that ends after a time. The
// engines may report the bytes of the moment of the end as a further interval; iperf3's client
// counts them in the last one. The engines' last interval ends when the last byte moved, which may
// be long before the end of the test; other intervals end at a multiple of their length or later.
func (c *collector) isLast(p measure.Progress) bool {
	if !c.timed() || p.Omitted {
		return false
	}
	every := time.Duration(c.test.Interval * float64(time.Second))
	slack := every / 20
	begin, end := time.Duration(p.StartNs), time.Duration(p.EndNs)
	if every > 0 && end < (begin+slack).Truncate(every)+every {
		return true
	}
	return end >= time.Duration(c.test.Duration)*time.Second-slack
}

// timed reports whether the test ends after a time that this end keeps.
func (c *collector) timed() bool {
	return c.role == Client && c.test.Duration > 0 && c.test.Bytes == 0 && c.test.Blocks == 0
}

// closeLast passes the last interval of each direction on; it ends with the test, after
// this many seconds. A direction that moved nothing in its last interval has one, too.
func (c *collector) closeLast(seconds float64) {
	if !c.timed() || c.test.Interval == 0 {
		return
	}
	for _, d := range c.directions() {
		p := c.last[way(d)]
		if p == nil && seconds < float64(c.test.Duration) { // it ended before its time
			continue
		}
		if p == nil {
			p = c.still(d)
		}
		if end := int64(seconds * 1e9); end > p.StartNs {
			p.EndNs = end
			for i := range p.Samples {
				p.Samples[i].EndNs = end
			}
		}
		c.pass(*p)
	}
}

// still is an interval in which nothing moved.
func (c *collector) still(d measure.Direction) *measure.Progress {
	p := &measure.Progress{Direction: d, Role: measure.Receiver, StartNs: c.endNs[way(d)], Samples: make([]measure.Sample, c.test.Streams)}
	if d == measure.Forward {
		p.Role = measure.Sender
	}
	for i := range p.Samples {
		p.Samples[i].StartNs = p.StartNs
	}
	return p
}

// directions are those of the test.
func (c *collector) directions() []measure.Direction {
	switch {
	case c.test.Bidir:
		return []measure.Direction{measure.Forward, measure.Reverse}
	case c.test.Reverse:
		return []measure.Direction{measure.Reverse}
	}
	return []measure.Direction{measure.Forward}
}

// pass emits an interval of one direction, when the other has one, too, if there is one.
func (c *collector) pass(p measure.Progress) {
	if !c.test.Bidir {
		c.emit(c.interval(p))
		return
	}
	c.waiting[way(p.Direction)] = append(c.waiting[way(p.Direction)], p)
	c.pair()
}

// pair emits the intervals that both directions have reported. A short rest of the
// omitted start that only one direction has is emitted alone.
func (c *collector) pair() {
	for len(c.waiting[0]) > 0 && len(c.waiting[1]) > 0 {
		a, b := c.waiting[0][0], c.waiting[1][0]
		switch {
		case a.Omitted && !b.Omitted:
			c.alone(0)
		case b.Omitted && !a.Omitted:
			c.alone(1)
		default:
			c.waiting[0], c.waiting[1] = c.waiting[0][1:], c.waiting[1][1:]
			c.emit(c.interval(a, b))
		}
	}
}

// alone emits an interval of one direction; the other moved nothing meanwhile.
func (c *collector) alone(w int) {
	p := c.waiting[w][0]
	c.waiting[w] = c.waiting[w][1:]
	iv := c.interval(p)
	other := Interval{Omitted: iv.Omitted}
	for i := range c.test.Streams {
		n := (1-w)*c.test.Streams + i
		if n >= len(c.sockets) {
			break
		}
		s := StreamInterval{
			Socket: c.sockets[n], Sender: (w == 1) == (c.role == Client), Start: float64(p.StartNs) / 1e9, End: float64(p.EndNs) / 1e9,
		}
		if s.Sender && !c.test.UDP {
			s.TCP = c.tracks[n].still()
		}
		other.Streams = append(other.Streams, s)
	}
	if w == 0 {
		iv.Streams = append(iv.Streams, other.Streams...)
	} else {
		iv.Streams = append(other.Streams, iv.Streams...)
	}
	c.emit(iv)
}

// finish emits the intervals that waited for the other direction, or for the end of the
// test, which was after this many seconds.
func (c *collector) finish(seconds float64) {
	c.closeLast(seconds)
	for w := range c.waiting {
		for len(c.waiting[w]) > 0 {
			c.alone(w)
		}
	}
	var all []measure.Progress
	for _, p := range c.whole {
		if p != nil {
			all = append(all, *p)
		}
	}
	if len(all) > 0 {
		c.tracks = append([]track(nil), c.tracks...)
		for i := range c.tracks {
			c.tracks[i].retransmits = 0 // the interval has all of them
		}
		c.emit(c.interval(all...))
	}
}

// first is the index of a direction's first stream.
func (c *collector) first(d measure.Direction) int {
	if c.test.Bidir {
		return way(d) * c.test.Streams
	}
	return 0
}

// interval combines the progress of different directions.
func (c *collector) interval(all ...measure.Progress) Interval {
	iv := Interval{Omitted: all[0].Omitted}
	for _, p := range all {
		for i, s := range p.Samples {
			index := c.first(p.Direction) + i
			if index >= len(c.sockets) {
				break
			}
			si := StreamInterval{
				Socket: c.sockets[index], Sender: p.Role == measure.Sender,
				Start: float64(s.StartNs) / 1e9, End: float64(s.EndNs) / 1e9, Bytes: s.SentBytes + s.ReceivedBytes,
			}
			switch {
			case c.test.UDP && si.Sender && c.test.Block > 0:
				si.Packets = si.Bytes / c.test.Block
			case c.test.UDP:
				si.Packets, si.Lost, si.JitterMs = s.Packets+s.Lost, s.Lost, s.JitterNs/1e6
			case si.Sender && s.TCP != nil:
				si.TCP = c.tracks[index].state(*s.TCP, p.Omitted)
			case si.Sender:
				si.TCP = c.tracks[index].still()
			}
			iv.Streams = append(iv.Streams, si)
		}
	}
	return iv
}

// follow updates the tracks with intervals that are not emitted one by one.
func (c *collector) follow(p measure.Progress) {
	for i, s := range p.Samples {
		if index := c.first(p.Direction) + i; s.TCP != nil && index < len(c.tracks) {
			c.tracks[index].state(*s.TCP, p.Omitted)
		}
	}
}

// state is the state of a sender in an interval; it updates the sender's track.
func (t *track) state(k measure.TCPInfo, omitted bool) *SenderState {
	if t.omitted && !omitted {
		t.retransmits = 0
	}
	t.omitted = omitted
	s := &SenderState{
		Retransmits: max(0, k.Retransmits-t.retransmits), Cwnd: k.CwndSegments * k.MSS, Window: k.SndWndBytes,
		RTT: k.RTTNs / 1000, RTTVar: k.RTTVarNs / 1000, PMTU: k.PMTU, Reorder: k.ReorderEvents,
	}
	t.retransmits = k.Retransmits
	t.maxCwnd, t.maxWindow, t.maxRTT = max(t.maxCwnd, s.Cwnd), max(t.maxWindow, s.Window), max(t.maxRTT, s.RTT)
	if t.n == 0 || s.RTT < t.minRTT {
		t.minRTT = s.RTT
	}
	t.sumRTT += s.RTT
	t.n++
	t.last = *s
	return s
}

// still returns the state of a stream that moved nothing since the last interval, or nil if
// there was no interval.
func (t *track) still() *SenderState {
	if t.n == 0 {
		return nil
	}
	s := t.last
	s.Retransmits = 0
	return &s
}

// mean is the mean round trip over the intervals.
func (t *track) mean() int64 {
	if t.n == 0 {
		return 0
	}
	return t.sumRTT / t.n
}
