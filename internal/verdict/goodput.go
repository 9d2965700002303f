package verdict

import (
	"math"

	"soku/internal/measure"
)

// goodput are the figures of the receiver's samples of 100 ms.
func (f *Figures) goodput(flow *measure.Flow, o measure.Options) {
	if flow == nil {
		return
	}
	var rates []float64
	var starts []int64
	for _, s := range flow.Samples {
		if s.EndNs-s.StartNs > 30e6 && (o.Duration == 0 || s.StartNs < int64(o.Duration)) {
			rates, starts = append(rates, s.Bps()), append(starts, s.StartNs)
		}
	}
	core := rates
	if len(rates) > 12 {
		core = rates[3 : len(rates)-3]
	} else if len(rates) > 6 {
		core = rates[2 : len(rates)-1]
	}
	// Bytes that a late reader counts in the next interval are no change of the rate.
	var smooth []float64
	for i := 0; i+3 <= len(core); i++ {
		smooth = append(smooth, mean(core[i:i+3]))
	}
	if middle := median(smooth); len(smooth) > 5 && middle > 0 {
		f.set(GoodputSpread, (quantile(smooth, 0.9)-quantile(smooth, 0.1))/middle)
		f.set(GoodputPeak, quantile(smooth, 0.9)/middle-1)
	}
	f.step(rates, starts)
}

// step finds the split of the goodput into two levels that leaves the least variance. starts are
// when the samples begin, in ns.
func (f *Figures) step(rates []float64, starts []int64) {
	if len(rates) <= 10 {
		return
	}
	skipped, end := 1, len(rates)-1
	if len(rates) > 14 {
		end = len(rates) - 3
	}
	v := rates[skipped:end]
	total, middle, n := squares(v), mean(v), float64(len(v))
	if total <= 0 {
		return
	}
	// Of the differences from the mean, the sum of those before a split is the sum of those
	// after it with the other sign, so one pass has what each split explains.
	best, at, sum := -1.0, 0, 0.0
	for i, x := range v[:len(v)-4] {
		sum += x - middle
		k := float64(i + 1)
		if explained := sum * sum * n / (k * (n - k)); i > 0 && explained > best {
			best, at = explained, i+1
		}
	}
	before, after := v[:at], v[at:]
	f.set(StepTimes, mean(before)/max(mean(after), 1))
	f.set(StepAt, float64(starts[at+skipped]))
	f.set(StepFit, best/total)
	if m := mean(before); m > 0 {
		f.set(StepNoise, math.Sqrt(variance(before))/m)
	}
}
