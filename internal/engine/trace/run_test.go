package trace

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/tier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a network by script, for what no emulated one does when it is asked.
type scripted struct {
	// hop says what comes of a probe; Nothing: silence.
	hop     func(flow, hop int) probe.Answer
	vague   bool // answers do not quote the number
	serial  bool
	delay   time.Duration // of answers
	sent    int
	most    int // probes of one flow under way at the same time
	open    map[uint16]bool
	waiting []probe.Answer
	times   []time.Time
}

func (s *scripted) Send(flow, hop int, number uint16, _ int) error {
	s.sent++
	s.times = append(s.times, sock.Now())
	if s.open == nil {
		s.open = map[uint16]bool{}
	}
	s.open[number] = true
	s.most = max(s.most, len(s.open))
	a := s.hop(flow, hop)
	if a.Kind != probe.Nothing {
		a.Flow, a.Number, a.At = flow, number, sock.Now().Add(s.delay)
		if s.vague {
			a.Number, a.Vague = 0, true
		}
		s.waiting = append(s.waiting, a)
	}
	return nil
}

func (s *scripted) Receive(wait time.Duration, take func(probe.Answer)) error {
	end := sock.Now().Add(max(wait, 0))
	if len(s.waiting) > 0 && s.waiting[0].At.Before(end) {
		end = s.waiting[0].At
	}
	time.Sleep(end.Sub(sock.Now()))
	for len(s.waiting) > 0 && !s.waiting[0].At.After(sock.Now()) {
		a := s.waiting[0]
		s.waiting = s.waiting[1:]
		take(a)
	}
	return nil
}

func (s *scripted) Forget(number uint16)   { delete(s.open, number) }
func (s *scripted) Serial() bool           { return s.serial }
func (s *scripted) Port(flow int) int      { return 1000 + flow }
func (s *scripted) Local() netip.Addr      { return netip.Addr{} }
func (s *scripted) Foreign() int64         { return 0 }
func (s *scripted) Close()                 {}
func (s *scripted) Timing() measure.Timing { return measure.Timing{} }

var far = netip.MustParseAddr("192.0.2.200")

func router(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}) }

// straight is a path whose target is at that distance.
func straight(end int) func(int, int) probe.Answer {
	return func(_, hop int) probe.Answer {
		if hop >= end {
			return probe.Answer{Kind: probe.Arrived, From: far}
		}
		return probe.Answer{Kind: probe.Expired, From: router(hop)}
	}
}

func options(rounds int64, flows int) measure.Options {
	return measure.Options{
		Count: rounds, Flows: flows, Own: probe.Options{Probe: "udp", MaxHops: 30},
		Interval: measure.Duration(50 * time.Millisecond), Timeout: measure.Duration(60 * time.Millisecond),
	}
}

func traced(t *testing.T, s *scripted, o measure.Options) *measure.Trace {
	t.Helper()
	tr := newTracer(s, far, o)
	if err := tr.run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return tr.result()
}

func path(tr *measure.Trace) []string { return tr.Flows[0].Path }

func TestOneRoundAsksEveryHopOnce(t *testing.T) {
	s := &scripted{hop: straight(5)}
	tr := traced(t, s, options(1, 1))
	want := []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.200"}
	if !slices.Equal(path(tr), want) || !tr.Reached || tr.Sent > 5+window {
		t.Errorf("path %v, reached %v, %d probes", path(tr), tr.Reached, tr.Sent)
	}
	for _, h := range tr.Hops {
		if h.Sent != 1 || h.Lost != 0 {
			t.Errorf("%+v", h)
		}
	}
}

func TestAnswersWithoutANumberMakeAFlowSerial(t *testing.T) {
	s := &scripted{hop: straight(4), vague: true, delay: 15 * time.Millisecond}
	tr := traced(t, s, options(6, 1))
	if len(tr.Hops) != 4 || !tr.Reached {
		t.Fatalf("path %v", path(tr))
	}
	for i, h := range tr.Hops {
		if len(h.Nodes) != 1 || h.Nodes[0].Received < 5 || i < 3 && h.Nodes[0].Address != router(i+1).String() {
			t.Errorf("hop %d: %+v", h.Hop, h.Nodes)
		}
	}
}

func TestASerialProberHasOneProbeOfAFlowUnderWay(t *testing.T) {
	s := &scripted{serial: true, hop: func(_, hop int) probe.Answer {
		if hop == 2 {
			return probe.Answer{}
		}
		return straight(4)(0, hop)
	}}
	tr := traced(t, s, options(2, 1))
	if s.most != 1 || len(tr.Hops) != 4 || tr.Hops[1].Unanswered < 2 || tr.Hops[1].Lost != 0 {
		t.Errorf("%d at once, hops %+v", s.most, tr.Hops)
	}
}

func TestASilentEndIsNotAskedForever(t *testing.T) {
	s := &scripted{hop: func(_, hop int) probe.Answer {
		if hop > 3 {
			return probe.Answer{}
		}
		return straight(40)(0, hop)
	}}
	tr := traced(t, s, options(2, 1))
	if tr.Reached || len(tr.Hops) != 3 || s.sent != 3+firstSilence+3+laterSilence {
		t.Errorf("reached %v, %d hops, %d probes", tr.Reached, len(tr.Hops), s.sent)
	}
}

func TestAPathThatBecomesLongerIsFollowed(t *testing.T) {
	tier.SpendsSeconds(t)
	changed := false
	s := &scripted{}
	s.hop = func(flow, hop int) probe.Answer {
		changed = changed || s.sent > 20
		if changed {
			return straight(6)(flow, hop)
		}
		return straight(4)(flow, hop)
	}
	tr := traced(t, s, options(12, 1))
	if want := 6; len(path(tr)) != want || path(tr)[5] != far.String() || !tr.Reached {
		t.Errorf("path %v", path(tr))
	}
}

func TestARefusalEndsThePathWithItsReason(t *testing.T) {
	s := &scripted{hop: func(_, hop int) probe.Answer {
		if hop >= 3 {
			return probe.Answer{Kind: probe.Blocked, From: router(3), Reason: measure.ReasonAdminProhibited}
		}
		return probe.Answer{Kind: probe.Expired, From: router(hop)}
	}}
	tr := traced(t, s, options(2, 1))
	if len(tr.Hops) != 3 || tr.Reached {
		t.Fatalf("reached %v, %+v", tr.Reached, tr.Hops)
	}
	if n := tr.Hops[2].Nodes[0]; n.ReasonCode != measure.ReasonAdminProhibited || n.Reason != "a filter on the way forbids it" || n.Target {
		t.Errorf("%+v", n)
	}
}

func TestProbesAreNoFlood(t *testing.T) {
	s := &scripted{hop: straight(3)}
	traced(t, s, options(2, 8))
	for i := 1; i < len(s.times); i++ {
		if d := s.times[i].Sub(s.times[i-1]); d < gap {
			t.Fatalf("probe %d left %v after the one before", i, d)
		}
	}
}

func TestAnInterruptKeepsTheHops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{hop: straight(3)}
	tr := newTracer(s, far, options(1000, 1))
	err := tr.run(ctx, func(seen *measure.Trace) {
		if seen.Reached {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(tr.result().Hops) != 3 {
		t.Errorf("%v, %+v", err, tr.result())
	}
}

// Figures merged from several flows equal those of one flow with all answers.
func TestFlowsAddUpToWhatOneFlowWouldHaveSeen(t *testing.T) {
	times := []float64{3, 9, 4, 11, 5, 5.5, 100, 2, 7}
	var all cell
	parts := make([]cell, 3)
	for i, v := range times {
		a := probe.Answer{Kind: probe.Expired, From: far}
		all.answer(a, v, int64(i))
		parts[i%3].answer(a, v, int64(i))
	}
	one := merged(1, []*cell{&all}).Nodes[0]
	several := merged(1, []*cell{&parts[0], nil, &parts[1], &parts[2]}).Nodes[0]
	if !slices.Equal(several.Flows, []int{0, 2, 3}) {
		t.Errorf("flows %v", several.Flows)
	}
	figures := func(n measure.TraceNode) string {
		return fmt.Sprintf("%d %g %g %g %.9f %.9f", n.Received, n.LastNs, n.MinNs, n.MaxNs, n.MeanNs, n.StdDevNs)
	}
	if figures(one) != figures(several) {
		t.Errorf("one %s, several %s", figures(one), figures(several))
	}
}
