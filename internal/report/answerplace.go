package report

import (
	"slices"

	"soku/internal/report/outline"
)

// spot is the place of a mark and of its figure in a row: lines count from 0, the others are pixels.
type spot struct {
	line, labelLine int
	x               float64 // of the mark
	from, to        float64 // of the mark with its interval
	limit           *float64
	text            string
	labelX          float64
	anchor          string
}

// span is a part of a line.
type span struct{ from, to float64 }

func (s span) touches(o span) bool { return s.from < o.to+spotGap && o.from < s.to+spotGap }

func (s span) in(all []span) bool { return slices.ContainsFunc(all, s.touches) }

const (
	markRadius = 6
	spotGap    = 3 // between marks and texts
)

// spotLine is what a line of a row has.
type spotLine struct{ marks, labels, limits []span }

// placeMarks puts each mark of a row, with its figure next to it, on the first line on which
// neither covers another mark or figure, nor a limit the figure. Figures are in the unit of the axis. It
// returns the number of lines.
func placeMarks(marks []answerMark, x axis, unit scale, box outline.Box) ([]spot, int) {
	var lines []spotLine
	out := make([]spot, len(marks))
	for i, m := range marks {
		s := spot{x: x.at(m.estimate), text: unit.text(m.estimate)}
		s.from, s.to = s.x-markRadius, s.x+markRadius
		if m.low != nil && m.high != nil {
			s.from, s.to = min(s.from, x.at(*m.low)), max(s.to, x.at(*m.high))
		}
		if m.limit != nil {
			at := x.at(*m.limit)
			s.limit = &at
		}
		for !s.place(lines, box) {
			if s.line++; s.line > len(lines) { // no room next to the mark: the figure has a line of its own
				s.below(len(lines), box)
				break
			}
		}
		for len(lines) <= max(s.line, s.labelLine) {
			lines = append(lines, spotLine{})
		}
		s.take(lines)
		out[i] = s
	}
	return out, len(lines)
}

// limits are the parts of a line that the limit of the mark covers.
func (s *spot) limits() []span {
	if s.limit == nil {
		return nil
	}
	return []span{{*s.limit - 1, *s.limit + 1}}
}

// label is the part of its line that the figure covers.
func (s *spot) label() span {
	pixels := float64(len([]rune(s.text))) * charPixels
	if s.anchor == "end" {
		return span{s.labelX - pixels, s.labelX}
	}
	return span{s.labelX, s.labelX + pixels}
}

// place puts the figure next to the mark, or beyond its limit, on the line of the spot, and reports whether
// there is room.
func (s *spot) place(lines []spotLine, box outline.Box) bool {
	var line spotLine
	if s.line < len(lines) {
		line = lines[s.line]
	}
	mark := span{s.from, s.to}
	if mark.in(line.marks) || mark.in(line.labels) || slices.ContainsFunc(s.limits(), func(l span) bool { return l.in(line.labels) }) {
		return false
	}
	s.labelLine = s.line
	try := func(at float64, anchor string) bool {
		s.labelX, s.anchor = at, anchor
		l := s.label()
		taken := slices.Concat(line.marks, line.labels, line.limits, s.limits())
		return l.from >= box.Left && l.to <= box.Right && !l.in(taken) && !l.touches(mark)
	}
	const gap = spotGap + 1
	return try(s.to+gap, "start") || try(s.from-gap, "end") || s.limit != nil && try(max(*s.limit, s.to)+gap+1, "start")
}

// below puts the mark on a new line and the figure on the line after it.
func (s *spot) below(lines int, box outline.Box) {
	s.line, s.labelLine = lines, lines+1
	s.labelX, s.anchor = max(s.x, box.Left), "start"
	if s.label().to > box.Right {
		s.labelX, s.anchor = min(s.x, box.Right), "end"
	}
}

// take notes on the lines what the spot covers.
func (s *spot) take(lines []spotLine) {
	on := &lines[s.line]
	on.marks, on.limits = append(on.marks, span{s.from, s.to}), append(on.limits, s.limits()...)
	lines[s.labelLine].labels = append(lines[s.labelLine].labels, s.label())
}
