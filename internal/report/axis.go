package report

import (
	"math"
	"strconv"
)

// axis maps figures to a line of pixels. Logarithmic where log is set.
type axis struct {
	low, high float64 // figures at the ends
	from, to  float64 // pixels of the ends
	log       bool
	marks     []mark // ticks
}

// mark is a tick of an axis before it has a place in pixels.
type mark struct {
	at   float64
	text string
}

// ticks returns the axis with ticks at the figures.
func (a axis) ticks(at []float64) axis {
	a.marks = make([]mark, len(at))
	for i, v := range at {
		a.marks[i].at = v
	}
	return a
}

// labels returns the axis with the texts of its ticks.
func (a axis) labels(text func(float64) string) axis {
	for i := range a.marks {
		a.marks[i].text = text(a.marks[i].at)
	}
	return a
}

// in returns the axis with ticks that are labelled in a unit.
func (a axis) in(unit scale) axis {
	return a.labels(func(v float64) string { return tickText(v, unit) })
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(max(v, math.SmallestNonzeroFloat64)), math.Log(low), math.Log(high)
	}
	share := 0.5
	if high > low {
		share = min(max((v-low)/(high-low), 0), 1)
	}
	return a.from + share*(a.to-a.from)
}

// linearAxis spans figures to round numbers. It begins at zero unless all
// figures lie in a narrow band far from it, where zero would hide what differs.
func linearAxis(low, high, from, to float64, ticks int) axis {
	if !(high > 0) {
		high = 1
	}
	if low > 0.75*high {
		pad := max((high-low)*0.15, high*0.002)
		low = max(low-pad, 0)
		high += pad
	} else {
		low, high = 0, high*1.02
	}
	step := niceStep((high - low) / float64(ticks))
	low, high = math.Floor(low/step+1e-9)*step, math.Ceil(high/step-1e-9)*step
	var at []float64
	for i := range int(math.Round((high-low)/step)) + 1 {
		at = append(at, low+float64(i)*step)
	}
	return axis{low: low, high: high, from: from, to: to}.ticks(at)
}

// exactAxis spans zero to the largest figure with ticks at round numbers.
func exactAxis(high, from, to float64, ticks int) axis {
	if !(high > 0) {
		high = 1
	}
	step := niceStep(high / float64(ticks))
	var at []float64
	for i := 0; float64(i)*step <= high*(1+1e-9); i++ {
		at = append(at, float64(i)*step)
	}
	return axis{low: 0, high: high, from: from, to: to}.ticks(at)
}

// niceStep is the smallest of 1, 2, 2.5, 5 times a power of ten not below v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logAxis spans figures to the next of 1, 2, 5 times a power of ten, with at
// most the given number of ticks.
func logAxis(low, high, from, to float64, ticks int) axis {
	low = max(low, 1)
	high = max(high, low)
	marks := func(multiples ...float64) []float64 {
		var at []float64
		for p := math.Floor(math.Log10(low)) - 1; p <= math.Ceil(math.Log10(high)); p++ {
			for _, m := range multiples {
				at = append(at, m*math.Pow(10, p))
			}
		}
		return at
	}
	within := func(at []float64, low, high float64) (out []float64) {
		for _, v := range at {
			if v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				out = append(out, v)
			}
		}
		return out
	}
	fine := marks(1, 2, 5)
	a := axis{low: low, high: high, from: from, to: to, log: true}
	for _, v := range fine {
		if v <= low {
			a.low = v
		}
	}
	for i := len(fine) - 1; i >= 0; i-- {
		if fine[i] >= high {
			a.high = fine[i]
		}
	}
	if a.low == a.high {
		a.high = a.low * 2
	}
	at := within(fine, a.low, a.high)
	if len(at) > ticks {
		at = within(marks(1), a.low, a.high)
	}
	for len(at) > ticks {
		var half []float64
		for i := 0; i < len(at); i += 2 {
			half = append(half, at[i])
		}
		at = half
	}
	return a.ticks(at)
}

// tickText writes a round number of a unit without needless digits.
func tickText(v float64, unit scale) string {
	return strconv.FormatFloat(math.Round(v/unit.per*1e6)/1e6, 'f', -1, 64)
}

// timeText writes a round number of nanoseconds with its own unit.
func timeText(ns float64) string {
	for _, s := range timeScales {
		if ns >= s.per*(1-1e-9) {
			return tickText(ns, s) + " " + s.unit
		}
	}
	return tickText(ns, timeScales[len(timeScales)-1]) + " ns"
}
