package tcp

import (
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/test/loopback"
)

// spreadBy receives on these streams by a rule and returns both ends and how many loops received.
func spreadBy(t *testing.T, rule spreading, o measure.Options) (s, r outcome, loops int) {
	t.Helper()
	pins, err := sock.NewPins(option.Pinning{On: true})
	if err != nil {
		t.Fatal(err)
	}
	a, b := loopback.TCP(t, o.Streams)
	l := usual
	l.spreading = rule
	o.RX = "discard"
	received := make(chan struct{})
	go func() {
		defer close(received)
		r.end, r.err = receive(t.Context(), b, o, engine.Flow{Direction: measure.Forward, Pins: pins}, l)
	}()
	s.end, s.err = Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward})
	<-received
	return s, r, len(pins.Pinned())
}

// The thread of each loop counts as busy and one processor as idle, whatever they are.
var always = spreading{every: time.Millisecond, idle: -1}

func TestABusyLoopGivesHalfOfItsStreamsToANewOneWhileAProcessorIsIdle(t *testing.T) {
	for name, c := range map[string]struct {
		streams int
		rule    spreading
		loops   int
	}{
		"few streams":                 {7, always, 1},
		"two loops of four streams":   {8, always, 2},
		"some loops of at least four": {20, always, 4},
		"many streams":                {100, always, mostLoops},
		"never busy":                  {32, spreading{busy: 1e9, idle: -1}, 1},
		"its own thread is busy":      {8, spreading{every: time.Millisecond, busy: 1e-3, idle: -1}, 2},
		"not watched for long enough": {32, spreading{every: time.Hour, busy: 1e-6, idle: -1}, 1},
		"no processor is idle":        {32, spreading{idle: 1e9}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for amount, o := range map[string]measure.Options{"time": options(300*time.Millisecond, c.streams), "bytes": options(0, c.streams)} {
				if amount == "bytes" {
					o.Bytes = 1 << 30
				}
				s, r, loops := spreadBy(t, c.rule, o)
				lossless(t, s, r)
				if loops != c.loops {
					t.Errorf("%s: %d loops received, want %d", amount, loops, c.loops)
				}
			}
		})
	}
}

func TestStreamsThatHaveEndedStayWithTheirLoop(t *testing.T) {
	a, b := loopback.TCP(t, 12)
	reader, err := sock.OpenReader(b, "discard", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	streams := make([]int, len(b))
	for i := range streams {
		streams[i] = 100 + i
	}
	l := (&receiver{}).newReceiveLoop(streams, reader)
	for _, k := range []int{0, 3, 4} {
		l.done[k] = true
		l.live--
	}
	l.counts[2].Bytes = 7
	other := l.half()
	defer other.reader.Close()
	if l.live != 5 || other.live != 4 {
		t.Fatalf("%d and %d streams, want 5 and 4", l.live, other.live)
	}
	if other.streams[0] != 102 || other.counts[0].Bytes != 7 {
		t.Errorf("the first given stream is %d with %d bytes, want 102 with 7", other.streams[0], other.counts[0].Bytes)
	}
	for k, stream := range other.streams {
		if _, err := a[stream-100].Write([]byte("xyz")); err != nil {
			t.Fatal(err)
		}
		other.reader.Wait(time.Second)
		if n, err := other.reader.Take(k); n != 3 || err != nil {
			t.Errorf("stream %d: %d bytes, %v", stream, n, err)
		}
	}
}

// measured are goodputs over loopback on 16 processors with bbr, Gbit/s, by the number of loops that
// discard: medians of a few runs, and the fastest mode of iperf3 in the same run.
var measured = map[int]struct {
	iperf3 float64
	loops  map[int]float64
}{
	8:  {370, map[int]float64{1: 460, 2: 575, 4: 475, 8: 400}},
	14: {590, map[int]float64{1: 500, 2: 945, 4: 840, 8: 868}},
	16: {605, map[int]float64{1: 260, 2: 765, 4: 796, 8: 822}},
	20: {580, map[int]float64{1: 230, 2: 700, 4: 825, 8: 795}},
	24: {612, map[int]float64{1: 223, 2: 555, 4: 755, 8: 676}},
	32: {595, map[int]float64{1: 224, 2: 460, 4: 700, 8: 696}},
	64: {520, map[int]float64{1: 560, 2: 747, 4: 828, 8: 772}},
}

// There the loops use 0.9 of a processor each, and two thirds of the processors are idle.
func TestLoopsThatDivideCarryMoreOnSixteenProcessors(t *testing.T) {
	const least = 1.15 // times iperf3; the medians are within a few percent
	for streams, m := range measured {
		_, _, loops := spreadBy(t, always, options(300*time.Millisecond, streams))
		if got := m.loops[loops]; got < least*m.iperf3 {
			t.Errorf("%d streams: %d loops, which carried %.0f Gbit/s where iperf3 had %.0f", streams, loops, got, m.iperf3)
		}
	}
}
