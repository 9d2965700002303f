package report

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// simulated is how many times as many campaigns as usual are simulated.
func simulated() int {
	times, err := strconv.Atoi(os.Getenv("SOKU_SIMULATIONS"))
	if err != nil || times < 1 {
		return 1
	}
	return times
}

// The level of the tuning factors is chosen by the figures of the same trials that then compare the
// gateways: that must not make equal gateways differ. Streams have figures of their own each, whose
// order is known or not; on other streams than the best ones the gateways may well differ.
func TestComparingAtTheBestLevelMakesFewFalseClaims(t *testing.T) {
	for _, c := range []struct {
		name    string
		noise   float64
		streams map[string]float64 // Mbit/s
		slow    string             // streams with which the gateways differ
	}{
		{"streams matter", 0.02, map[string]float64{"1": 100, "4": 300, "16": 600}, ""},
		{"streams are alike, of noise", 0.1, map[string]float64{"1": 300, "4": 300, "16": 300}, ""},
		{"streams are nearly alike", 0.02, map[string]float64{"1": 295, "4": 300, "16": 305}, ""},
		{"gateways differ with one stream", 0.02, map[string]float64{"1": 100, "4": 300, "16": 600}, "1"},
	} {
		campaigns, claims, compared := 100*simulated(), 0, 0
		if testing.Short() {
			campaigns = 10
		}
		for n := range campaigns {
			d := design{
				factors: []string{"gateway", "streams"}, levels: [][]string{{"a", "b", "c", "d"}, {"1", "4", "16"}}, rounds: 6, noise: c.noise, seed: uint64(n + 1),
				bps: func(l []string) float64 {
					bps := 1e6 * c.streams[l[1]]
					if l[1] == c.slow {
						bps *= 1 + 0.3*float64(strings.Index("abcd", l[0]))
					}
					return bps
				},
			}
			in := d.input()
			in.Design.Question = "gateway"
			test := build(t, in).test(t, "tcp")
			if test.AtBest != nil {
				compared++
			}
			switch test.Headline.Code {
			case AnswerBest, AnswerBestSeen, AnswerNoneAhead:
				claims++
			}
		}
		t.Logf("%s: %d of %d campaigns claim a difference, %d compare at the best streams", c.name, claims, campaigns, compared)
		if claims > max(campaigns/20, 1) || c.noise < 0.05 && compared < campaigns/2 {
			t.Errorf("%s: %d of %d campaigns claim a difference, %d compare at the best streams", c.name, claims, campaigns, compared)
		}
	}
}

// Gateways that differ at the best streams are found.
func TestComparingAtTheBestLevelFindsDifferences(t *testing.T) {
	campaigns, found := 30*simulated(), 0
	if testing.Short() {
		campaigns = 5
	}
	random := rand.New(rand.NewPCG(3, 3))
	for range campaigns {
		d := design{
			factors: []string{"gateway", "streams"}, levels: [][]string{{"a", "b", "c", "d"}, {"1", "4", "16"}}, rounds: 6, noise: 0.02, seed: random.Uint64(),
			bps: func(l []string) float64 {
				bps := 1e8
				if l[1] == "16" && l[0] == "b" {
					bps *= 1.15
				}
				if l[1] == "16" {
					bps *= 6
				}
				return bps
			},
		}
		in := d.input()
		in.Design.Question = "gateway"
		if h := build(t, in).test(t, "tcp").Headline; h.Code == AnswerBest && h.First[0].Level == "b" {
			found++
		}
	}
	if t.Logf("%d of %d", found, campaigns); found < campaigns*9/10 {
		t.Errorf("b is named best in %d of %d campaigns", found, campaigns)
	}
}

// The set of the best leaves out one of several equal levels more often than in 5 % of campaigns, which
// makes none of them the next.
func TestOfEqualLevelsNoneIsSaidToBeNext(t *testing.T) {
	campaigns, levels, patterns := 300*simulated(), 0, 0
	for n := range campaigns {
		in := design{
			factors: []string{"gateway"}, levels: [][]string{{"a", "b", "c", "d"}}, rounds: 6, noise: 0.02, seed: uint64(n + 1), bps: func([]string) float64 { return 6e8 },
		}.input()
		test := build(t, in).test(t, "tcp")
		if test.Headline.Next != nil {
			levels++
		}
		if test.Answer.Next != nil {
			patterns++
		}
	}
	t.Logf("of %d campaigns %d claim a difference of levels, %d of patterns", campaigns, levels, patterns)
	if max(levels, patterns) > campaigns/20 {
		t.Errorf("of %d campaigns %d claim a difference of levels, %d of patterns", campaigns, levels, patterns)
	}
}
