package main

import (
	"math"
	"os"
	"strings"
	"testing"
)

func run(label string, round int, gbps, cpu float64, placement string) Run {
	return Run{Contest: "c", Contender: label, Round: round, Figures: Figures{goodput.Name: gbps}, CPU: cpu, Placement: placement}
}

var pair = Contest{Name: "c", Metrics: []Metric{goodput}, Per: perGB, Entries: []Contender{{Label: sokuLabel}, {Label: "peer"}}}

func TestMedian(t *testing.T) {
	values := []float64{9, 1, 5}
	if got := median(values); got != 5 || values[0] != 9 {
		t.Errorf("median %v, input now %v", got, values)
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("of four: %v", got)
	}
	if !math.IsNaN(median(nil)) {
		t.Error("a median of nothing")
	}
}

func TestRatiosAreOfRunsInTheSameRound(t *testing.T) {
	s, _ := rank(pair, []Run{
		run(sokuLabel, 1, 10, 2, placedNear), run("peer", 1, 5, 2, placedNear),
		run(sokuLabel, 2, 100, 20, placedNear), run("peer", 2, 50, 20, placedNear),
		run("peer", 3, 1000, 1, placedNear), // without a run of soku in that round
	}, goodput, 1)
	if s[1].ratio != 0.5 || s[1].cpuRatio != 2 {
		t.Errorf("ratio %v, CPU ratio %v; want 0.5 and 2", s[1].ratio, s[1].cpuRatio)
	}
}

func TestOnlyRunsWithTheMajorityPlacementCount(t *testing.T) {
	s, place := rank(pair, []Run{
		run(sokuLabel, 1, 10, 0, placedNear), run("peer", 1, 20, 0, placedNear),
		run(sokuLabel, 2, 1, 0, placedFar), run("peer", 2, 20, 0, placedNear), run(sokuLabel, 3, 10, 0, placedNear),
	}, goodput, 1)
	if place != placedNear || s[0].leftOut != 1 || len(s[0].values) != 2 || s[1].ratio != 2 {
		t.Errorf("placement %s, standings %+v", place, s)
	}
}

func TestAPlacementNeedsBothMeasurementsToAgree(t *testing.T) {
	for _, c := range []struct {
		before, after float64
		want          string
	}{{50, 55, placedNear}, {330, 320, placedFar}, {50, 330, placedMixed}, {0, 0, placedUnknown}} {
		if got := label(c.before, c.after); got != c.want {
			t.Errorf("%v ns, %v ns: %s, want %s", c.before, c.after, got, c.want)
		}
	}
}

func TestATargetIsMetOrMissedByItsFigure(t *testing.T) {
	s := []standing{
		{label: sokuLabel, values: []float64{5, 50}, byRound: map[int]float64{1: 5, 2: 50}, cpuRound: map[int]float64{1: 1, 2: 10}},
		{label: "peer", values: []float64{4, 40}, byRound: map[int]float64{1: 4, 2: 40, 3: 1}, cpuRound: map[int]float64{1: 1.6, 2: 16}},
	}
	faster := target{metric: goodput, own: sokuLabel, to: "peer", bound: 1.2, atLeast: true}
	if v := faster.judge(s); v.figure != 1.25 || v.word != "holds" || v.atTheBound != ">= 1.2" {
		t.Errorf("1.25 of 1.2: %+v", v)
	}
	faster.bound = 1.3
	if v := faster.judge(s); v.word != "missed" {
		t.Errorf("1.25 of 1.3: %+v", v)
	}
	cheaper := target{metric: goodput, own: sokuLabel, to: "peer", bound: 0.7, by: byCPU}
	if v := cheaper.judge(s); v.figure != 0.625 || v.word != "holds" || v.atTheBound != "<= 0.7" {
		t.Errorf("CPU: %+v", v)
	}
	faster.to = "absent"
	if v := faster.judge(s); v.word != "not measured" {
		t.Errorf("without the peer: %+v", v)
	}
}

func TestAMissedTargetShowsItsRoundsAndTheLimit(t *testing.T) {
	contest := Contest{Name: "udp-pps-64", Metrics: []Metric{packetRate}, Entries: []Contender{{Label: sokuLabel}, {Label: "iperf3"}, {Label: limitLabel}}}
	d := document{Seconds: 1, contests: []Contest{contest}}
	for round, rates := range [][3]float64{{110, 100, 120}, {240, 200, 220}, {100, 100, 110}} {
		for i, e := range contest.Entries {
			d.Runs = append(d.Runs, Run{Contest: contest.Name, Contender: e.Label, Round: round, Figures: Figures{packetRate.Name: rates[i]}, Placement: placedNear})
		}
	}
	var text strings.Builder
	d.writeTargets(&text)
	for _, want := range []string{
		"| UDP packets of 64 B, ratio to iperf3 | udp-pps-64 | >= 1.25 | 1.10 | 3 | missed |",
		"| UDP packets of 64 B, ratio to iperf3 | udp-pps-64 | >= 1.25 | 1.10 | 1.00..1.20 | 1.10 |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, r := range reasons {
		if got, want := strings.Contains(text.String(), r.text), r.contest == "udp-pps-"; got != want {
			t.Errorf("the reason for %s is there: %v", r.contest, got)
		}
	}
}

func TestEveryTargetNamesExistingContestsAndContenders(t *testing.T) {
	all := contests()
	for _, target := range targets() {
		applied := false
		for _, c := range all {
			if !target.applies(c.Name) {
				continue
			}
			applied = true
			names := labels(c) + ","
			if !strings.Contains(names, target.own) || target.to != "" && !strings.Contains(names, target.to+",") {
				t.Errorf("%s: %s lacks %s or %s", target.text, c.Name, target.own, target.to)
			}
		}
		if !applied {
			t.Errorf("%s: no contest is named %s", target.text, target.contest)
		}
	}
}

func TestDiscardAndCopyAreNeverCompared(t *testing.T) {
	for _, c := range contests() {
		for _, e := range c.Entries {
			words := strings.Join(e.Build(Site{Host: "h", Port: 1, Seconds: 1}).Client, " ")
			if e.Program == "soku" && c.Kind == kindDiscard && !strings.Contains(words, "--rx discard") ||
				e.Program == "soku" && c.Kind == kindCopied && !strings.Contains(words, "--rx read") ||
				e.Program == "iperf3" && (c.Kind == kindDiscard) != strings.Contains(words, "--skip-rx-copy") && strings.HasPrefix(c.Name, "tcp-") {
				t.Errorf("%s: %s", c.Name, words)
			}
		}
	}
}

func TestWhatTheSeriesTakesIsTheMeanDifferenceWithinRounds(t *testing.T) {
	contest := Contest{Name: "series-cost", Metrics: []Metric{coreShare}, Entries: []Contender{{Label: sokuLabel}, {Label: withoutSeries}}}
	d := document{Seconds: 1, contests: []Contest{contest}}
	for round, cost := range []float64{0.3, 0.5, 0.7} {
		base := float64(10 * round) // of the time, shared by both
		for label, v := range map[string]float64{sokuLabel: base + cost, withoutSeries: base} {
			d.Runs = append(d.Runs, Run{Contest: contest.Name, Contender: label, Round: round + 1, Figures: Figures{coreShare.Name: v}, Placement: placedNear})
		}
	}
	var page strings.Builder
	d.write(&page)
	// Student's t with two degrees of freedom: 4.303 times 0.2 / sqrt(3).
	for _, line := range []string{
		"With the series less without it: +0.50 % of a core per end, 95 % interval +0.00 to +1.00, 3 pairs.",
		"| sampling: % of a core at each end | series-cost | <= 1 | 0.50 | 3 | holds |",
	} {
		if !strings.Contains(page.String(), line) {
			t.Errorf("the page lacks %q:\n%s", line, page.String())
		}
	}
	if mean, half := meanWithin([]float64{1}); !math.IsNaN(mean) || !math.IsNaN(half) {
		t.Errorf("one value has no interval: %v ± %v", mean, half)
	}
}

func TestABriefProgramRunsSeveralTimesARun(t *testing.T) {
	folder := t.TempDir()
	count := printing("counter", "sh", "-c", "echo x | tee -a "+folder+"/runs")
	f, _, err := perform(t.Context(), loopback, Site{Seconds: 1}, count)
	if err != nil || f[wall.Name] <= 0 {
		t.Fatalf("%v, %v", f, err)
	}
	if runs, err := os.ReadFile(folder + "/runs"); err != nil || len(runs) != 2*starts {
		t.Errorf("it ran %d times, %v; want %d", len(runs)/2, err, starts)
	}
	if _, _, err := perform(t.Context(), loopback, Site{Seconds: 1}, printing("silent", "true")); err == nil {
		t.Error("a program that prints nothing has not failed")
	}
}

// printing times a program that only prints something.
func printing(label string, words ...string) Contender {
	return Contender{Label: label, Program: words[0], NoCPU: true, Brief: true, Parse: parseNothing, Build: func(Site) Commands {
		return Commands{Client: words}
	}}
}
