package report

import (
	"cmp"

	"soku/internal/measure"
)

// DefaultPractical is the smallest difference that matters in practice, as a ratio, unless
// somebody says otherwise: 2 %.
const DefaultPractical = 0.02

// Design is what the plan of a campaign says about how its results are judged. The zero
// Design is that of trials without a plan.
type Design struct {
	// Practical is the smallest difference that matters, as a ratio; 0: [DefaultPractical].
	Practical float64
	// Control reports whether a pattern with these levels shows what the hosts alone reach:
	// it is shown apart and not compared. nil: none is.
	Control func(levels []measure.Level) bool
	// Limits are the documented limits of what a trial goes through, one a figure at most.
	// nil: none is known, beside those that ingested results bring.
	Limits func(*measure.Trial) []measure.Limit
}

func (d Design) practical() float64 { return cmp.Or(d.Practical, DefaultPractical) }
