package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"soku/test/tier"
)

// normals are log ratios of independent rounds.
func normals(r *rand.Rand, n int, mean, sd float64) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = mean + sd*r.NormFloat64()
	}
	return d
}

func TestFalseAlarmsAndPowerOfTwoPatterns(t *testing.T) {
	tier.SpendsSeconds(t)
	const noise = 0.02 // of one pattern
	sd, margin := noise*math.Sqrt2, math.Log1p(0.03)
	decided := func(question, design string, mean float64, decisions ...Decision) simulation {
		return simulate(t, question, design, 2000, func(seed uint64) bool {
			return slices.Contains(decisions, compareLogs(normals(source(seed), 12, mean, sd), 0.03).Decision)
		})
	}
	different := func(question, design string, mean float64) simulation {
		return simulate(t, question, design, 2000, func(seed uint64) bool {
			_, _, p := oneLook(normals(source(seed), 12, mean, sd), 0.95)
			return p <= 0.05
		})
	}
	different(falseOfTwo, "12 rounds, independent", 0).atMost(0.05)
	different("a difference of 3 % between two patterns is shown", "12 rounds, noise 2 %", margin).atLeast(0.88)
	const same = "no practical difference is decided, threshold 3 %"
	decided(same, "true difference 3 %, 12 rounds, noise 2 %", margin, Same).atMost(0.05)
	decided(same, "equal patterns, 12 rounds, noise 2 %", 0, Same).atLeast(0.885)
	decided("better or worse is decided, threshold 3 %", "equal patterns, 12 rounds, noise 2 %", 0, Better, Worse).atMost(0.05)
}

const falseOfTwo = "a difference between two equal patterns is shown"

func TestDriftThatPatternsShareMakesNoFalseAlarms(t *testing.T) {
	simulate(t, falseOfTwo, "12 rounds, drift that both share", 2000, func(seed uint64) bool {
		logs := table(seed, []float64{0, 0}, 12, 0.02)
		_, _, p := oneLook(pairwise(Group{}, Group{}, logs[0], logs[1]), 0.95)
		return p <= 0.05
	}).atMost(0.05)
}

// anyShown reports whether a comparison of equal patterns shows a difference.
func anyShown(c PatternComparison) bool {
	return slices.ContainsFunc(c.Pairs, func(p PatternPair) bool { return p.Adjusted <= 0.05 })
}

func TestFalseAlarmsOfTenPatterns(t *testing.T) {
	tier.SpendsSeconds(t)
	equal := make([]float64, 10)
	for name, change := range map[string]func(*rand.Rand, [][]float64){
		"equal spreads": func(*rand.Rand, [][]float64) {},
		"a fifth missing": func(r *rand.Rand, logs [][]float64) {
			for _, row := range logs {
				for j := range row {
					if r.Float64() < 0.2 {
						row[j] = math.NaN()
					}
				}
			}
		},
	} {
		compared := func(question string, holds func(PatternComparison) bool) simulation {
			return simulate(t, question, "12 rounds, "+name, 1000, func(seed uint64) bool {
				logs := table(seed, equal, 12, 0.02)
				change(source(seed+1000), logs)
				c := ComparePatterns(logs, 0.05)
				if !c.Moderated {
					t.Fatal("not moderated")
				}
				return holds(c)
			})
		}
		compared("a difference between any two of 10 equal patterns is shown", anyShown).atMost(0.05)
		compared("one of 10 equal patterns is not among the best", func(c PatternComparison) bool { return !slices.Contains(c.Best, 0) }).atMost(0.05)
	}
}

func TestModeratedVariancesShowMoreOfManyPatterns(t *testing.T) {
	const question = "a difference of 3 % of one pattern from another is shown among 10 patterns"
	for design, factor := range map[string]float64{"12 rounds, noise 2 %": 1.03, "12 rounds, noise 2 %, that one is lower": 0.97} {
		effects := make([]float64, 10)
		effects[9] = math.Log(factor)
		moderated := simulate(t, question, design, 400, func(seed uint64) bool {
			return slices.ContainsFunc(ComparePatterns(table(seed, effects, 12, 0.02), 0.05).Pairs, func(p PatternPair) bool {
				return p.A == 0 && p.B == 9 && p.Adjusted <= 0.05
			})
		})
		plain := simulate(t, question, design+", each pair's own variance (not the rule)", 400, func(seed uint64) bool {
			c := pairContrasts(table(seed, effects, 12, 0.02))
			c.students()
			return HolmAdjusted(c.each(Looks{}.p))[8] <= 0.05 // of 0 and 9
		})
		moderated.atLeast(0.5)
		if moderated.share() < plain.share()+0.1 {
			t.Errorf("%v; %v", moderated, plain)
		}
	}
}

func TestAPatternThatVariesMostHidesNoLargeDifference(t *testing.T) {
	compared := func(question string, factor float64, holds func(PatternComparison) bool) simulation {
		return simulate(t, question, "4 patterns, 5 rounds, noise 0.2 %, of the first 2 %", 1000, func(seed uint64) bool {
			logs, r := table(seed, []float64{0, 0, 0, math.Log(factor)}, 5, 0.002), source(seed+1000)
			for j := range logs[0] {
				logs[0][j] += 0.02 * r.NormFloat64()
			}
			return holds(ComparePatterns(logs, 0.05))
		})
	}
	compared("a difference between any two of equal patterns is shown", 1, anyShown).atMost(0.05)
	compared("half as much of the last is shown", 0.5, func(c PatternComparison) bool { return c.Pairs[2].Adjusted <= 0.05 }).atLeast(0.99)
}

const falseOfLooks = "a difference between two equal patterns is shown at a look after any round from 6 on"

func TestLookingAfterEveryRoundMakesNoFalseAlarms(t *testing.T) {
	tier.SpendsSeconds(t)
	at := func(most int, design string, alpha float64) simulation {
		return simulate(t, falseOfLooks, design, 1000, func(seed uint64) bool {
			d := normals(source(seed), most, 0, 1)
			for n := FirstLook; n <= most; n++ {
				if _, _, p := oneLook(d[:n], 0.95); p <= alpha {
					return true
				}
			}
			return false
		})
	}
	for _, most := range []int{12, 30} {
		level, _ := LookLevel(most)
		looks := at(most, fmt.Sprintf("up to %d rounds, each look at %.2f %%", most, 100*level), level)
		looks.atMost(0.05)
		looks.atLeast(0.04)
	}
	at(12, "up to 12 rounds, each look at 5 % (not the rule)", 0.05).atLeast(0.1)
}

func TestAnEValueMayBeLookedAtForever(t *testing.T) {
	looks := func(question string, mean float64) simulation {
		return simulate(t, question, "e-value of 20 in 60 rounds", 1000, func(seed uint64) bool {
			d := normals(source(seed), 60, mean, 1)
			for n := 2; n <= len(d); n++ {
				if evidence(d[:n]) >= 20 {
					return true
				}
			}
			return false
		})
	}
	looks(falseOfLooks, 0).atMost(0.05)
	looks("a difference of one standard deviation is shown at a look after any round", 1).atLeast(0.95)
}

// A campaign that goes on until its interval is narrow stops at narrow ones by chance, too.
func TestIntervalsCoverTheMeanWhenTheyAreNarrowEnoughToStop(t *testing.T) {
	tier.SpendsSeconds(t)
	const firstLook, most, noise = 8, 40, 2.0 // in percent of the mean, 100
	for _, target := range []float64{0.75, 1, 1.5} {
		simulate(t, "the 95 % interval of one pattern contains its mean", fmt.Sprintf("rounds until it is ±%g %%, 8 to 40, noise 2 %%", target), 1000, func(seed uint64) bool {
			means := normals(source(seed), most, 100, noise)
			for n := firstLook; ; n++ {
				i := AutocorrelationAdjusted(means[:n], 0.95)
				if n == most || i.High-i.Low <= 2*target/100*i.Estimate {
					return i.Low <= 100 && 100 <= i.High
				}
			}
		}).atLeast(0.94)
	}
}

func TestFurtherRoundsAreAboutThoseNeeded(t *testing.T) {
	tier.SpendsSeconds(t)
	// At this spread 31 rounds are needed.
	sd := 0.0568
	if n := RoundsForPower(math.Log1p(0.03), sd, 0.8, 0.05); n != 31 {
		t.Fatalf("%d rounds are needed", n)
	}
	var likely []float64
	inside := simulate(t, "the range of further rounds contains the number that is needed", "12 rounds, 31 needed", 300, func(seed uint64) bool {
		got := furtherPaired(normals(source(seed), 12, 0, sd), 0.03, 0.05)
		likely = append(likely, float64(got.Likely+12))
		return got.Least <= 31-12 && 31-12 <= got.Most
	})
	if m := Median(likely); m < 28 || m > 34 {
		t.Errorf("the median is %g rounds", m)
	}
	inside.atLeast(0.6) // the limits are at 20 and 80 %
	inside.atMost(0.6)
}
