package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"soku/test/tier"
)

// Shares of simulated campaigns, whose bounds a right rule fails one time in 10,000.
const (
	mostFalseOf1000 = 0.077 // true 5 %
	mostFalseOf2000 = 0.069
	leastPower2000  = 0.882 // true 90.7 %
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
	sd := noise * math.Sqrt2
	shown := func(mean float64, decided ...Decision) float64 {
		return share(2000, func(seed uint64) bool {
			return slices.Contains(decided, compareLogs(normals(source(seed), 12, mean, sd), 0.03).Decision)
		})
	}
	different := func(mean float64) float64 {
		return share(2000, func(seed uint64) bool {
			return PairedT(normals(source(seed), 12, mean, sd), 0.95).P <= 0.05
		})
	}
	margin := math.Log1p(0.03)
	if got := different(0); got > mostFalseOf2000 || got < 0.03 {
		t.Errorf("%.1f %% false alarms", 100*got)
	}
	if got := different(margin); got < leastPower2000 {
		t.Errorf("a difference of 3 %% is shown in %.1f %%", 100*got)
	}
	if got := shown(margin, Same); got > mostFalseOf2000 {
		t.Errorf("a difference of the threshold is the same in %.1f %%", 100*got)
	}
	if got := shown(0, Same); got < leastPower2000 {
		t.Errorf("equal patterns are the same in %.1f %%", 100*got)
	}
	if got := shown(0, Better, Worse); got > mostFalseOf2000 {
		t.Errorf("equal patterns differ in %.1f %%", 100*got)
	}
}

func TestDriftThatPatternsShareMakesNoFalseAlarms(t *testing.T) {
	got := share(2000, func(seed uint64) bool {
		logs := table(seed, []float64{0, 0}, 12, 0.02)
		return PairedT(LogRatios(logs[0], logs[1]), 0.95).P <= 0.05
	})
	if got > mostFalseOf2000 {
		t.Errorf("%.1f %% false alarms", 100*got)
	}
}

// anyShown reports whether a comparison of equal patterns shows a difference.
func anyShown(c PatternComparison) bool {
	return slices.ContainsFunc(c.Pairs, func(p PatternPair) bool { return p.Adjusted <= 0.05 })
}

func TestFalseAlarmsOfTenPatterns(t *testing.T) {
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
		best := 0
		got := share(1000, func(seed uint64) bool {
			logs := table(seed, equal, 12, 0.02)
			change(source(seed+1000), logs)
			c := ComparePatterns(logs, 0.05)
			if !c.Moderated {
				t.Fatal("not moderated")
			}
			if !slices.Contains(c.Best, 0) {
				best++
			}
			return anyShown(c)
		})
		if got > mostFalseOf1000 {
			t.Errorf("%s: a false difference in %.1f %%", name, 100*got)
		}
		if lost := float64(best) / 1000; lost > mostFalseOf1000 {
			t.Errorf("%s: one of the best is not among them in %.1f %%", name, 100*lost)
		}
	}
}

func TestModeratedVariancesShowMoreOfManyPatterns(t *testing.T) {
	effects := make([]float64, 10)
	effects[9] = math.Log1p(0.03)
	moderated, plain := 0.0, 0.0
	for seed := range uint64(400) {
		logs := table(seed, effects, 12, 0.02)
		for _, p := range ComparePatterns(logs, 0.05).Pairs {
			if p.B == 9 && p.Adjusted <= 0.05 {
				moderated++
			}
		}
		c := pairContrasts(logs)
		c.plain()
		adjusted := HolmAdjusted(c.p())
		for i, pair := 0, 0; i < 10; i++ {
			for j := i + 1; j < 10; j++ {
				if j == 9 && adjusted[pair] <= 0.05 {
					plain++
				}
				pair++
			}
		}
	}
	if moderated, plain = moderated/3600, plain/3600; moderated < 0.5 || moderated < plain+0.1 {
		t.Errorf("3 %% are shown in %.1f %% of pairs, without moderation in %.1f %%", 100*moderated, 100*plain)
	}
}

func TestLookingAfterEveryRoundMakesNoFalseAlarms(t *testing.T) {
	tier.SpendsSeconds(t)
	level, _ := LookLevel(12)
	at := func(alpha float64) float64 {
		return share(2000, func(seed uint64) bool {
			d := normals(source(seed), 12, 0, 1)
			for n := FirstLook; n <= 12; n++ {
				if PairedT(d[:n], 0.95).P <= alpha {
					return true
				}
			}
			return false
		})
	}
	if got := at(level); got > mostFalseOf2000 || got < 0.03 {
		t.Errorf("%.1f %% false alarms", 100*got)
	}
	if got := at(0.05); got < 0.1 {
		t.Errorf("only %.1f %% false alarms at 5 %% each time", 100*got)
	}
}

func TestAnEValueMayBeLookedAtForever(t *testing.T) {
	alarms := func(mean float64) float64 {
		return share(1000, func(seed uint64) bool {
			d := normals(source(seed), 60, mean, 1)
			for n := 2; n <= len(d); n++ {
				if EValue(d[:n], 1) >= 20 {
					return true
				}
			}
			return false
		})
	}
	if got := alarms(0); got > mostFalseOf1000 {
		t.Errorf("%.1f %% false alarms", 100*got)
	}
	if got := alarms(1); got < 0.95 {
		t.Errorf("a difference of one standard deviation is shown in %.1f %%", 100*got)
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
	inside := share(300, func(seed uint64) bool {
		got, _ := Further(normals(source(seed), 12, 0, sd), 0.03)
		likely = append(likely, float64(got.Likely+12))
		return got.Least <= 31-12 && 31-12 <= got.Most
	})
	if m := Median(likely); m < 28 || m > 34 {
		t.Errorf("the median is %g rounds", m)
	}
	if inside < 0.49 || inside > 0.71 { // true 60 %: the limits are at 20 and 80 %
		t.Errorf("the range holds it in %.1f %%", 100*inside)
	}
}
