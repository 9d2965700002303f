package report

import (
	"cmp"

	"soku/internal/measure"
	"soku/internal/stats"
)

// Design is what the plan of a campaign says about how its results are judged. The zero
// Design is that of trials without a plan.
type Design struct {
	// Practical is the smallest difference that matters, as a ratio; 0: [stats.DefaultPractical].
	Practical float64
	// Control reports whether a pattern with these levels shows what the hosts alone reach:
	// it is shown apart and not compared. nil: none is.
	Control func(levels []measure.Level) bool
	// Limits returns the documented limits of a trial's hosts and levels, those of a figure in
	// ascending order. If it is nil, only ingested results bring limits.
	Limits func(*measure.Result) []measure.Limit
	// Until is when the plan has enough rounds.
	Until Until
	// Searched is the factor whose levels were chosen while the campaign ran, if any.
	Searched string
}

// Until is how narrow a plan wants the intervals of patterns, and which comparisons decided. The
// zero value wants nothing.
type Until struct {
	IntervalRatio float64 // half of an interval over its estimate, at most; 0: as wide as it is
	// Looks returns the interim analyses of a campaign of that many rounds. If it is nil, there is one.
	Looks     func(rounds int) stats.Looks
	Against   stats.Against
	MaxRounds int      // after which it is given up
	Tests     []string // labels that it applies to, or nil for all
}

func (d Design) practical() float64 { return cmp.Or(d.Practical, stats.DefaultPractical) }
