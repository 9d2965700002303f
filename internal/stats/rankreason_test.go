package stats

import (
	"fmt"
	"math"
	"soku/internal/measure/finding"
	"testing"
)

func TestIntervalsOfReasonsHoldTogether(t *testing.T) {
	more := 0 // pairs that Bonferroni's correction does not show
	for _, c := range tables(t).Cases {
		if len(c.Logs[0]) < moderatedRounds {
			continue
		}
		for _, higher := range []bool{true, false} {
			pairs := compareGroups(entriesOf(inUnits(c.Logs, 1)), higher, Looks{}, 0)
			for n, p := range c.Rule.Pairs {
				got, low, high := pairs.pair(p[1], p[0]), -c.Rule.High[n], -c.Rule.Low[n]
				switch shown := c.Rule.Holm[n] <= 0.05; {
				case shown && low < 0 && high > 0: // Holm's procedure only
					more++
					if c.Rule.Difference[n] > 0 {
						high = 0
					} else {
						low = 0
					}
				case !shown && (low > 0 || high < 0):
					t.Fatalf("%s: Holm's procedure shows less than Bonferroni's correction", c.Name)
				}
				what := fmt.Sprintf("%s, %d and %d: ", c.Name, p[1], p[0])
				near(t, what+"difference", math.Log1p(got.Difference), -c.Rule.Difference[n], 1e-9)
				near(t, what+"low", math.Log1p(got.Low), low, 1e-7)
				near(t, what+"high", math.Log1p(got.High), high, 1e-7)
				if !got.Ratio || got.Apart || got.Rounds != len(c.Logs[0]) {
					t.Errorf("%s%+v", what, got)
				}
			}
		}
	}
	if more == 0 {
		t.Error("no case distinguishes Holm's procedure from Bonferroni's correction")
	}
}

func TestNoBoundOfARatioIsBelowMinusAllOfIt(t *testing.T) {
	for name, groups := range map[string][2]Group{
		"three rounds":    {{Rounds: [][]float64{{100}, {300}, {200}}}, {Rounds: [][]float64{{250}, {90}, {210}}}},
		"not paired":      {{Rounds: [][]float64{{100}, {900}, {200}, nil, nil, nil}}, {Rounds: [][]float64{nil, nil, nil, {850}, {90}, {80}}}},
		"a round of zero": {{Rounds: [][]float64{{0}, {300}, {10}}}, {Rounds: [][]float64{{250}, {90}, {400}}}},
	} {
		groups[0].Name, groups[1].Name = "a", "b"
		reason := Rank(groups[:], true, 0)[1].Reason
		low, has := reason.Number("low_ratio")
		if !has || low < -1 {
			t.Errorf("%s: the lower bound is %v", name, low)
		}
	}
}

func TestNoDifferenceReportsTheRoundsNeeded(t *testing.T) {
	got := Rank([]Group{{Name: "a", Rounds: [][]float64{{100}, {104}, {97}}}, {Name: "b", Rounds: [][]float64{{99}, {98}, {101}}}}, true, 0)
	needed, _ := got[1].Reason.Number("needed_rounds")
	if got[1].Rank != 1 || got[1].Reason.Code != finding.RankNoDifference || got[1].Reason.Text("than") != "a" || needed <= 3 {
		t.Errorf("%+v", got)
	}
}
