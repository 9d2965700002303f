package stats

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// Constants of the stability rule. The first two are the draft's moving
// average distance and standard deviation tolerance (draft-ietf-ippm-responsiveness,
// section "Reaching working conditions").
const (
	movingAverages   = 4    // moving averages compared, and intervals in each
	tolerance        = 0.05 // of their mean
	targetIntervals  = 40   // a moving average then spans a tenth of the trial
	fewestIntervals  = 8    // the rule needs 7 intervals; below 8 it is not applied
	largestDiscarded = 0.5  // of the trial
	coverageWanted   = 0.9  // of the nominal time: minimum span of the samples
)

// Steady is the part of a trial from which a rate is computed. Times are nanoseconds on
// the samples' own axis; Bytes are those received from StartNs to EndNs, so the rate is
// Bytes*8e9/(EndNs-StartNs) bits a second. EndNs > StartNs if at least one sample was
// usable.
type Steady struct {
	StartNs, EndNs int64
	Bytes          int64
	Confidence     measure.Confidence
	Reason         measure.Finding // of the confidence
}

// Bps returns the rate of the steady part in bits a second, or 0 if the part is empty.
func (s Steady) Bps() float64 {
	if s.EndNs <= s.StartNs {
		return 0
	}
	return float64(s.Bytes) * 8e9 / float64(s.EndNs-s.StartNs)
}

// SteadyState finds where a trial's rate became steady. samples are the receiver's, of
// any width (100 ms is usual), in any order; time without data must be present as samples
// without bytes. endNs is the nominal end on the samples' axis: a sample whose middle
// lies after it is the drain of queues and does not count. endNs <= 0 means that the
// trial ends with its samples.
//
// The trial is divided into about 40 intervals of whole samples. It is steady from the
// first interval where (a) the standard deviation of the four moving averages that begin
// there, each over four intervals, is within 5 % of their mean, and (b) the rest holds:
// averages over consecutive blocks of four intervals have a standard deviation within 5 %
// of their mean, and the two halves of the rest differ by at most 5 %. Samples at its
// beginning that are outliers of the rest's distribution are then left out, too. At least
// half of the trial always remains.
//
// High: such a part was found. Medium: it was not, and the MSER rule places the start
// instead. Low: fewer than eight intervals, or nothing arrived; the whole trial is
// returned.
func SteadyState(samples []measure.Sample, endNs int64) Steady {
	kept := usable(samples, endNs)
	if len(kept) == 0 {
		return Steady{EndNs: max(endNs, 0), Confidence: measure.Low, Reason: measure.NewFinding(finding.NoSamples, "", nil)}
	}
	whole := window(kept, 0)
	switch {
	case whole.Bytes == 0:
		whole.Confidence, whole.Reason = measure.Low, measure.NewFinding(finding.NothingArrived, "", nil)
		return whole
	case len(kept) < fewestIntervals:
		whole.Confidence = measure.Low
		whole.Reason = measure.NewFinding(finding.FewIntervals, "", measure.Figures{"intervals": len(kept), "needed_intervals": fewestIntervals})
		return whole
	}
	steady := findSteady(kept, whole).withWholeStalls(usable(samples, 0), kept)
	if covered := float64(whole.EndNs-whole.StartNs) / float64(endNs); endNs > 0 && covered < coverageWanted && steady.Confidence == measure.High {
		steady.Confidence = measure.Medium
		steady.Reason = measure.NewFinding(finding.SamplesIncomplete, "", measure.Figures{"covered_ratio": covered})
	}
	return steady
}

// A stall is a run of samples below the first share of the median, directly followed by samples
// above the second, in which what had waited arrives. It takes at most a third of the trial and at
// most longestStall: a longer one is a change of the rate.
const (
	stallBelow   = 0.9
	catchUpAbove = 1.1
	longestStall = int64(1e9) // ns
	stallShare   = 3          // of the trial, a third
)

// withWholeStalls moves the ends of the steady part so that it has both parts of a stall or
// neither: alone, the catch-up is more than the path carries, and the stall less. kept are the
// samples of the trial, and all also those after its end. The start moves behind the stall, or
// before it if less than half of the trial would be left.
func (s Steady) withWholeStalls(all, kept []measure.Sample) Steady {
	first, last := kept[0].StartNs, kept[len(kept)-1].EndNs
	half := first + int64(float64(last-first)*largestDiscarded)
	from, to := s.StartNs, s.EndNs
	for _, stall := range stalls(all, min(longestStall, (last-first)/stallShare)) {
		if stall.from < from && from < stall.to {
			if from = stall.to; from > half {
				from = stall.from
			}
		}
		if stall.from < to && to < stall.to && stall.from-from >= (last-first)/2 {
			to = stall.from
		}
	}
	if from == s.StartNs && to == s.EndNs {
		return s
	}
	s.StartNs, s.EndNs, s.Bytes = from, to, 0
	for _, sample := range all {
		if sample.StartNs >= from && sample.EndNs <= to {
			s.Bytes += sample.ReceivedBytes
		}
	}
	if s.Reason.Code == finding.Steady {
		s.Reason = measure.NewFinding(finding.Steady, "", measure.Figures{"from_ns": from})
	}
	return s
}

// span is a part of a trial, ns.
type span struct{ from, to int64 }

// stalls are the stalls of a trial that take at most longest, with what follows each.
func stalls(samples []measure.Sample, longest int64) (found []span) {
	rates := make([]float64, len(samples))
	for i, s := range samples {
		rates[i] = s.Bps()
	}
	middle := Median(rates)
	for i := 0; i < len(rates); i++ {
		begin := i
		for i < len(rates) && rates[i] < stallBelow*middle {
			i++
		}
		caught := i
		for i > begin && i < len(rates) && rates[i] > catchUpAbove*middle {
			i++
		}
		if i == caught {
			continue
		}
		i--
		if s := (span{samples[begin].StartNs, samples[i].EndNs}); s.to-s.from <= longest {
			found = append(found, s)
		}
	}
	return found
}

// usable returns the samples up to the nominal end in order of time, without overlaps.
func usable(samples []measure.Sample, endNs int64) []measure.Sample {
	kept := make([]measure.Sample, 0, len(samples))
	for _, s := range samples {
		if s.EndNs <= s.StartNs || s.StartNs < 0 || s.ReceivedBytes < 0 {
			continue
		}
		if endNs > 0 && s.StartNs+(s.EndNs-s.StartNs)/2 > endNs {
			continue
		}
		kept = append(kept, s)
	}
	slices.SortStableFunc(kept, func(a, b measure.Sample) int { return cmp.Compare(a.StartNs, b.StartNs) })
	// A sample that begins before the last one ended would count the same time twice.
	out := kept[:0]
	for _, s := range kept {
		if len(out) > 0 && s.StartNs < out[len(out)-1].EndNs {
			continue
		}
		out = append(out, s)
	}
	return out
}

// window returns everything from sample from to the end.
func window(samples []measure.Sample, from int) Steady {
	w := Steady{StartNs: samples[from].StartNs, EndNs: samples[len(samples)-1].EndNs}
	for _, s := range samples[from:] {
		w.Bytes += s.ReceivedBytes
	}
	return w
}

func findSteady(samples []measure.Sample, whole Steady) Steady {
	cuts := cut(samples, whole)
	latest := whole.StartNs + int64(float64(whole.EndNs-whole.StartNs)*largestDiscarded)
	var reasons held
	for k := range cuts {
		if cuts[k].startNs > latest || k+2*movingAverages-1 > len(cuts) {
			break
		}
		if !ruleHolds(cuts[k:]) {
			continue
		}
		if ok, why := restHolds(cuts[k:]); !ok {
			if reasons == (held{}) { // the earliest interval covers most of the trial
				reasons = why
			}
			continue
		}
		from := skipRemnant(samples, cuts[k].first, latest)
		w := window(samples, from)
		w.Confidence = measure.High
		w.Reason = measure.NewFinding(finding.Steady, "", measure.Figures{"from_ns": w.StartNs})
		return w
	}
	w := window(samples, truncation(cuts, latest))
	w.Confidence, w.Reason = measure.Medium, reasons.reason()
	return w
}

// interval is a run of whole samples. A gap between samples, in which nothing arrived,
// belongs to the interval before it.
type interval struct {
	first          int // index of its first sample
	startNs, endNs int64
	bytes          int64
}

// cut groups the samples into intervals of about a fortieth of the trial.
func cut(samples []measure.Sample, whole Steady) []interval {
	width := (whole.EndNs - whole.StartNs) / targetIntervals
	var out []interval
	for i, s := range samples {
		// With half a sample of slack: at 2.4 samples an interval, all would otherwise
		// have 3.
		if n := len(out); n == 0 || s.StartNs-out[n-1].startNs+(s.EndNs-s.StartNs)/2 >= width {
			if n > 0 {
				out[n-1].endNs = s.StartNs
			}
			out = append(out, interval{first: i, startNs: s.StartNs})
		}
		out[len(out)-1].bytes += s.ReceivedBytes
	}
	last := len(out) - 1
	out[last].endNs = whole.EndNs
	// A short interval at the end, a partial last sample, has no meaningful rate.
	if last > 0 && out[last].endNs-out[last].startNs < width/2 {
		out[last-1].endNs, out[last-1].bytes = out[last].endNs, out[last-1].bytes+out[last].bytes
		out = out[:last]
	}
	return out
}

// rate returns bytes per nanosecond over a run of intervals.
func rate(run []interval) float64 {
	var bytes int64
	for _, c := range run {
		bytes += c.bytes
	}
	return float64(bytes) / float64(run[len(run)-1].endNs-run[0].startNs)
}

// ruleHolds applies the draft's rule to the first four moving averages.
func ruleHolds(cuts []interval) bool {
	var averages [movingAverages]float64
	for i := range averages {
		averages[i] = rate(cuts[i : i+movingAverages])
	}
	return CV(averages[:]) <= tolerance
}

// held is how far the rest was from steady.
type held struct{ spread, shift float64 }

func (h held) reason() measure.Finding {
	switch {
	case h.shift > tolerance:
		return measure.NewFinding(finding.RateShifted, "", measure.Figures{"change_ratio": h.shift})
	case h.spread > tolerance:
		return measure.NewFinding(finding.RateVaries, "", measure.Figures{"variation_ratio": h.spread})
	}
	return measure.NewFinding(finding.NeverSettled, "", measure.Figures{"tolerance_ratio": tolerance})
}

// restHolds checks the blocks and the halves of the rest.
func restHolds(cuts []interval) (bool, held) {
	blocks := make([]float64, 0, len(cuts)/movingAverages+1)
	for i := 0; i+movingAverages <= len(cuts); i += movingAverages {
		end := i + movingAverages
		if len(cuts)-end < movingAverages { // the last block includes the remainder
			end = len(cuts)
		}
		blocks = append(blocks, rate(cuts[i:end]))
	}
	h := held{}
	if len(blocks) > 1 {
		h.spread = CV(blocks)
	}
	a, b := rate(cuts[:len(cuts)/2]), rate(cuts[len(cuts)/2:])
	h.shift = math.Abs(a-b) / max(a, b, math.SmallestNonzeroFloat64)
	return h.spread <= tolerance && h.shift <= tolerance, h
}

// skipRemnant moves the start past leading samples that are outliers of the rest's
// distribution: the end of slow start or of a burst that is too short to violate the rule
// still shifts the mean. The distribution is the median with three robust standard
// deviations (1.4826 times the median absolute deviation), but no narrower than the
// tolerance.
func skipRemnant(samples []measure.Sample, from int, latest int64) int {
	rates := make([]float64, 0, len(samples)-from)
	for _, s := range samples[from:] {
		rates = append(rates, s.Bps())
	}
	median := Median(rates)
	deviations := make([]float64, len(rates))
	for i, r := range rates {
		deviations[i] = math.Abs(r - median)
	}
	limit := max(3*1.4826*Median(deviations), tolerance*median)
	for from+1 < len(samples) && samples[from+1].StartNs <= latest && deviations[0] > limit {
		from++
		deviations = deviations[1:]
	}
	return from
}

// truncation is the MSER rule (K. P. White, "An Effective Truncation Heuristic for Bias
// Reduction in Simulation Output", Simulation 69, 1997): leave out that part of the start
// which minimises the standard error of the rest's mean. It returns the index of the
// first sample that stays.
func truncation(cuts []interval, latest int64) int {
	best, bestError := 0, math.Inf(1)
	for k := range cuts {
		n := len(cuts) - k
		if cuts[k].startNs > latest || n < fewestIntervals/2 {
			break
		}
		mean, sum := rate(cuts[k:]), 0.0
		for i := k; i < len(cuts); i++ {
			d := rate(cuts[i:i+1]) - mean
			sum += d * d
		}
		if e := sum / float64(n*n); e < bestError {
			best, bestError = cuts[k].first, e
		}
	}
	return best
}
