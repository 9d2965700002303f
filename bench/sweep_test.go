package main

import (
	"slices"
	"strings"
	"testing"
)

func TestASweepComparesBothProgramsWithTheSameStreamsAndCongestionControl(t *testing.T) {
	all := sweeps([]string{"cubic", "bbr"}, []int{1, 16})
	if len(all) != 4 || all[3].Name != "tcp-congestion-bbr-16" {
		t.Fatalf("contests %v", all)
	}
	for _, e := range all[3].Entries {
		words := strings.Join(e.Build(Site{Host: "h", Port: 1, Seconds: 1}).Client, " ") + " "
		if !strings.Contains(words, "-C bbr ") || !strings.Contains(words, "-P 16 ") {
			t.Errorf("%s: %s", e.Label, words)
		}
	}
}

func TestASweepHasTheSystemsDefaultAndWhatIsAvailable(t *testing.T) {
	for _, c := range []struct {
		name, available string
		want            []string
	}{
		{"bbr", "reno bbr cubic", []string{"bbr", "cubic"}},
		{"cubic", "reno cubic", []string{"cubic"}},
		{"dctcp", "reno cubic bbr dctcp", []string{"dctcp", "cubic", "bbr"}},
	} {
		if got := sweepControls(c.name, c.available); !slices.Equal(got, c.want) {
			t.Errorf("default %s of %s: %v, want %v", c.name, c.available, got, c.want)
		}
	}
}

func TestTheTableOfASweepHasMediansAndTheRatioWithinRounds(t *testing.T) {
	d := document{Seconds: 1, contests: sweeps([]string{"bbr"}, []int{16, 64})}
	for round, soku := range []float64{250, 260, 300} {
		for label, v := range map[string]float64{sokuLabel: soku, "iperf3 best": 2 * soku} {
			d.Runs = append(d.Runs, Run{Contest: d.contests[0].Name, Contender: label, Round: round, Figures: Figures{goodput.Name: v}, Placement: placedNear})
		}
	}
	var table strings.Builder
	d.writeSweep(&table)
	for _, row := range []string{
		"| tcp-congestion-bbr-16 | 260.0 | 250.0..300.0 | 520.0 | 500.0..600.0 | 0.50 |\n",
		"| tcp-congestion-bbr-64 | | | | |  |\n",
	} {
		if !strings.Contains(table.String(), row) {
			t.Errorf("the table lacks %q:\n%s", row, table.String())
		}
	}
}
