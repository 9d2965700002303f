package plan

import (
	"fmt"
	"slices"

	"soku/internal/measure"
)

// TrialKey identifies a trial within its campaign: by the levels of its pattern, its
// endpoints, the test's label, the round and the repeat.
type TrialKey struct {
	// Pattern is the levels as they are shown. It identifies the pattern only in
	// a journal of an older version, which has no Levels.
	Pattern string          `json:"pattern"`
	Levels  []measure.Level `json:"levels"`           // nil in a journal of an older version
	Client  string          `json:"client,omitempty"` // endpoint or endpoint.label; empty for this machine
	Server  string          `json:"server,omitempty"`
	Label   string          `json:"label"`
	Round   int             `json:"round"`
	Repeat  int             `json:"repeat"`
}

func (k TrialKey) String() string {
	return fmt.Sprintf("%s, %s, round %d, repeat %d", k.Pattern, k.Label, k.Round, k.Repeat)
}

// Resolve completes a key of an older version, which had the levels only as one
// text and at most one pattern with each text. Another key returns as it is.
func (k TrialKey) Resolve(patterns []Pattern) TrialKey {
	if k.Levels != nil {
		return k
	}
	i := slices.IndexFunc(patterns, func(pt Pattern) bool { return measure.JoinLevels(pt.Levels) == k.Pattern })
	if i >= 0 {
		k.Levels, k.Client, k.Server = patterns[i].Levels, patterns[i].From, patterns[i].To
	}
	return k
}

// PatternText distinguishes patterns. A key of an older version whose pattern is
// not in the plan has no levels, but the name.
func (k TrialKey) PatternText() string {
	if k.Levels == nil {
		return k.Pattern
	}
	return measure.LevelsKey(k.Levels)
}
