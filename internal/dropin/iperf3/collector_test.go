package iperf3

import (
	"testing"

	"soku/internal/measure"
)

// sent is the interval of a sender, with one sample per stream.
func sent(d measure.Direction, from, to, bytes, retransmits int64, omitted bool) measure.Progress {
	return measure.Progress{
		Direction: d, Role: measure.Sender, StartNs: from, EndNs: to, Omitted: omitted,
		Samples: []measure.Sample{{StartNs: from, EndNs: to, SentBytes: bytes, TCP: &measure.TCPInfo{
			Retransmits: retransmits, CwndSegments: 10, MSS: 1000, RTTNs: to / 1000, SndWndBytes: 7,
		}}},
	}
}

func received(d measure.Direction, from, to, bytes int64) measure.Progress {
	return measure.Progress{
		Direction: d, Role: measure.Receiver, StartNs: from, EndNs: to,
		Samples: []measure.Sample{{StartNs: from, EndNs: to, ReceivedBytes: bytes, Packets: 8, Lost: 2, JitterNs: 5e5}},
	}
}

func gather(test Test, sockets []int, all ...measure.Progress) (intervals []Interval, c *collector) {
	c = newCollector(Client, test, sockets, func(iv Interval) { intervals = append(intervals, iv) })
	for _, p := range all {
		c.observe(p)
	}
	var end int64
	for _, p := range all {
		end = max(end, p.EndNs)
	}
	c.finish(float64(end) / 1e9)
	return intervals, c
}

func TestRetransmitsAreThoseOfTheInterval(t *testing.T) {
	intervals, c := gather(Test{Streams: 1, Interval: 1}, []int{5},
		sent(measure.Forward, 0, 1e9, 10, 4, true), sent(measure.Forward, 0, 1e9, 20, 3, false), sent(measure.Forward, 1e9, 2e9, 30, 8, false))
	if len(intervals) != 3 {
		t.Fatalf("%d intervals", len(intervals))
	}
	for i, want := range []int64{4, 3, 5} {
		s := intervals[i].Streams[0]
		if s.TCP.Retransmits != want || s.Socket != 5 || s.TCP.Cwnd != 10_000 || intervals[i].Omitted != (i == 0) {
			t.Errorf("interval %d: %+v %+v", i, s, s.TCP)
		}
	}
	if k := c.tracks[0]; k.maxRTT != 2000 || k.minRTT != 1000 || k.mean() != 1333 || k.maxWindow != 7 {
		t.Errorf("%+v", k)
	}
}

func TestBothDirectionsAreReportedTogether(t *testing.T) {
	test := Test{Streams: 1, Interval: 1, Bidir: true}
	intervals, _ := gather(test, []int{5, 7}, received(measure.Reverse, 0, 1, 1), received(measure.Reverse, 1, 2, 2),
		sent(measure.Forward, 0, 1, 3, 0, false), sent(measure.Forward, 1, 2, 4, 0, false), sent(measure.Forward, 2, 3, 5, 0, false))
	if len(intervals) != 3 || len(intervals[0].Streams) != 2 || len(intervals[2].Streams) != 2 || intervals[2].Streams[1].Bytes != 0 {
		t.Fatalf("%+v", intervals)
	}
	a, b := intervals[1].Streams[0], intervals[1].Streams[1]
	if a.Socket != 5 || !a.Sender || a.Bytes != 4 || b.Socket != 7 || b.Sender || b.Bytes != 2 || b.TCP != nil {
		t.Errorf("%+v %+v", a, b)
	}
}

func TestARestOfTheOmittedStartIsReportedAlone(t *testing.T) {
	intervals, _ := gather(Test{Streams: 1, Interval: 1, Bidir: true}, []int{5, 7},
		sent(measure.Forward, 0, 1, 3, 0, true), received(measure.Reverse, 0, 1, 1), sent(measure.Forward, 0, 1, 4, 0, false))
	if len(intervals) != 2 || !intervals[0].Omitted || len(intervals[0].Streams) != 2 || intervals[0].Streams[1].Sender || len(intervals[1].Streams) != 2 {
		t.Errorf("%+v", intervals)
	}
}

func TestAnIntervalOfZeroIsTheWholeTest(t *testing.T) {
	intervals, _ := gather(Test{Streams: 1}, []int{5},
		sent(measure.Forward, 0, 1e9, 9, 1, true), sent(measure.Forward, 0, 1e9, 3, 2, false), sent(measure.Forward, 1e9, 2e9, 4, 6, false))
	if len(intervals) != 1 {
		t.Fatalf("%+v", intervals)
	}
	if s := intervals[0].Streams[0]; s.Bytes != 7 || s.Start != 0 || s.End != 2 || s.TCP.Retransmits != 6 || intervals[0].Omitted {
		t.Errorf("%+v %+v", s, s.TCP)
	}
}

func TestDatagramsAreCountedAsIperf3Does(t *testing.T) {
	intervals, _ := gather(Test{UDP: true, Streams: 1, Interval: 1, Block: 100}, []int{5}, received(measure.Reverse, 0, 1e9, 800))
	if s := intervals[0].Streams[0]; s.Packets != 10 || s.Lost != 2 || s.JitterMs != 0.5 {
		t.Errorf("%+v", s)
	}
	p := sent(measure.Forward, 0, 1e9, 700, 0, false)
	p.Samples[0].TCP = nil
	intervals, _ = gather(Test{UDP: true, Streams: 1, Interval: 1, Block: 100}, []int{5}, p)
	if s := intervals[0].Streams[0]; s.Packets != 7 || s.TCP != nil {
		t.Errorf("%+v", s)
	}
}

func TestWhatMovesInTheMomentOfTheEndIsOfTheLastInterval(t *testing.T) {
	test := Test{Streams: 1, Interval: 1, Duration: 2}
	intervals, c := gather(test, []int{5}, sent(measure.Forward, 0, 1e9, 10, 1, false),
		sent(measure.Forward, 1e9, 2_000_100_000, 20, 3, false), sent(measure.Forward, 2_000_100_000, 2_000_400_000, 5, 4, false))
	if len(intervals) != 2 {
		t.Fatalf("%d intervals: %+v", len(intervals), intervals)
	}
	if s := intervals[1].Streams[0]; s.Bytes != 25 || s.Start != 1 || s.End != 2.0004 || s.TCP.Retransmits != 3 {
		t.Errorf("the last is %+v %+v", s, s.TCP)
	}
	if k := c.tracks[0]; k.n != 2 {
		t.Errorf("%d round trips", k.n)
	}
	test.Bidir = true
	intervals, _ = gather(test, []int{5, 7}, sent(measure.Forward, 0, 1e9, 10, 1, false), received(measure.Reverse, 0, 1e9, 10),
		received(measure.Reverse, 1e9, 2e9, 10), sent(measure.Forward, 1e9, 1_999_900_000, 20, 3, false), received(measure.Reverse, 2e9, 2_000_500_000, 1))
	if len(intervals) != 2 || len(intervals[1].Streams) != 2 || intervals[1].Streams[1].Bytes != 11 || intervals[1].Streams[1].End != 2.0005 {
		t.Errorf("both ways: %+v", intervals)
	}
}

func TestALastIntervalInWhichNothingMovedIsReported(t *testing.T) {
	test := Test{Streams: 2, Interval: 1, Duration: 2}
	var intervals []Interval
	c := newCollector(Client, test, []int{5, 7}, func(iv Interval) { intervals = append(intervals, iv) })
	p := sent(measure.Forward, 0, 1e9, 10, 1, false)
	p.Samples = append(p.Samples, p.Samples[0])
	c.observe(p)
	c.finish(2.001)
	if len(intervals) != 2 || len(intervals[1].Streams) != 2 {
		t.Fatalf("%+v", intervals)
	}
	if s := intervals[1].Streams[1]; s.Start != 1 || s.End != 2.001 || s.Bytes != 0 || !s.Sender || s.TCP == nil || s.TCP.Cwnd != 10_000 {
		t.Errorf("%+v", s)
	}
	intervals = nil
	c = newCollector(Client, test, []int{5, 7}, func(iv Interval) { intervals = append(intervals, iv) })
	c.observe(p)
	c.finish(1.4) // it broke off
	if len(intervals) != 1 {
		t.Errorf("%+v", intervals)
	}
}

// The engines end their last interval when the last byte moved, which may be long before
// the end if an end is short of processor time.
func TestAnIntervalThatEndsEarlyIsTheLast(t *testing.T) {
	for _, c := range []struct {
		interval        float64
		begin, end, ran int64 // milliseconds
	}{{1, 0, 900, 1006}, {1, 0, 10, 1000}, {0.1, 930, 940, 1000}} {
		test := Test{Streams: 1, Interval: c.interval, Duration: 1, Reverse: true}
		var intervals []Interval
		collector := newCollector(Client, test, []int{5}, func(iv Interval) { intervals = append(intervals, iv) })
		collector.observe(received(measure.Reverse, c.begin*1e6, c.end*1e6, 10))
		collector.finish(float64(c.ran) / 1e3)
		if len(intervals) != 1 || intervals[0].Streams[0].End != float64(c.ran)/1e3 || intervals[0].Streams[0].Bytes != 10 {
			t.Errorf("%+v: %+v", c, intervals)
		}
	}
}

func TestIntervalsThatEndInTimeAreReportedAtOnce(t *testing.T) {
	for _, interval := range []int64{100, 300, 700, 1000} {
		test := Test{Streams: 1, Interval: float64(interval) / 1e3, Duration: 10, Reverse: true}
		reported := 0
		collector := newCollector(Client, test, []int{5}, func(Interval) { reported++ })
		var last int64
		for n := 1; int64(n)*interval < 9000; n++ {
			end := int64(n)*interval*1e6 + int64(n%3)*interval*1e6/3 // a tick may be late
			collector.observe(received(measure.Reverse, last, end, 10))
			last = end
			if reported != n {
				t.Fatalf("%d ms: %d of %d intervals", interval, reported, n)
			}
		}
	}
}

func TestATestOfAnAmountHasItsRest(t *testing.T) {
	intervals, _ := gather(Test{Streams: 1, Interval: 1, Duration: 10, Bytes: 15}, []int{5},
		sent(measure.Forward, 0, 1e9, 10, 0, false), sent(measure.Forward, 1e9, 1_010_000_000, 5, 0, false))
	if len(intervals) != 2 {
		t.Errorf("%+v", intervals)
	}
}
