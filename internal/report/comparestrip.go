package report

import (
	"math"
	"strings"

	"github.com/mattn/go-runewidth"
)

// leastStrip is the fewest columns of a chart in text, mostStrip the most.
const leastStrip, mostStrip = 20, 60

// strip draws the mean of each choice with its 95 % interval on one axis, a line a choice, and
// the axis below. It has no lines if the terminal is too narrow.
func (v comparedView) strip(width int) []string {
	names := 0
	for _, c := range v.Choices {
		names = max(names, columnsOf(clean(c.Name)))
	}
	names = min(names, width/3)
	columns := min(width-names-4, mostStrip)
	if columns < leastStrip {
		return nil
	}
	low, high := v.span()
	at := func(x float64) int { return int(math.Round((x - low) / (high - low) * float64(columns-1))) }
	var out []string
	name := func(s string) string {
		s = (&runewidth.Condition{}).Truncate(clean(s), names, "…")
		return s + strings.Repeat(" ", names-columnsOf(s)) + "  "
	}
	for _, c := range v.Choices {
		marks := []rune(strings.Repeat(" ", columns))
		if !math.IsNaN(c.Low) {
			from, to := max(at(c.Low), 0), min(at(c.High), columns-1)
			for i := from; i <= to; i++ {
				marks[i] = '─'
			}
			marks[from], marks[to] = '├', '┤'
			if c.Low < low {
				marks[from] = '◂'
			}
			if c.High > high {
				marks[to] = '▸'
			}
		}
		marks[at(c.Value)] = '●'
		out = append(out, name(c.Name)+string(marks))
	}
	b := v.basis()
	from, to := b.value(low), b.value(high)
	if room := columns - columnsOf(from) - columnsOf(to); room > 0 {
		out = append(out, name("")+from+strings.Repeat(" ", room)+to)
	}
	return out
}

// span is the range of the axis: all means and their intervals, those of few rounds as far as
// the means lie apart on either side.
func (v comparedView) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range v.Choices {
		low, high = min(low, c.Value), max(high, c.Value)
	}
	room := max(high-low, 0.05*high)
	least, most := low-room, high+room
	for _, c := range v.Choices {
		if !math.IsNaN(c.Low) {
			low, high = min(low, max(c.Low, least)), max(high, min(c.High, most))
		}
	}
	if high <= low {
		return least, most + 1
	}
	return low, high
}
