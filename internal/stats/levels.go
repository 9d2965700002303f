package stats

import (
	"slices"
	"soku/internal/measure"
)

// Constants of the rule for levels. They were chosen by simulation of steady, drifting and
// saw-toothed rates.
const (
	levelBlockNs     = int64(1e9) // a block: the median of its samples outlives the dips of BBR's probing
	mostLevels       = 4
	mostLevelBlocks  = 1000 // longer trials have wider blocks: the search takes their square
	leastExplained   = 0.85 // of the blocks' variance, by the levels
	leastChange      = 0.15 // between neighbours, of the higher one
	leastZ           = 7    // a change in standard errors
	mostOfLine       = 0.7  // of a straight line's residual sum of squares
	levelToleranceNs = 3 * levelBlockNs / 2
)

// Level is a part of a trial with one rate, the mean of its blocks. Times are nanoseconds
// on the samples' own axis.
type Level struct {
	StartNs, EndNs int64
	Bps            float64
}

// Levels are the levels of a trial's rate: one if no lasting change was found.
type Levels struct {
	Parts []Level
	// Explained is the share of the blocks' variance that the levels explain, and Z the
	// smallest change between neighbours in standard errors; both are 0 for one level.
	Explained, Z float64
	// AtLoss is set if levels were found but a drop between them is what a loss does to the
	// flow by itself; there is then one level.
	AtLoss bool
}

// LossEvents are the losses of a trial's only flow, by which its congestion control slowed
// down, and the share of the rate that one of them leaves (0.7 for CUBIC, RFC 9438, section
// 4.6; 0.5 for Reno). The zero value stands for a trial with several flows, or with a congestion
// control that does not slow down on a loss.
type LossEvents struct {
	Within []LossSpan
	Keeps  float64
}

// LossSpan is when a loss was: anywhere between two times on the samples' axis.
type LossSpan struct{ FromNs, ToNs int64 }

// FindLevels finds whether a trial had two to four levels of its rate, each for two seconds
// or more, as a burst allowance that runs out or a throttle makes them. samples are as in
// [SteadyState]; a second without data must be present as samples without bytes.
//
// The medians of the samples of each second are divided into up to four parts with the
// least sum of squared residuals (W. D. Fisher, "On Grouping for Maximum Homogeneity",
// Journal of the American Statistical Association 53, 1958), each at least two blocks and a
// twentieth of the trial. They are levels if they explain more than 85 % of the variance,
// every change is at least 15 % and more than 7 standard errors (which allow for
// autocorrelation of the residuals), no block of a part is within the range of a neighbour,
// and the residual is less than 0.7 of that of a straight line. Of several such divisions
// the finest counts. Each change is then placed on the samples, at most 1.5 s from the
// blocks' limit; a division with a part that is then shorter than 1.5 s does not count.
// Below eight blocks nothing is found.
//
// A drop within 1.5 s of a loss, to no less than what the loss leaves of the rate (with 5 %
// for noise), is the sawtooth of congestion control, and no level. A deeper one is not
// explained by it: a limit that begins to bind drops packets, too.
func FindLevels(samples []measure.Sample, endNs int64, losses LossEvents) Levels {
	kept := usable(samples, endNs)
	if len(kept) == 0 {
		return Levels{}
	}
	blocks, rates := levelBlocks(kept)
	whole := Levels{Parts: []Level{{StartNs: kept[0].StartNs, EndNs: kept[len(kept)-1].EndNs, Bps: Mean(rates)}}}
	if len(blocks) < fewestIntervals {
		return whole
	}
	for _, d := range levelDivisions(rates) {
		found := placeLevels(kept, blocks, d)
		if slices.ContainsFunc(found.Parts, Level.short) {
			continue
		}
		for i := 1; i < len(found.Parts); i++ {
			if losses.explain(found.Parts[i-1], found.Parts[i]) {
				whole.AtLoss = true
				return whole
			}
		}
		return found
	}
	return whole
}

// short reports whether a part lasts less than its two blocks would, with half a block of
// tolerance: a stall that straddles two seconds takes half of each.
func (l Level) short() bool { return l.EndNs-l.StartNs < levelToleranceNs }

// placeLevels places a division of blocks on the samples.
func placeLevels(samples []measure.Sample, blocks []int, d division) Levels {
	out := Levels{Explained: d.explained, Z: d.z}
	start := samples[0].StartNs
	for i, level := range d.means {
		end := samples[len(samples)-1].EndNs
		if i < len(d.cuts) {
			end = placeChange(samples, samples[blocks[d.cuts[i]]].StartNs, level, d.means[i+1])
		}
		out.Parts = append(out.Parts, Level{StartNs: start, EndNs: end, Bps: level})
		start = end
	}
	return out
}

// levelBlocks groups samples into blocks of whole samples and returns the first sample and
// the median rate of each. A block at the end of less than half the width is left out.
func levelBlocks(samples []measure.Sample) (first []int, medians []float64) {
	width := max(levelBlockNs, (samples[len(samples)-1].EndNs-samples[0].StartNs)/mostLevelBlocks)
	for from := 0; from < len(samples); {
		to := from
		var rates []float64
		// With half a sample of slack, so that blocks do not drift against the clock.
		for to < len(samples) && (to == from || samples[to].StartNs-samples[from].StartNs+(samples[to].EndNs-samples[to].StartNs)/2 < width) {
			rates = append(rates, samples[to].Bps())
			to++
		}
		if to < len(samples) || samples[to-1].EndNs-samples[from].StartNs >= width/2 {
			first, medians = append(first, from), append(medians, Median(rates))
		}
		from = to
	}
	return first, medians
}

// placeChange returns the start of the sample at which a change is placed: the residuals of
// the samples around it from the levels before and after are least. Rates beyond the levels
// count as the levels, so that a dip does not attract the change.
func placeChange(samples []measure.Sample, atNs int64, before, after float64) int64 {
	low, high := min(before, after), max(before, after)
	var sum, least float64
	place := atNs
	for _, s := range samples {
		if s.StartNs < atNs-levelToleranceNs || s.StartNs > atNs+levelToleranceNs {
			continue
		}
		if sum < least || sum == least && absNs(s.StartNs-atNs) < absNs(place-atNs) {
			least, place = sum, s.StartNs
		}
		rate := min(max(s.Bps(), low), high)
		sum += square(rate-before) - square(rate-after)
	}
	return place
}

func absNs(ns int64) int64 { return max(ns, -ns) }

// explain reports whether the change between two levels is what one of the losses does.
func (l LossEvents) explain(before, after Level) bool {
	if after.Bps >= before.Bps || after.Bps < before.Bps*(l.Keeps-tolerance) {
		return false
	}
	return slices.ContainsFunc(l.Within, func(s LossSpan) bool {
		return after.StartNs >= s.FromNs-levelToleranceNs && after.StartNs-levelToleranceNs <= s.ToNs
	})
}
