package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// runSweep takes every step of a sweep of levels 1, 2, 4, ... and returns the levels that
// had trials, in order.
func runSweep(t *testing.T, levels int, measured func(level int) float64) ([]int, []SweepTrial, Knee) {
	t.Helper()
	var visited []int
	var trials []SweepTrial
	for range levels + 10 {
		step := UsualSweep(levels).Next(trials)
		if step.Next < 0 {
			return visited, trials, step.Knee
		}
		visited = append(visited, step.Next)
		trials = append(trials, SweepTrial{Level: step.Next, Value: measured(step.Next)})
	}
	t.Fatalf("the sweep does not end: %v", visited)
	return nil, nil, Knee{}
}

func TestSweepDoublesUntilItIsFlatAndMeasuresAgainAroundTheBest(t *testing.T) {
	values := []float64{10, 20, 40, 80, 100, 101, 101, 101}
	visited, trials, knee := runSweep(t, len(values), func(level int) float64 { return values[level] })
	// Levels 5 and 6 do not beat level 4 by 2 %; 5 was the highest.
	want := []int{0, 1, 2, 3, 4, 5, 6, 4, 5, 6, 5, 6, 4, 6, 4, 5}
	if !slices.Equal(visited, want) {
		t.Errorf("visited %v, want %v", visited, want)
	}
	if knee.Level != 4 || knee.Best != 5 || knee.Rising || math.Abs(knee.Plateau-302.0/3) > 1e-12 {
		t.Errorf("got %+v", knee)
	}
	// A journal may return the trials in another order.
	slices.SortStableFunc(trials, func(a, b SweepTrial) int { return b.Level - a.Level })
	if again := UsualSweep(len(values)).Next(trials); again.Next != -1 || again.Knee != knee {
		t.Errorf("in another order: %+v", again)
	}
}

func TestPlateauIsOfFreshTrialsOnly(t *testing.T) {
	seen := map[int]int{}
	_, _, knee := runSweep(t, 8, func(level int) float64 {
		if seen[level]++; level == 3 && seen[level] == 1 {
			return 120 // one lucky trial
		}
		return min(100, 25*float64(level+1))
	})
	if knee.Plateau != 100 || knee.Level != 3 {
		t.Errorf("got %+v", knee)
	}
}

func TestSweepThatStillRisesAtItsEndIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		rising bool
		trials int
	}{
		"rising":           {[]float64{1, 2, 4, 8}, true, 4 + 6},
		"flat at the end":  {[]float64{1, 2, 4, 4}, false, 4 + 9},
		"falling":          {[]float64{4, 2, 1, 0.5}, false, 3 + 6},
		"one level":        {[]float64{4}, true, 1 + 3},
		"two levels, flat": {[]float64{4, 4}, false, 2 + 6},
	} {
		visited, _, knee := runSweep(t, len(c.values), func(level int) float64 { return c.values[level] })
		if knee.Rising != c.rising || len(visited) != c.trials {
			t.Errorf("%s: %v, %+v", name, visited, knee)
		}
	}
}

func TestFailedTrialsOfASweepAreNoImprovementAndAreNotRepeated(t *testing.T) {
	nan := math.NaN()
	visited, _, knee := runSweep(t, 8, func(int) float64 { return nan })
	if !slices.Equal(visited, []int{0, 1}) || knee.Level != -1 || knee.Best != -1 || !math.IsNaN(knee.Plateau) || knee.Rising {
		t.Errorf("all failed: %v, %+v", visited, knee)
	}
	// From 16 up a server refuses.
	visited, _, knee = runSweep(t, 8, func(level int) float64 {
		if level > 3 {
			return nan
		}
		return 10 * float64(level+1)
	})
	if len(visited) != 6+9 || knee.Level != 3 || knee.Plateau != 40 {
		t.Errorf("the upper levels fail: %v, %+v", visited, knee)
	}
	// The first level fails, the others work.
	_, _, knee = runSweep(t, 8, func(level int) float64 {
		if level == 0 {
			return nan
		}
		return 40
	})
	if knee.Level != 1 || knee.Plateau != 40 {
		t.Errorf("the first level fails: %+v", knee)
	}
	// Everything fails after the search.
	count := 0
	_, _, knee = runSweep(t, 3, func(int) float64 {
		if count++; count > 3 {
			return nan
		}
		return 40
	})
	if knee.Level != -1 || !math.IsNaN(knee.Plateau) {
		t.Errorf("all fresh trials fail: %+v", knee)
	}
}

func TestSweepsFindPlateauAndKnee(t *testing.T) {
	const levels, sweeps = 8, 400
	for name, curve := range map[string]func(streams float64) float64{
		"a cap at 8":            func(n float64) float64 { return min(1, n/8) },
		"a cap at 20":           func(n float64) float64 { return min(1, n/20) },
		"slow saturation":       func(n float64) float64 { return 1 - math.Exp(-n/6) },
		"hyperbola":             func(n float64) float64 { return n / (n + 2) },
		"decline past the peak": func(n float64) float64 { return min(1, n/8) * min(1, math.Pow(16/n, 0.3)) },
		"flat from one on":      func(float64) float64 { return 1 },
	} {
		truth := make([]float64, levels)
		for i := range truth {
			truth[i] = curve(math.Exp2(float64(i)))
		}
		best := slices.Max(truth)
		knee := slices.IndexFunc(truth, func(v float64) bool { return v >= kneeShare*best })
		squares, found, trials := 0.0, 0, 0
		for seed := range uint64(sweeps) {
			r := source(seed)
			visited, _, got := runSweep(t, levels, func(level int) float64 { return truth[level] * math.Exp(0.03*r.NormFloat64()) })
			squares += square(got.Plateau/best - 1)
			trials += len(visited)
			if got.Level >= knee-1 && got.Level <= knee+1 {
				found++
			}
		}
		rms, within, average := math.Sqrt(squares/sweeps), float64(found)/sweeps, float64(trials)/sweeps
		t.Logf("%-22s plateau %.1f %% RMS, knee within one level %.0f %%, %.1f trials", name, rms*100, within*100, average)
		if rms > 0.055 || within < 0.8 || average > 17 {
			t.Errorf("%s: plateau %.1f %% RMS, knee within one level in %.0f %%, %.1f trials", name, rms*100, within*100, average)
		}
	}
}

func TestGainAndTurnsOfASweepAreChosen(t *testing.T) {
	values := []float64{10, 20, 40, 43, 46, 49, 49, 49}
	for _, c := range []struct {
		gain   float64
		turns  int
		search []int
		fresh  int
	}{
		{0.02, 3, []int{0, 1, 2, 3, 4, 5, 6, 7}, 9},
		{0.07, 3, []int{0, 1, 2, 3, 4, 5}, 9}, // 46 is 6.98 % above 43, 49 is 6.5 % above 46
		{0.30, 3, []int{0, 1, 2, 3, 4}, 9},
		{0.30, 1, []int{0, 1, 2, 3, 4}, 3},
		{0.30, 0, []int{0, 1, 2, 3, 4}, 0},
	} {
		s := Sweep{Levels: len(values), Gain: c.gain, Turns: c.turns}
		fewest, most := s.Trials()
		var trials []SweepTrial
		step := s.Next(trials)
		for ; step.Next >= 0; step = s.Next(trials) {
			if n := len(trials); n < len(c.search) && (step.Next != c.search[n] || step.Most != most) {
				t.Errorf("%+v: trial %d is of level %d, of at most %d, want level %d, of %d", s, n, step.Next, step.Most, c.search[n], most)
			}
			trials = append(trials, SweepTrial{Level: step.Next, Value: values[step.Next]})
		}
		if len(trials) != len(c.search)+c.fresh || step.Most != len(trials) || len(trials) < fewest || len(trials) > most {
			t.Errorf("%+v took %d trials (%d to %d were possible), said %d, want %d and %d", s, len(trials), fewest, most, step.Most, len(c.search), c.fresh)
		}
	}
}

func TestKneeOfMeasuredLevelsFollowsTheRuleOfASweep(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		rounds [][]float64
		want   Knee
		low    float64
	}{
		"flat end":    {[][]float64{{25, 26}, {50, 52}, {96, 98}, {100, 102}, {99, 101}}, Knee{Level: 2, Best: 3, Plateau: 100.5}, 87.79},
		"rising":      {[][]float64{{10, 10}, {20, 20}, {40, 41}}, Knee{Level: 2, Best: 2, Plateau: 40.5, Rising: true}, 34.14},
		"one round":   {[][]float64{{10}, {20}, {20.1}}, Knee{Level: 1, Best: 2, Plateau: 20.05}, nan},
		"gaps":        {[][]float64{{nan, 10}, {}, {20, nan}, {20, 22}}, Knee{Level: 2, Best: 3, Plateau: math.Sqrt(20 * 22), Rising: true}, 8.27},
		"flat at all": {[][]float64{{20, 20}, {20, 20}, {20, 20}}, Knee{Level: 0, Best: 0, Plateau: 20}, 20},
		"nothing":     {[][]float64{{nan}, {}}, Knee{Level: -1, Best: -1, Plateau: nan}, nan},
	} {
		same := func(a, b float64) bool { return math.Abs(a-b) < 0.01 || math.IsNaN(a) && math.IsNaN(b) }
		k, plateau := KneeOf(c.rounds)
		if k.Level != c.want.Level || k.Best != c.want.Best || k.Rising != c.want.Rising || !same(k.Plateau, c.want.Plateau) || !same(plateau.Estimate, k.Plateau) || !same(plateau.Low, c.low) {
			t.Errorf("%s: %+v, %+v", name, k, plateau)
		}
	}
}

// The plateau of noisy levels holds the truth about as often as its interval says, and the
// knee is within one level.
func TestKneeOfNoisyLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const sweeps = 400
	held, near := 0, 0
	for range sweeps {
		rounds := make([][]float64, 7)
		for i := range rounds {
			for range 8 {
				rounds[i] = append(rounds[i], min(100, 13*math.Exp2(float64(i)))*math.Exp(0.01*r.NormFloat64()))
			}
		}
		k, plateau := KneeOf(rounds)
		if plateau.Low <= 100 && 100 <= plateau.High {
			held++
		}
		if k.Level >= 2 && k.Level <= 4 {
			near++
		}
	}
	if held < sweeps*90/100 || near < sweeps*99/100 {
		t.Errorf("the interval held %d times of %d, the knee was near %d times", held, sweeps, near)
	}
}

// Of every number of levels and every highest one that holds, it is found in as many trials as a
// bisection takes, and measured once more in each turn.
func TestABisectionFindsTheHighestLevelThatHolds(t *testing.T) {
	for levels := 1; levels <= 33; levels++ {
		for highest := -1; highest < levels; highest++ {
			s := Sweep{Levels: levels, Turns: 3, Bisect: true}
			fewest, most := s.Trials()
			var trials []SweepTrial
			step := s.Next(trials)
			for ; step.Next >= 0 && len(trials) <= most; step = s.Next(trials) {
				value := 0.0
				if step.Next <= highest {
					value = 1
				}
				trials = append(trials, SweepTrial{Level: step.Next, Value: value})
				if len(trials) > step.Most {
					t.Errorf("%d levels, highest %d: %d trials, at most %d were announced", levels, highest, len(trials), step.Most)
				}
			}
			for _, last := range trials[len(trials)-s.Turns:] {
				if last.Level != max(highest, 0) {
					t.Errorf("%d levels, highest %d: %v", levels, highest, trials)
				}
			}
			if len(trials) < fewest || len(trials) > most || step.Most != len(trials) {
				t.Errorf("%d levels, highest %d: %d trials, want %d to %d, %d announced", levels, highest, len(trials), fewest, most, step.Most)
			}
			slices.SortStableFunc(trials, func(a, b SweepTrial) int { return b.Level - a.Level })
			if again := s.Next(trials); again.Next >= 0 {
				t.Errorf("%d levels, highest %d: in another order level %d is next", levels, highest, again.Next)
			}
		}
	}
}

// A level that fails in a turn leaves its place to the one below.
func TestABisectionGoesDownWhereALevelFails(t *testing.T) {
	s := Sweep{Levels: 7, Turns: 4, Bisect: true}
	var trials []SweepTrial
	var visited []int
	for step := s.Next(nil); step.Next >= 0; step = s.Next(trials) {
		visited = append(visited, step.Next)
		value := 1.0
		if step.Next > 4 || step.Next == 4 && len(trials) > 3 { // it held once
			value = 0
		}
		trials = append(trials, SweepTrial{Level: step.Next, Value: value})
	}
	if want := []int{3, 5, 4, 4, 4, 3, 3}; !slices.Equal(visited, want) {
		t.Errorf("visited %v, want %v", visited, want)
	}
}
