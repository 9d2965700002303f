package report

import (
	"soku/internal/measure"
	"soku/internal/text"
)

// LaterLevel is a level that was not in the first rounds. What compares it with others was measured
// in its rounds alone.
type LaterLevel struct {
	measure.Level
	FirstRound int `json:"first_round"`
	Rounds     int `json:"rounds"` // that have it
	Of         int `json:"of"`     // rounds that have a level of its factor
}

// laterLevels finds the levels whose first round is later than that of another level of their
// factor. A search chooses the rounds of its levels, and what was ingested has the rounds of its
// sources: neither is looked at.
func laterLevels(patterns []pattern, factors []string, searched string) (out []LaterLevel) {
	type roundSet = map[int]bool
	for _, factor := range factors {
		all, of, levels := roundSet{}, map[string]roundSet{}, []string{}
		for _, p := range patterns {
			for _, r := range p.results {
				if r.Trial == nil || r.Origin != nil || factor == searched {
					continue
				}
				level := levelOf(p.levels, factor)
				if of[level] == nil {
					of[level], levels = roundSet{}, append(levels, level)
				}
				of[level][r.Trial.Round], all[r.Trial.Round] = true, true
			}
		}
		for _, level := range levels {
			if first := firstOf(of[level]); level != "" && first > firstOf(all) {
				out = append(out, LaterLevel{measure.Level{Factor: factor, Value: level}, first, len(of[level]), len(all)})
			}
		}
	}
	return out
}

func firstOf(rounds map[int]bool) (first int) {
	for round := range rounds {
		if first == 0 || round < first {
			first = round
		}
	}
	return first
}

// laterCaveat names the levels with their rounds.
func (t testView) laterCaveat(later []LaterLevel) string {
	var out []string
	for _, l := range later[:min(len(later), mostPatterns)] {
		out = append(out, t.Sentence("caveat.later_level", text.Args{"Factor": l.Factor, "Level": l.Value, "First": l.FirstRound, "Rounds": l.Rounds, "Of": l.Of}))
	}
	return t.Sentence("caveat.later_levels", text.Args{"Levels": out, "More": max(0, len(later)-mostPatterns)})
}
