package stats

import (
	"fmt"
	"math"
	"slices"
	"soku/internal/measure"
	"testing"
)

// step is a rate that changes at a time in seconds.
func step(at, before, after float64) func(float64) float64 {
	return func(t float64) float64 {
		if t < at {
			return before
		}
		return after
	}
}

// autocorrelated multiplies a rate by noise of which each 100 ms keeps rho.
func autocorrelated(seed uint64, rho, size float64, rate func(float64) float64) func(float64) float64 {
	r := source(seed)
	noise := r.NormFloat64()
	return func(t float64) float64 {
		noise = rho*noise + math.Sqrt(1-rho*rho)*r.NormFloat64()
		return rate(t) * max(0, 1+size*noise)
	}
}

func TestLevelsOfTracesAreThoseOfTheReference(t *testing.T) {
	var file struct {
		About     string
		Tolerance float64
		Cases     []struct {
			Name    string
			Samples []float64 `json:"samples_100ms"`
			Cuts    []int     `json:"cuts_s"`
			Levels  []float64
		}
	}
	decodeVectors(t, "traces.json", &file)
	for _, c := range file.Cases {
		samples := make([]measure.Sample, len(c.Samples))
		for i, v := range c.Samples {
			samples[i] = measure.Sample{StartNs: int64(i) * 100 * ms, EndNs: int64(i+1) * 100 * ms, ReceivedBytes: int64(math.Round(v * 1e9))}
		}
		blocks, rates := levelBlocks(samples)
		if len(blocks) != len(samples)/10 || blocks[1] != 10 {
			t.Fatalf("%s: blocks begin at samples %v", c.Name, blocks)
		}
		var found division
		if all := levelDivisions(rates); len(all) > 0 {
			found = all[0]
		}
		if !slices.Equal(found.cuts, c.Cuts) {
			t.Errorf("%s: changes at %v, want %v", c.Name, found.cuts, c.Cuts)
			continue
		}
		parts := FindLevels(samples, 0, LossEvents{}).Parts
		if len(parts) != len(c.Cuts)+1 {
			t.Fatalf("%s: %d parts", c.Name, len(parts))
		}
		for i, cut := range c.Cuts {
			if away := math.Abs(seconds(parts[i].EndNs) - float64(cut)); away > 1.5 || parts[i].EndNs != parts[i+1].StartNs {
				t.Errorf("%s: change placed %.1f s from the block's limit; %+v", c.Name, away, parts)
			}
		}
		for i, level := range c.Levels {
			agree(t, c.Name+": level", parts[i].Bps, level*80e9, 1e-9)
		}
	}
}

func TestChangeOfLevelIsPlacedOnTheSamples(t *testing.T) {
	for _, at := range []float64{4, 4.3, 4.5, 4.8, 6.1} {
		rate := noisy(uint64(at*10), 0.03, step(at, 1e9, 7e8))
		// One sample just before the change is a dip, as BBR makes them.
		got := FindLevels(trace(12, func(s float64) float64 {
			if v := rate(s); s < at-0.5 || s > at-0.4 {
				return v
			}
			return 1e7
		}), 12_000*ms, LossEvents{})
		if len(got.Parts) != 2 || math.Abs(seconds(got.Parts[1].StartNs)-at) > 0.15 {
			t.Errorf("step at %.1f s: %+v", at, got)
		}
	}
}

func TestStaircaseHasALevelAStep(t *testing.T) {
	got := FindLevels(trace(40, noisy(8, 0.02, func(s float64) float64 { return 1e9 * (1 - 0.2*math.Floor(s/10)) })), 0, LossEvents{})
	if len(got.Parts) != 4 || got.Explained < 0.95 || got.Z < 7 {
		t.Errorf("four steps: %+v", got)
	}
}

func TestLevelsOfSamplesOfAnyWidth(t *testing.T) {
	for _, width := range []int64{50, 250, 300, 1000, 2000} {
		var samples []measure.Sample
		for at := int64(0); at < 60_000; at += width {
			samples = append(samples, measure.Sample{StartNs: at * ms, EndNs: (at + width) * ms, ReceivedBytes: int64(step(24_000, 2e6, 1e6)(float64(at))) * width})
		}
		got := FindLevels(samples, 60_000*ms, LossEvents{})
		if len(got.Parts) != 2 || math.Abs(seconds(got.Parts[1].StartNs)-24) > 0.3 || got.Parts[0].Bps != 16e9 || got.Parts[1].Bps != 8e9 {
			t.Errorf("samples of %d ms: %+v", width, got)
		}
	}
}

func TestBlocksAreWholeSamplesOfAboutASecond(t *testing.T) {
	for width, want := range map[int64][]int{99: {0, 10, 20}, 100: {0, 10, 20}, 101: {0, 10, 20}, 300: {0, 3, 6}, 700: {0, 1, 2}, 1500: {0, 1, 2}} {
		var samples []measure.Sample
		for i := range int64(40) {
			samples = append(samples, measure.Sample{StartNs: i * width * ms, EndNs: (i + 1) * width * ms, ReceivedBytes: width})
		}
		if first, _ := levelBlocks(samples); !slices.Equal(first[:3], want) {
			t.Errorf("samples of %d ms: blocks begin at %v, want %v", width, first[:3], want)
		}
	}
	half := trace(9.4, flat)
	if first, _ := levelBlocks(half); len(first) != 9 {
		t.Errorf("9.4 s: %d blocks", len(first))
	}
	half = trace(9.5, flat)
	if first, _ := levelBlocks(half); len(first) != 10 {
		t.Errorf("9.5 s: %d blocks", len(first))
	}
}

func TestLevelsOfLongTrialsAreFound(t *testing.T) {
	samples := make([]measure.Sample, 86_400)
	for i := range samples {
		samples[i] = measure.Sample{StartNs: int64(i) * 1000 * ms, EndNs: int64(i+1) * 1000 * ms, ReceivedBytes: int64(step(30_000, 2e6, 1e6)(float64(i)))}
	}
	got := FindLevels(samples, 0, LossEvents{})
	if len(got.Parts) != 2 || math.Abs(seconds(got.Parts[1].StartNs)-30_000) > 90 {
		t.Errorf("a day: %+v", got)
	}
	if blocks, _ := levelBlocks(samples); len(blocks) > mostLevelBlocks*11/10 {
		t.Errorf("a day has %d blocks", len(blocks))
	}
}

func TestTooFewBlocksHaveOneLevel(t *testing.T) {
	if got := FindLevels(nil, 0, LossEvents{}); len(got.Parts) != 0 {
		t.Errorf("no samples: %+v", got)
	}
	for _, length := range []float64{0.3, 1, 7} {
		got := FindLevels(trace(length, step(math.Round(length/2), 1e9, 1e8)), 0, LossEvents{})
		if len(got.Parts) != 1 || got.Parts[0].EndNs != int64(math.Round(length*10))*100*ms {
			t.Errorf("%.1f s: %+v", length, got)
		}
	}
	if got := FindLevels(trace(20, func(float64) float64 { return 0 }), 0, LossEvents{}); len(got.Parts) != 1 || got.Parts[0].Bps != 0 {
		t.Errorf("nothing arrived: %+v", got)
	}
}

// lossesAt are losses of which the time is known.
func lossesAt(times ...int64) (out []LossSpan) {
	for _, at := range times {
		out = append(out, LossSpan{at, at})
	}
	return out
}

func TestDropThatALossExplainsIsNoLevel(t *testing.T) {
	cubic := func(at ...int64) LossEvents { return LossEvents{Within: lossesAt(at...), Keeps: 0.7} }
	within := func(from, to int64) LossEvents { return LossEvents{Within: []LossSpan{{from, to}}, Keeps: 0.7} }
	for name, c := range map[string]struct {
		before, after float64
		losses        LossEvents
		levels        int
		atLoss        bool
	}{
		"drop to 0.72 at a loss":          {1e9, 7.2e8, cubic(1e9, 5.2e9), 1, true},
		"drop to 0.72, loss elsewhere":    {1e9, 7.2e8, cubic(1e9, 9e9), 2, false},
		"drop to 0.72 without losses":     {1e9, 7.2e8, LossEvents{}, 2, false},
		"drop to 0.3 at a loss":           {1e9, 3e8, cubic(5.2e9), 2, false},
		"rise at a loss":                  {7.2e8, 1e9, cubic(5.2e9), 2, false},
		"drop to 0.55 at a loss of Reno":  {1e9, 5.5e8, LossEvents{Within: lossesAt(5e9), Keeps: 0.5}, 1, true},
		"loss anywhere around the drop":   {1e9, 7.2e8, within(1e9, 9e9), 1, true},
		"loss some time before the drop":  {1e9, 7.2e8, within(1e9, 3e9), 2, false},
		"loss some time after the drop":   {1e9, 7.2e8, within(7e9, 9e9), 2, false},
		"drop to 0.55 at a loss of CUBIC": {1e9, 5.5e8, cubic(5e9), 2, false},
	} {
		got := FindLevels(trace(12, noisy(5, 0.01, step(5, c.before, c.after))), 0, c.losses)
		if len(got.Parts) != c.levels || got.AtLoss != c.atLoss {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

const falseLevels = "two levels are found in a trial that has one"

func TestSawtoothOfOneFlowHasOneLevel(t *testing.T) {
	found := func(design string, length, keeps float64) simulation {
		return simulate(t, falseLevels, design, 300, func(seed uint64) bool {
			// CUBIC falls to 0.7 at a loss and is back at 1 before the next one.
			period := 5 + 35*source(seed).Float64()
			first := period * source(seed+1).Float64()
			var losses []int64
			for at := first; at < length; at += period {
				losses = append(losses, int64(at*1e9))
			}
			rate := noisy(seed, 0.03, func(s float64) float64 {
				return 1e8 * (1 + 0.3*math.Pow(math.Mod(s-first+period, period)/period-1, 3))
			})
			return len(FindLevels(trace(length, rate), 0, LossEvents{Within: lossesAt(losses...), Keeps: keeps}).Parts) > 1
		})
	}
	found("sawtooth of one CUBIC flow, 10 s, losses known", 10, 0.7).atMost(0)
	found("sawtooth of one CUBIC flow, 60 s, losses not known", 60, 0).atMost(0.005)
}

// levelsFound simulates trials in which more than one level is found.
func levelsFound(t *testing.T, question, design string, length float64, rate func(seed uint64) func(float64) float64) simulation {
	return simulate(t, question, fmt.Sprintf("%s, %v s", design, length), 300, func(seed uint64) bool {
		return len(FindLevels(trace(length, rate(seed)), 0, LossEvents{}).Parts) > 1
	})
}

func TestVaryingRatesHaveOneLevel(t *testing.T) {
	for name, c := range map[string]struct {
		rate func(seed uint64) func(float64) float64
		most float64
	}{
		"noise of 10 %, r = 0.9 after 0.1 s":  {func(seed uint64) func(float64) float64 { return autocorrelated(seed, 0.9, 0.1, flat) }, 0.01},
		"noise of 10 %, r = 0.98 after 0.1 s": {func(seed uint64) func(float64) float64 { return autocorrelated(seed, 0.98, 0.1, flat) }, 0.01},
		"ramp": {func(seed uint64) func(float64) float64 {
			return noisy(seed, 0.02, func(s float64) float64 { return 1e8 * (1 - 0.01*s) })
		}, 0},
		"BBR's dips": {func(seed uint64) func(float64) float64 {
			return noisy(seed, 0.03, func(s float64) float64 {
				if at := math.Mod(s+float64(seed%100)/10, 10); at < 0.2 {
					return 5e6
				}
				return 1e8
			})
		}, 0},
		"stalls of a second": {func(seed uint64) func(float64) float64 {
			return noisy(seed, 0.03, func(s float64) float64 {
				if at := 2 + float64(seed%70)/10; s >= at && s < at+1 {
					return 0
				}
				return 1e8
			})
		}, 0.02}, // one that ends half a second before the trial may look like a level
	} {
		for _, length := range []float64{10, 30} {
			levelsFound(t, falseLevels, name, length, c.rate).atMost(c.most)
		}
	}
}

func TestLastingDropsAreFound(t *testing.T) {
	// Anywhere between a fifth and four fifths, with autocorrelated noise.
	for length, least := range map[float64]float64{10: 0.8, 25: 0.98, 60: 0.98} {
		levelsFound(t, "two levels are found in a trial that has two", "drop by 40 %, noise of 8 %", length, func(seed uint64) func(float64) float64 {
			return autocorrelated(seed, 0.7, 0.08, step(length*(0.2+0.6*float64(seed%300)/300), 1e8, 6e7))
		}).atLeast(least)
	}
}
