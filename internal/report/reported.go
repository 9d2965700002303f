package report

import (
	"slices"

	"soku/internal/measure"
)

// Reported are trials without a histogram, whose round trips are as the sources
// of ingested results sum them up.
type Reported struct {
	Trials int  `json:"trials"`
	Ranged bool `json:"ranged,omitempty"` // trials are the ends of a published range: their mean is of no trials that were made
}

// reportedOf is nil if no trial has reported figures only. All results must have succeeded.
func reportedOf(results []*measure.Result) *Reported {
	out := &Reported{}
	for _, r := range results {
		if r.ReportedOnly() != nil {
			out.Trials++
			out.Ranged = out.Ranged || r.IsRangeEnd()
		}
	}
	if out.Trials == 0 {
		return nil
	}
	return out
}

// ingested is which results of a test were ingested and what is missing from them,
// each with the number of trials, the most frequent first.
func ingested(results []*measure.Result) (sources []Source, missing []Missing) {
	for _, r := range results {
		if r.Origin == nil {
			continue
		}
		source := sourceOf(r)
		i := slices.IndexFunc(sources, func(s Source) bool { s.Trials = 0; return s == source })
		if i < 0 {
			i = len(sources)
			sources = append(sources, source)
		}
		sources[i].Trials++
		for _, f := range r.Origin.Missing {
			if i := slices.IndexFunc(missing, func(o Missing) bool { return o.Equal(f) }); i >= 0 {
				missing[i].Trials++
			} else if len(missing) < maxWarnings {
				missing = append(missing, Missing{f, 1})
			}
		}
	}
	slices.SortStableFunc(sources, func(a, b Source) int { return b.Trials - a.Trials })
	slices.SortStableFunc(missing, func(a, b Missing) int { return b.Trials - a.Trials })
	return sources, missing
}

// statedRounds is how many trials have a round that a table states.
func statedRounds(results []*measure.Result) (n int) {
	for _, r := range results {
		if r.Origin != nil && r.Origin.Round > 0 {
			n++
		}
	}
	return n
}
