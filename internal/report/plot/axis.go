package plot

import "math"

// Axis maps figures to a line of pixels.
type Axis struct {
	Low, High float64 // figures at the ends
	From, To  float64 // pixels of the ends
	Log       bool    // logarithmic; Low is above 0 then
	Marks     []Mark
}

// Mark is a tick of an axis: a figure and its label.
type Mark struct {
	At   float64
	Text string
}

// marked returns the axis with ticks at the figures.
func (a Axis) marked(at []float64) Axis {
	a.Marks = make([]Mark, len(at))
	for i, v := range at {
		a.Marks[i].At = v
	}
	return a
}

// Labelled returns the axis with the texts of its ticks.
func (a Axis) Labelled(text func(float64) string) Axis {
	for i := range a.Marks {
		a.Marks[i].Text = text(a.Marks[i].At)
	}
	return a
}

// At is the pixel of a figure, of one beyond the axis that of its end.
func (a Axis) At(v float64) float64 {
	low, high := a.Low, a.High
	if a.Log {
		v, low, high = math.Log(max(v, math.SmallestNonzeroFloat64)), math.Log(low), math.Log(high)
	}
	share := 0.5
	if high > low {
		share = min(max((v-low)/(high-low), 0), 1)
	}
	return a.From + share*(a.To-a.From)
}

// Linear spans figures to round numbers, with about that many ticks. It begins at zero unless all
// figures lie in a narrow band far from it, where zero would hide what differs.
func Linear(low, high, from, to float64, ticks int) Axis {
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
	step := NiceStep((high - low) / float64(ticks))
	low, high = math.Floor(low/step+1e-9)*step, math.Ceil(high/step-1e-9)*step
	var at []float64
	for i := range int(math.Round((high-low)/step)) + 1 {
		at = append(at, low+float64(i)*step)
	}
	return Axis{Low: low, High: high, From: from, To: to}.marked(at)
}

// Exact spans zero to the largest figure with about that many ticks at round numbers.
func Exact(high, from, to float64, ticks int) Axis {
	if !(high > 0) {
		high = 1
	}
	step := NiceStep(high / float64(ticks))
	var at []float64
	for i := 0; float64(i)*step <= high*(1+1e-9); i++ {
		at = append(at, float64(i)*step)
	}
	return Axis{Low: 0, High: high, From: from, To: to}.marked(at)
}

// NiceStep is the smallest of 1, 2, 2.5, 5 times a power of ten not below v, which is above 0.
func NiceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// Log spans figures of at least 1 to the next of 1, 2, 5 times a power of ten on a logarithmic axis, with
// at most that many ticks.
func Log(low, high, from, to float64, ticks int) Axis {
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
	a := Axis{Low: low, High: high, From: from, To: to, Log: true}
	for _, v := range fine {
		if v <= low {
			a.Low = v
		}
	}
	for i := len(fine) - 1; i >= 0; i-- {
		if fine[i] >= high {
			a.High = fine[i]
		}
	}
	if a.Low == a.High {
		a.High = a.Low * 2
	}
	at := within(fine, a.Low, a.High)
	if len(at) > ticks {
		at = within(marks(1), a.Low, a.High)
	}
	for len(at) > ticks {
		var half []float64
		for i := 0; i < len(at); i += 2 {
			half = append(half, at[i])
		}
		at = half
	}
	return a.marked(at)
}
