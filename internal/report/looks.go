package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// looks is how often the comparisons of a test were looked at before its campaign ended.
func (u Until) looks(label string, rounds int) stats.Looks {
	if u.Looks == nil || len(u.Tests) > 0 && !slices.Contains(u.Tests, label) {
		return stats.Looks{}
	}
	return u.Looks(rounds)
}

// LookRule is the rule of a test whose comparisons were looked at after every round.
type LookRule struct {
	// LevelRatio is the level of each look, such as 0.007; 0 if decisions are by e-values.
	LevelRatio float64 `json:"level_ratio,omitempty"`
	EValues    bool    `json:"e_values,omitempty"`
}

// ruleOf is nil for one look.
func ruleOf(l stats.Looks) *LookRule {
	switch {
	case l.Anytime():
		return &LookRule{EValues: true}
	case l.Repeated():
		return &LookRule{LevelRatio: l.Alpha()}
	}
	return nil
}

// rule is a sentence about the rule; empty for one look.
func (l *LookRule) rule(c *text.Catalogue) string {
	if l == nil {
		return ""
	}
	return c.Say("looks.rule", text.Args{"Level": l.LevelRatio})
}

// Decided is how the comparisons stand of a campaign that goes on until all are decided.
type Decided struct {
	Looks    LookRule      `json:"looks"`
	Against  stats.Against `json:"against"`
	Compared int           `json:"compared"`
	Open     int           `json:"open"` // not decided
	// Pattern against Than is the first of these.
	Pattern   string `json:"pattern,omitempty"`
	Than      string `json:"than,omitempty"`
	Rounds    int    `json:"rounds"`               // of the test
	MaxRounds int    `json:"max_rounds,omitempty"` // 0: no maximum
}

// findDecided is nil if the campaign looked once, or there is nothing to compare.
func (t *Test) findDecided(u Until, groups []stats.Group) *Decided {
	rule := ruleOf(t.looks)
	if rule == nil {
		return nil
	}
	against := cmp.Or(u.Against, stats.AgainstBest)
	open, compared := t.looks.Undecided(groups, t.Basis.Metric.Better == measure.Higher, t.Practical, against)
	if compared == 0 {
		return nil
	}
	d := &Decided{Looks: *rule, Against: against, Compared: compared, Open: len(open), Rounds: t.Rounds, MaxRounds: u.MaxRounds}
	if len(open) > 0 {
		d.Pattern, d.Than = groups[open[0][0]].Name, groups[open[0][1]].Name
	}
	return d
}

// said is the caveat.
func (d *Decided) said(c *text.Catalogue) string {
	return c.Say("caveat.decided", text.Args{
		"Open": d.Open, "Compared": d.Compared, "Pattern": d.Pattern, "Than": d.Than, "Rounds": d.Rounds, "MaxRounds": d.MaxRounds, "Rule": d.Looks.rule(c),
	})
}
