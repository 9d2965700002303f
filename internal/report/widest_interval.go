package report

import (
	"math"
	"slices"
)

// Wide is the widest interval of a test, which is wider than its plan asks for.
type Wide struct {
	Pattern string `json:"pattern"`
	// IntervalRatio is half of the interval over the estimate, or 0 with too few rounds for one.
	IntervalRatio float64 `json:"interval_ratio,omitempty"`
	WantedRatio   float64 `json:"wanted_ratio"`
	Rounds        int     `json:"rounds"` // of the test
	MaxRounds     int     `json:"max_rounds"`
}

// widest is the widest interval of the test, or nil unless it is wider than u asks for. An
// unknown interval counts as the widest; a pattern without figures has none.
func (t *Test) widest(u Until) *Wide {
	if u.IntervalRatio == 0 || t.ByHand || len(u.Tests) > 0 && !slices.Contains(u.Tests, t.Label) {
		return nil
	}
	widest, pattern := 0.0, ""
	for _, p := range t.Ranking {
		if p.Estimate == nil {
			continue
		}
		width := math.Inf(1)
		if p.Low != nil && p.High != nil && *p.Estimate != 0 {
			width = (*p.High - *p.Low) / 2 / math.Abs(*p.Estimate)
		}
		if width > widest {
			widest, pattern = width, p.Pattern
		}
	}
	if widest <= u.IntervalRatio {
		return nil
	}
	if math.IsInf(widest, 0) {
		widest = 0
	}
	return &Wide{Pattern: pattern, IntervalRatio: widest, WantedRatio: u.IntervalRatio, Rounds: t.Rounds, MaxRounds: u.MaxRounds}
}
