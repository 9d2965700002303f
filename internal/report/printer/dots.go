package printer

import (
	"math"
	"strings"

	"soku/internal/printable"
	"soku/internal/report/outline"
)

// mostDots is the most columns of an axis in text. Names have a third of a terminal at most, so
// that the narrowest one has room for 20.
const mostDots = 60

// dots draws figures with their intervals on one axis, a line each, and the axis below.
func (p *terminal) dots(d *outline.Dots) {
	width, names := p.width-len(indent), 0
	for _, r := range d.Rows {
		names = max(names, columnsOf(printable.Words(r.Name)))
	}
	names = min(names, width/3)
	columns := min(width-names-4, mostDots)
	line := func(name, rest string) {
		name = cut(printable.Words(name), names)
		p.line(indent + name + strings.Repeat(" ", names-columnsOf(name)) + "  " + rest)
	}
	at := func(x float64) int {
		return int(math.Round((x - d.Low) / (d.High - d.Low) * float64(columns-1)))
	}
	for _, r := range d.Rows {
		marks := []rune(strings.Repeat(" ", columns))
		if !math.IsNaN(r.Low) {
			from, to := max(at(r.Low), 0), min(at(r.High), columns-1)
			for i := from; i <= to; i++ {
				marks[i] = '─'
			}
			marks[from], marks[to] = '├', '┤'
			if r.Low < d.Low {
				marks[from] = '◂'
			}
			if r.High > d.High {
				marks[to] = '▸'
			}
		}
		marks[at(r.Value)] = '●'
		line(r.Name, string(marks))
	}
	if room := columns - columnsOf(d.LowText) - columnsOf(d.HighText); room > 0 {
		line("", d.LowText+strings.Repeat(" ", room)+d.HighText)
	}
}
