package plot

import (
	"slices"

	"soku/internal/report/outline"
)

// Estimate is a figure that a row shows with its text.
type Estimate struct {
	At               float64
	Low, High, Limit *float64 // its interval and limit; nil: it has none
	Text             string
}

// Spot is the place of a mark and of its text in a row: lines count from 0.
type Spot struct {
	Line, TextLine int
	X              float64 // of the mark
	Text           string
	TextX          float64
	Anchor         string

	mark  span // the mark with its interval
	limit []span
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
type spotLine struct{ marks, texts, limits []span }

// Place puts each mark of a row, with its text next to it, on the first line on which
// neither covers another mark or text, nor a limit the text. It
// returns the number of lines.
func Place(row []Estimate, x Axis, box outline.Box) ([]Spot, int) {
	var lines []spotLine
	out := make([]Spot, len(row))
	for i, e := range row {
		s := Spot{X: x.At(e.At), Text: e.Text}
		s.mark = span{s.X - markRadius, s.X + markRadius}
		if e.Low != nil && e.High != nil {
			s.mark.from, s.mark.to = min(s.mark.from, x.At(*e.Low)), max(s.mark.to, x.At(*e.High))
		}
		if e.Limit != nil {
			at := x.At(*e.Limit)
			s.limit = []span{{at - 1, at + 1}}
		}
		for !s.place(lines, box) {
			if s.Line++; s.Line > len(lines) { // no room next to the mark: the text has a line of its own
				s.below(len(lines), box)
				break
			}
		}
		for len(lines) <= max(s.Line, s.TextLine) {
			lines = append(lines, spotLine{})
		}
		s.take(lines)
		out[i] = s
	}
	return out, len(lines)
}

// text is the part of its line that the text covers.
func (s *Spot) text() span {
	pixels := float64(len([]rune(s.Text))) * CharPixels
	if s.Anchor == "end" {
		return span{s.TextX - pixels, s.TextX}
	}
	return span{s.TextX, s.TextX + pixels}
}

// place puts the text next to the mark, or beyond its limit, on the line of the spot, and reports whether
// there is room.
func (s *Spot) place(lines []spotLine, box outline.Box) bool {
	var line spotLine
	if s.Line < len(lines) {
		line = lines[s.Line]
	}
	if s.mark.in(line.marks) || s.mark.in(line.texts) || slices.ContainsFunc(s.limit, func(l span) bool { return l.in(line.texts) }) {
		return false
	}
	s.TextLine = s.Line
	try := func(at float64, anchor string) bool {
		s.TextX, s.Anchor = at, anchor
		l := s.text()
		return l.from >= box.Left && l.to <= box.Right && !l.in(slices.Concat(line.marks, line.texts, line.limits, s.limit)) && !l.touches(s.mark)
	}
	const gap = spotGap + 1
	return try(s.mark.to+gap, "start") || try(s.mark.from-gap, "end") || len(s.limit) > 0 && try(max(s.limit[0].to, s.mark.to)+gap, "start")
}

// below puts the mark on a new line and the text on the line after it.
func (s *Spot) below(lines int, box outline.Box) {
	s.Line, s.TextLine = lines, lines+1
	s.TextX, s.Anchor = max(s.X, box.Left), "start"
	if s.text().to > box.Right {
		s.TextX, s.Anchor = min(s.X, box.Right), "end"
	}
}

// take notes on the lines what the spot covers.
func (s *Spot) take(lines []spotLine) {
	on := &lines[s.Line]
	on.marks, on.limits = append(on.marks, s.mark), append(on.limits, s.limit...)
	lines[s.TextLine].texts = append(lines[s.TextLine].texts, s.text())
}
