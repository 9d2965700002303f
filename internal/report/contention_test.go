package report

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/stats"
)

func TestWhatContentionCostsIsComparedWithinRounds(t *testing.T) {
	in := slowServer().input()
	tcp := build(t, in).test(t, "tcp")
	c := tcp.Pairs.Contention
	if len(c.Pairs) != 30 || c.Overall.Decision != stats.Worse || c.Overall.Blocks != 6 || c.Overall.Unit != stats.UnitRound {
		t.Fatalf("%d pairs, overall %+v", len(c.Pairs), c.Overall)
	}
	logs := map[string]float64{} // mean of the logarithms of the ratios
	all := 0.0
	for _, r := range in.Results {
		sign := 1.0
		if r.Trial.Pattern == "isolated" {
			sign = -1
		}
		logs[pairing{}.level(r).Value] += sign * math.Log(r.Summary.GoodputBps) / 6
		all += sign * math.Log(r.Summary.GoodputBps) / 180
	}
	if r := *c.Overall.Ratio; math.Abs(r/math.Exp(all)-1) > 1e-9 || !(*c.Overall.Low < r && r < *c.Overall.High) {
		t.Errorf("overall %v, want %v", r, math.Exp(all))
	}
	for i, p := range c.Pairs {
		want := math.Exp(logs[p.From+" → "+p.To])
		if math.Abs(*p.Ratio/want-1) > 1e-9 || p.Decision != stats.Worse || !(*p.Low < *p.Ratio && *p.Ratio < *p.High) {
			t.Errorf("%s → %s: %v (%v to %v, %s), want %v", p.From, p.To, *p.Ratio, *p.Low, *p.High, p.Decision, want)
		}
		if i > 0 && *p.Ratio < *c.Pairs[i-1].Ratio {
			t.Errorf("%s → %s loses more than the pair before it", p.From, p.To)
		}
	}
}

// The pairs outside of the sample carry a tenth: they must not be compared with the sample.
func TestASampleOfPairsIsComparedWithItselfConcurrently(t *testing.T) {
	hosts := hostsNamed(5)
	in := mesh{hosts: hosts, contention: []string{"isolated", "together"}, rounds: 6, noise: 0.001, bps: func(from, to, way string) float64 {
		bps := 1e9
		if from != hosts[0] {
			bps = 1e8
		}
		if way == "together" {
			bps *= 0.7
		}
		return bps
	}}.input()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool {
		return r.Trial.Pattern == "isolated" && r.Trial.Pair.Client.Name != hosts[0]
	})
	r := build(t, in)
	c := r.test(t, "tcp").Pairs.Contention
	if len(c.Pairs) != 4 || c.Of != 20 || math.Abs(*c.Overall.Ratio-0.7) > 0.001 || c.Overall.Decision != stats.Worse {
		t.Fatalf("%d of %d pairs, overall %+v", len(c.Pairs), c.Of, c.Overall)
	}
	said := english(r.test(t, "tcp")).contends()[0]
	for _, want := range []string{"changes the goodput by −30.0 %", "4 pairs of 20 were measured both ways."} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %q", want, said)
		}
	}
}

// Isolated trials begin every 10 s; all others begin together. A trial that has half of its time left when
// the next one begins does not overlap: the clocks of clients differ.
func TestIsolatedTrialsThatOverlappedWereSideBySide(t *testing.T) {
	for duration, overlapped := range map[time.Duration]bool{9 * time.Second: false, 19 * time.Second: false, 30 * time.Second: true} {
		in := couples().input()
		for i, r := range in.Results {
			r.StartedAt, r.Summary.DurationNs = syntheticStart, measure.Duration(duration)
			if r.Trial.Pattern == "isolated" {
				r.StartedAt = syntheticStart.Add(time.Duration(i) * 10 * time.Second)
			}
		}
		r := build(t, in)
		page := written(t, inEnglish(r.Markdown))
		said := english(r.test(t, "tcp")).contends()[0]
		if got := r.test(t, "tcp").Pairs.Contention.SideBySide; got != overlapped || strings.Contains(page, "| side by side") != overlapped || strings.Contains(page, "by itself") == overlapped || strings.Contains(said, "pairs side by side") != overlapped {
			t.Errorf("trials of %s: side by side %v; %s", duration, got, said)
		}
	}
}

func TestTheOrderOfThePlanDoesNotTurnContentionAround(t *testing.T) {
	in := slowServer().input()
	want := build(t, in).test(t, "tcp").Pairs.Contention.Overall
	slices.Reverse(in.Patterns)
	got := build(t, in).test(t, "tcp").Pairs.Contention.Overall
	for _, f := range [][2]*float64{{got.Ratio, want.Ratio}, {got.Low, want.Low}, {got.High, want.High}} {
		if math.Abs(*f[0] / *f[1] - 1) > 1e-9 {
			t.Errorf("%v, in the other order %v", *f[0], *f[1])
		}
	}
	if got.Decision != want.Decision {
		t.Errorf("%s, in the other order %s", got.Decision, want.Decision)
	}
}

func TestAllAtOnceChangesNothingWhereNothingIsShared(t *testing.T) {
	tcp := build(t, couples().input()).test(t, "tcp")
	c := tcp.Pairs.Contention
	if c.Overall.Decision != stats.Same || slices.ContainsFunc(c.Pairs, func(p PairContention) bool { return p.Decision != stats.Same }) {
		t.Errorf("overall %+v, pairs %+v", c.Overall, c.Pairs)
	}
	causes := english(tcp).causes()
	want := "Running all pairs concurrently makes no practical difference to the goodput on average: −0.02 % against each by itself (95 % interval −0.14 to 0.09 %), in 8 rounds; 2 % or more is ruled out. No single pair is shown to be worse."
	if len(causes) != 1 || causes[0] != want {
		t.Errorf("%q", causes)
	}
}

func TestLatencyThatRisesWithContentionIsALoss(t *testing.T) {
	in := mesh{hosts: hostsNamed(3), contention: []string{"isolated", "together"}, rounds: 6, noise: 0.001}.input()
	for _, r := range in.Results {
		v := 1e6 + 1e5*float64(r.Trial.Round)
		if r.Trial.Pattern == "together" && r.Trial.Pair.Client.Name == "vm-02" {
			v *= 3
		}
		r.Test, r.Trial.Label, r.Summary = measure.TestLatency, "latency", measure.Summary{Confidence: measure.High}
		r.Latency = &measure.Latency{Timing: &measure.Timing{}, Histogram: measure.NewHistogram()}
		r.Latency.Histogram.Record(int64(v * (1 + 0.001*float64(len(r.ID)%3))))
		r.Summary.RTT = r.Latency.Histogram.Percentiles()
	}
	c := build(t, in).test(t, "latency").Pairs.Contention
	if p := c.Pairs[0]; p.From != "vm-02" || p.Decision != stats.Worse || math.Abs(*p.Ratio-3) > 0.01 {
		t.Errorf("the first pair is %+v", p)
	}
	if p := c.Pairs[5]; p.From == "vm-02" || p.Decision != stats.Same {
		t.Errorf("the last pair is %+v", p)
	}
}

func TestTheStartSkewOfGroupsIsShownOnce(t *testing.T) {
	r := build(t, slowServer().input())
	if s := r.test(t, "tcp").Pairs.Start; *s != (StartSkew{Groups: 6, MedianNs: 2.9e6, LargestNs: 2.9e6}) {
		t.Errorf("%+v", s)
	}
	for _, form := range []string{"html", "md", "txt"} {
		if n := strings.Count(strings.Join(strings.Fields(written(t, forms(r)[form])), " "), "started within 2.900 ms"); n != 1 {
			t.Errorf("%s says it %d times", form, n)
		}
	}
}

// A skew that is smaller than its uncertainty is an upper bound and no figure.
func TestTheStartSkewComesWithItsUncertainty(t *testing.T) {
	for uncertainty, want := range map[int64]string{
		100e3: "started within 2.900 ms (median of 6 groups; at most 2.900 ms), measured within ± 100.0 µs.",
		40e6:  "started within 42.90 ms (6 groups): the round trips to their clients are too long to measure less.",
	} {
		in := slowServer().input()
		for _, r := range in.Results {
			if g := r.Trial.Group; g != nil {
				g.StartSkewErrorNs = uncertainty
			}
		}
		r := build(t, in)
		if s := r.test(t, "tcp").Pairs.Start; s.ErrorNs != float64(uncertainty) {
			t.Errorf("%+v", s)
		}
		if out := strings.Join(strings.Fields(written(t, forms(r)["txt"])), " "); !strings.Contains(out, want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
}
