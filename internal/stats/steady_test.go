package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

const ms = int64(1e6)

// trace makes 100 ms samples of a trial from a rate in bytes a second at each
// time in seconds.
func trace(seconds float64, rate func(t float64) float64) []measure.Sample {
	var out []measure.Sample
	for i := range int(math.Round(seconds * 10)) {
		from := int64(i) * 100 * ms
		out = append(out, measure.Sample{StartNs: from, EndNs: from + 100*ms, ReceivedBytes: int64(rate(float64(i)/10+0.05) / 10)})
	}
	return out
}

func flat(float64) float64 { return 1e8 }

// noisy multiplies a rate by gaussian noise of the given relative size.
func noisy(seed uint64, size float64, rate func(float64) float64) func(float64) float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(t float64) float64 { return rate(t) * max(0, 1+size*r.NormFloat64()) }
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

func wantRate(t *testing.T, got Steady, bytesPerSecond, tolerance float64) {
	t.Helper()
	if r := got.Bps() / 8; math.Abs(r/bytesPerSecond-1) > tolerance {
		t.Errorf("rate %.4g bytes/s, want %.4g within %.1f %%; %+v", r, bytesPerSecond, tolerance*100, got)
	}
}

func wantConfidence(t *testing.T, got Steady, want measure.Confidence) {
	t.Helper()
	if got.Confidence != want {
		t.Errorf("confidence %s (%s), want %s", got.Confidence, got.Reason, want)
	}
}

func TestConstantRateIsSteadyFromTheStart(t *testing.T) {
	got := SteadyState(trace(10, flat), 10_000*ms)
	wantConfidence(t, got, measure.High)
	if got.StartNs != 0 || got.EndNs != 10_000*ms || got.Bytes != 1e9 {
		t.Errorf("got %+v, want the whole trial", got)
	}
}

func TestSlowStartIsLeftOut(t *testing.T) {
	for _, ramp := range []float64{0.3, 0.8, 2, 4} {
		got := SteadyState(trace(10, noisy(3, 0.02, func(s float64) float64 {
			return 1e8 * min(1, math.Exp2(8*(s-ramp)/ramp)) // doubles eight times until ramp
		})), 10_000*ms)
		wantConfidence(t, got, measure.High)
		wantRate(t, got, 1e8, 0.01)
		if s := seconds(got.StartNs); s < ramp*0.75 || s > ramp+1 {
			t.Errorf("ramp of %.1f s: steady from %.1f s", ramp, s)
		}
	}
}

func TestBurstOfATokenBucketIsLeftOut(t *testing.T) {
	// Steady at ten times the rate for 3 s: the moving averages alone would
	// call this stable from the first interval on.
	got := SteadyState(trace(10, noisy(4, 0.02, func(s float64) float64 {
		if s < 3 {
			return 1e9
		}
		return 1e8
	})), 10_000*ms)
	wantConfidence(t, got, measure.High)
	wantRate(t, got, 1e8, 0.01)
}

func TestBurstLongerThanHalfTheTrialIsNotSteady(t *testing.T) {
	got := SteadyState(trace(10, func(s float64) float64 {
		if s < 6 {
			return 1e9
		}
		return 1e8
	}), 10_000*ms)
	wantConfidence(t, got, measure.Medium)
	if change, _ := got.Reason.Number("change_ratio"); got.Reason.Code != finding.RateShifted || change < 0.3 || change > 0.9 {
		t.Errorf("reason %+v does not report the change", got.Reason)
	}
}

func TestStepInTheSecondHalfIsNotSteady(t *testing.T) {
	got := SteadyState(trace(10, noisy(5, 0.01, func(s float64) float64 {
		if s > 7 {
			return 0.7e8
		}
		return 1e8
	})), 10_000*ms)
	wantConfidence(t, got, measure.Medium)
}

func TestSlowDeclineIsNotSteady(t *testing.T) {
	got := SteadyState(trace(30, func(s float64) float64 { return 1e8 * (1 - 0.01*s) }), 30_000*ms)
	wantConfidence(t, got, measure.Medium)
}

func TestModerateNoiseIsSteadyAndUnbiased(t *testing.T) {
	var rates []float64
	high := 0
	for seed := range uint64(200) {
		got := SteadyState(trace(10, noisy(seed, 0.08, flat)), 10_000*ms)
		rates = append(rates, got.Bps()/8)
		if got.Confidence == measure.High {
			high++
		}
	}
	if high < 190 {
		t.Errorf("noise of 8 %% a sample is steady in %d of 200 trials only", high)
	}
	if m := Mean(rates); math.Abs(m/1e8-1) > 0.002 {
		t.Errorf("mean over trials %.5g, want 1e8: the choice of the start biases the rate", m)
	}
}

func TestHeavyNoiseIsMediumAndUnbiased(t *testing.T) {
	var rates []float64
	medium := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		level := 1.0
		got := SteadyState(trace(10, func(float64) float64 { // wanders, with a memory of about a second
			level = 1 + 0.9*(level-1) + 0.15*r.NormFloat64()
			return 1e8 * max(0, level)
		}), 10_000*ms)
		rates = append(rates, got.Bps()/8)
		if got.Confidence == measure.Medium {
			medium++
		}
	}
	if medium < 190 {
		t.Errorf("a rate that wanders by 34 %% is medium in %d of 200 trials only", medium)
	}
	if m := Mean(rates); math.Abs(m/1e8-1) > 0.03 {
		t.Errorf("mean over trials %.5g, want 1e8", m)
	}
}

func TestNoisySlowStartIsTruncatedEvenWhenNotSteady(t *testing.T) {
	var rates []float64
	for seed := range uint64(50) {
		got := SteadyState(trace(10, noisy(seed, 0.4, func(s float64) float64 {
			if s < 2 {
				return 1e6
			}
			return 1e8
		})), 10_000*ms)
		rates = append(rates, got.Bps()/8)
	}
	if m := Mean(rates); m < 0.96e8 {
		t.Errorf("mean rate %.3g: the start still counts", m)
	}
}

func TestStallIsNotSteadyButCounts(t *testing.T) {
	got := SteadyState(trace(10, func(s float64) float64 {
		if s > 6 && s < 7 {
			return 0
		}
		return 1e8
	}), 10_000*ms)
	wantConfidence(t, got, measure.Medium)
	wantRate(t, got, 0.85e8, 0.06) // between 0.8 (half of the trial left out) and 0.9
}

func TestFewIntervalsHaveLowConfidenceAndAllCount(t *testing.T) {
	got := SteadyState(trace(0.7, flat), 700*ms)
	wantConfidence(t, got, measure.Low)
	if got.StartNs != 0 || got.EndNs != 700*ms || got.Bytes != 7e7 {
		t.Errorf("got %+v", got)
	}
	wantConfidence(t, SteadyState(trace(0.8, flat), 800*ms), measure.High)
}

func TestNothingToCount(t *testing.T) {
	for name, samples := range map[string][]measure.Sample{
		"none": nil, "no width": {{StartNs: 5, EndNs: 5, ReceivedBytes: 9}}, "all after the end": {{StartNs: 20e9, EndNs: 21e9, ReceivedBytes: 9}},
		"silence": trace(10, func(float64) float64 { return 0 }),
	} {
		got := SteadyState(samples, 10_000*ms)
		if got.Confidence != measure.Low || got.Bps() != 0 || got.Reason.Code == "" || got.EndNs <= got.StartNs {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := SteadyState(nil, 0); got.Bps() != 0 {
		t.Errorf("rate of nothing: %v", got.Bps())
	}
}

func TestDrainAfterTheEndDoesNotCount(t *testing.T) {
	samples := trace(12, func(s float64) float64 {
		if s > 10 {
			return 2e7
		}
		return 1e8
	})
	got := SteadyState(samples, 10_000*ms)
	if got.EndNs != 10_000*ms {
		t.Errorf("ends at %.2f s", seconds(got.EndNs))
	}
	wantRate(t, got, 1e8, 0.0001)
}

func TestPartialFirstAndLastSamples(t *testing.T) {
	// 37 ms at first, 61 ms at last, each with its share of bytes; the last
	// crosses the nominal end by less than half and stays whole.
	samples := []measure.Sample{{StartNs: 0, EndNs: 37 * ms, ReceivedBytes: 3_700_000}}
	at := 37 * ms
	for at < 9900*ms {
		samples = append(samples, measure.Sample{StartNs: at, EndNs: at + 100*ms, ReceivedBytes: 10_000_000})
		at += 100 * ms
	}
	samples = append(samples, measure.Sample{StartNs: at, EndNs: at + 61*ms, ReceivedBytes: 6_100_000})
	got := SteadyState(samples, at+40*ms)
	wantConfidence(t, got, measure.High)
	wantRate(t, got, 1e8, 1e-9)
	if got.StartNs != 0 || got.EndNs != at+61*ms {
		t.Errorf("window %.3f..%.3f s", seconds(got.StartNs), seconds(got.EndNs))
	}
}

func TestUnevenWidthsAreWeightedByTime(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	var samples []measure.Sample
	for at := int64(0); at < 10_000*ms; {
		width := 20*ms + r.Int64N(300*ms)
		speed := 1e8
		if at < 1500*ms {
			speed = 2e7
		}
		samples = append(samples, measure.Sample{StartNs: at, EndNs: at + width, ReceivedBytes: int64(speed * seconds(width))})
		at += width
	}
	got := SteadyState(samples, 10_000*ms)
	wantConfidence(t, got, measure.High)
	wantRate(t, got, 1e8, 0.001)
}

func TestGapsBetweenSamplesAreSilence(t *testing.T) {
	samples := slices.DeleteFunc(trace(10, flat), func(s measure.Sample) bool { return s.StartNs >= 8000*ms && s.StartNs < 9000*ms })
	got := SteadyState(samples, 10_000*ms)
	wantConfidence(t, got, measure.Medium)
	if got.Bps()/8 > 0.91e8 {
		t.Errorf("rate %.3g: a second of silence does not count", got.Bps()/8)
	}
}

func TestSamplesThatStopEarlyAreNotHigh(t *testing.T) {
	wantConfidence(t, SteadyState(trace(6, flat), 10_000*ms), measure.Medium)
}

func TestOrderAndOverlapsDoNotMatter(t *testing.T) {
	samples := trace(10, noisy(9, 0.05, flat))
	want := SteadyState(samples, 10_000*ms)
	shuffled := slices.Clone(samples)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	shuffled = append(shuffled, samples[17], samples[99]) // sent twice
	if got := SteadyState(shuffled, 10_000*ms); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLongTrialsAreJudgedAtTheirOwnScale(t *testing.T) {
	got := SteadyState(trace(600, noisy(10, 0.3, flat)), 600_000*ms)
	wantConfidence(t, got, measure.High) // 30 % a sample is 2 % a tenth of the trial
	wantRate(t, got, 1e8, 0.02)
}

// FuzzSteadyState holds what is true of any input: at least half of the usable
// time stays, the bytes are those of the window, nothing panics.
func FuzzSteadyState(f *testing.F) {
	f.Add(int64(10_000), uint64(1), uint8(100))
	f.Add(int64(0), uint64(2), uint8(8))
	f.Fuzz(func(t *testing.T, endMs int64, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, 0))
		var samples []measure.Sample
		at := int64(0)
		for range n {
			width := r.Int64N(200*ms) - 10*ms
			samples = append(samples, measure.Sample{StartNs: at, EndNs: at + width, ReceivedBytes: r.Int64N(1 << 30)})
			at += max(width, 0) + r.Int64N(2)*r.Int64N(50*ms)
		}
		got := SteadyState(samples, endMs%100_000*ms)
		if got.EndNs < got.StartNs || got.Reason.Code == "" || math.IsNaN(got.Bps()) || math.IsInf(got.Bps(), 0) {
			t.Fatalf("%+v", got)
		}
		used := usable(samples, endMs%100_000*ms)
		if len(used) == 0 {
			return
		}
		whole := window(used, 0)
		if 2*(got.EndNs-got.StartNs) < whole.EndNs-whole.StartNs {
			t.Fatalf("more than half was left out: %+v of %+v", got, whole)
		}
		var bytes int64
		for _, s := range used {
			if s.StartNs >= got.StartNs {
				bytes += s.ReceivedBytes
			}
		}
		if bytes != got.Bytes {
			t.Fatalf("%d bytes in the window, %d reported", bytes, got.Bytes)
		}
	})
}
