package tcp

import (
	"runtime"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/loopback"
	"soku/test/tier"
)

func TestSamplesAndLinesSumToTheBytes(t *testing.T) {
	tier.SpendsSeconds(t)
	const n = 4
	a, b := loopback.TCP(t, n)
	o := options(650*time.Millisecond, n)
	o.Rate, o.Interval = 200_000_000, measure.Duration(200*time.Millisecond)
	var sentLines, receivedLines []measure.Progress
	s, r := both(t.Context(), a, b, o, measure.Reverse,
		func(p measure.Progress) { sentLines = append(sentLines, p) },
		func(p measure.Progress) { receivedLines = append(receivedLines, p) })
	lossless(t, s, r)
	for _, c := range []struct {
		name  string
		end   measure.FlowEnd
		lines []measure.Progress
		total int64
		role  measure.Role
	}{
		{"sender", s.end, sentLines, sentBytes(s.end), measure.Sender},
		{"receiver", r.end, receivedLines, receivedBytes(r.end), measure.Receiver},
	} {
		if c.end.Role != c.role || c.end.Direction != measure.Reverse {
			t.Errorf("%s: %s, %s", c.name, c.end.Role, c.end.Direction)
		}
		var all, single, live int64
		for i, x := range c.end.Samples {
			all += x.SentBytes + x.ReceivedBytes
			if i > 0 && x.StartNs != c.end.Samples[i-1].EndNs || x.EndNs <= x.StartNs {
				t.Errorf("%s: sample %d is %d..%d", c.name, i, x.StartNs, x.EndNs)
			}
		}
		for _, x := range c.end.Streams {
			for _, y := range x.Samples {
				single += y.SentBytes + y.ReceivedBytes
				if runtime.GOOS == "linux" && (y.TCP == nil) != (c.role == measure.Receiver) {
					t.Errorf("%s: TCP_INFO in a sample: %v", c.name, y.TCP)
				}
			}
			if runtime.GOOS == "linux" && c.role == measure.Sender && (x.TCP == nil || x.TCP.Congestion == "") {
				t.Errorf("stream %d has no TCP_INFO at the end", x.Index)
			}
		}
		for _, p := range c.lines {
			live += p.Bytes
			if p.Role != c.role || p.Direction != measure.Reverse || len(p.Streams) != n {
				t.Errorf("%s: live line %+v", c.name, p)
			}
			if runtime.GOOS == "linux" && (p.Retrans == nil) != (c.role == measure.Receiver) {
				t.Errorf("%s: retransmits in a line: %v", c.name, p.Retrans)
			}
		}
		// A host that was busy at the end of an interval may leave a rest that is
		// too short for a line of its own.
		rest, longest := int64(0), int64(o.Interval)/10
		shown := c.lines[len(c.lines)-1].EndNs
		for _, x := range c.end.Streams {
			for _, y := range x.Samples {
				if y.StartNs >= shown && y.EndNs-y.StartNs < longest {
					rest += y.SentBytes + y.ReceivedBytes
				}
			}
		}
		if all != c.total || single != c.total || live+rest != c.total {
			t.Errorf("%s: %d bytes; samples have %d, the streams' %d, lines %d and %d after the last", c.name, c.total, all, single, live, rest)
		}
		least := int64(600e6)
		if c.role == measure.Receiver {
			least = s.end.DurationNs / 2 // a busy one sees its first byte late, and counts from then
		}
		if last := c.end.Samples[len(c.end.Samples)-1].EndNs; last < least || c.end.DurationNs < least || c.end.DurationNs > last {
			t.Errorf("%s: the last sample ends at %d, the flow at %d", c.name, last, c.end.DurationNs)
		}
	}
}

func TestTheRateIsThatOfAllStreamsTogether(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, streams := range []int{1, 7} {
		a, b := loopback.TCP(t, streams)
		o := options(600*time.Millisecond, streams)
		o.Rate = 50_000_000
		s, r := both(t.Context(), a, b, o, measure.Forward, nil, nil)
		lossless(t, s, r)
		const want = 50_000_000 / 8 * 6 / 10
		// Each stream may be one write ahead; a busy host may be late, but
		// nothing lets it send more.
		if got := receivedBytes(r.end); got > want*103/100 || got < want/3 {
			t.Errorf("%d streams: %d bytes, want %d", streams, got, want)
		}
		for _, x := range r.end.Streams {
			if share := int64(want / streams); x.ReceivedBytes > share*12/10 || x.ReceivedBytes < share/4 {
				t.Errorf("stream %d of %d has %d bytes, want a fair share of %d", x.Index, streams, x.ReceivedBytes, share)
			}
		}
	}
}

func TestNoStreamStarves(t *testing.T) {
	tier.SpendsSeconds(t)
	const n = 16
	a, b := loopback.TCP(t, n)
	s, r := both(t.Context(), a, b, options(500*time.Millisecond, n), measure.Forward, nil, nil)
	lossless(t, s, r)
	share := receivedBytes(r.end) / n
	for _, x := range r.end.Streams {
		if x.ReceivedBytes < share/4 {
			t.Errorf("stream %d has %d bytes of a fair share of %d", x.Index, x.ReceivedBytes, share)
		}
	}
}

func TestOmitLeavesTheStartOut(t *testing.T) {
	tier.SpendsSeconds(t)
	a, b := loopback.TCP(t, 2)
	o := options(400*time.Millisecond, 2)
	o.Rate, o.Omit = 80_000_000, measure.Duration(300*time.Millisecond)
	s, r := both(t.Context(), a, b, o, measure.Forward, nil, nil)
	if s.err != nil || r.err != nil {
		t.Fatal(s.err, r.err)
	}
	const whole = 80_000_000 / 8 * 7 / 10
	for name, got := range map[string]int64{"sent": sentBytes(s.end), "received": receivedBytes(r.end)} {
		if got > whole*4/5 || got < whole/8 {
			t.Errorf("%s %d of %d bytes, want 4/7", name, got, whole)
		}
	}
	for _, f := range []measure.FlowEnd{s.end, r.end} {
		if f.Samples[0].StartNs != 0 || f.StartNs < 300e6 || f.DurationNs > 600e6 {
			t.Errorf("%s: first sample at %d, start %d, duration %d", f.Role, f.Samples[0].StartNs, f.StartNs, f.DurationNs)
		}
	}
}

func TestStreamsNameTheClientFirst(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	o := options(50*time.Millisecond, 1)
	s, r := both(t.Context(), b, a, o, measure.Reverse, nil, nil) // the server sends
	client, server := a[0].LocalAddr().String(), b[0].LocalAddr().String()
	for _, x := range []measure.Stream{s.end.Streams[0], r.end.Streams[0]} {
		if x.Local != client || x.Remote != server {
			t.Errorf("local %s, remote %s; want %s and %s", x.Local, x.Remote, client, server)
		}
	}
}

func TestMovingBytesDoesNotAllocate(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	o := options(0, 1)
	o.Bytes, o.Length = 64<<20, 8<<10 // 8192 writes
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, r := both(t.Context(), a, b, o, measure.Forward, nil, nil)
	runtime.ReadMemStats(&after)
	lossless(t, s, r)
	if n := after.Mallocs - before.Mallocs; n > 2000 {
		t.Errorf("%d allocations in 8192 writes and as many reads", n)
	}
}

func TestASlowRateIsSentInSmallWrites(t *testing.T) {
	f := &flow{o: measure.Options{Rate: 8_000_000}, conns: nil, length: 128 << 10}
	f.conns, _ = loopback.TCP(t, 1)
	if got := f.unit(); got != 5000 {
		t.Errorf("8 Mbit/s in writes of %d bytes, want 5 ms of it", got)
	}
	f.o.Rate = 1000
	if got := f.unit(); got != 1448 {
		t.Errorf("1 kbit/s in writes of %d bytes, want a segment", got)
	}
	f.o.Rate, f.length = 0, 77
	if got := f.unit(); got != 77 {
		t.Errorf("no rate: writes of %d bytes, want the length", got)
	}
}
