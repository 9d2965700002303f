package plot

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"soku/internal/report/outline"
)

// In 2,000 rows of up to eight marks no text covers a mark, an interval, a limit or another text.
func TestTextsOfMarksCoverNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		width := []float64{Wide, Narrow}[r.IntN(2)]
		box := outline.Box{Left: 8, Right: width - 8}
		x := Axis{Low: 0, High: 1000, From: 16, To: width - 16}
		marks := make([]Estimate, 1+r.IntN(8))
		centre := 1000 * r.Float64()
		for i := range marks {
			v := min(max(centre+[]float64{0, 5, 50, 500}[r.IntN(4)]*(r.Float64()-0.5), 0), 1000)
			marks[i].At, marks[i].Text = v, strings.Repeat("0", 1+r.IntN(13))
			if r.IntN(2) == 0 {
				low, high := v-1000*r.Float64()*r.Float64(), v+1000*r.Float64()*r.Float64()
				marks[i].Low, marks[i].High = &low, &high
			}
			if r.IntN(2) == 0 {
				limit := min(v*(0.9+0.5*r.Float64()), 1000)
				marks[i].Limit = &limit
			}
		}
		spots, lines := Place(marks, x, box)
		if len(spots) != len(marks) || lines > 2*len(marks) {
			t.Fatalf("%d lines for %d marks", lines, len(marks))
		}
		for i, s := range spots {
			l := s.text()
			if l.from < box.Left || l.to > box.Right {
				t.Fatalf("%+v is beyond the box", s)
			}
			for k, o := range spots {
				mark, other := o.mark, o.text()
				if o.Line == s.TextLine && (l.touches(mark) || slices.ContainsFunc(o.limit, l.touches)) {
					t.Fatalf("the text of %+v covers the mark or the limit of %+v", s, o)
				}
				if i != k && (o.TextLine == s.TextLine && l.touches(other) || o.Line == s.Line && mark.touches(s.mark)) {
					t.Fatalf("%+v covers %+v", s, o)
				}
			}
		}
	}
}
