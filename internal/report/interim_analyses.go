package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/text"
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
	// Every is the time between two times at which rounds begin, or 0 if they have none. Times is how
	// many the plan has, or 0 if it has a number of rounds.
	Every time.Duration
	Times int
	// Searched is the factor whose levels were chosen while the campaign ran, if any.
	Searched string
	// Question is the factor that the campaign asks about, one of [measure.Questions], or "" if the plan
	// names none: then that of ingested results counts.
	Question string
	// Emulated is set if the plan brings up an emulated network.
	Emulated bool
	// While is what was searched: the highest level of Searched at which each trial holds. Its Text
	// is empty where the plateau was.
	While While
}

// While is a threshold of a figure.
type While struct {
	Text  string // such as loss <= 1 %
	Test  string // label of the test that has the figure
	Holds func(*measure.Result) bool
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

// interimAnalyses is how often comparisons were looked at before their campaign ended.
type interimAnalyses struct {
	stats.Looks
	beyond bool // rounds were added to the most that the plan allows
}

// interim is how often the comparisons of a test were looked at up to a round.
func (u Until) interim(label string, last int) interimAnalyses {
	if u.Looks == nil || len(u.Tests) > 0 && !slices.Contains(u.Tests, label) {
		return interimAnalyses{}
	}
	return interimAnalyses{u.Looks(last), u.MaxRounds > 0 && last > u.MaxRounds}
}

// stricter is that of two that takes more evidence.
func (l interimAnalyses) stricter(o interimAnalyses) interimAnalyses {
	return interimAnalyses{l.Stricter(o.Looks), l.beyond || o.beyond}
}

// InterimRule is the rule of a test whose comparisons were looked at after every round.
type InterimRule struct {
	// LevelRatio is the level of each look, such as 0.007, or 0 if e-values decide.
	LevelRatio float64 `json:"level_ratio,omitempty"`
	EValues    bool    `json:"e_values,omitempty"`
	// BeyondMaximum is set if there were more looks than the plan allows: then more than 5 % of
	// campaigns without a difference show one.
	BeyondMaximum bool `json:"beyond_maximum,omitempty"`
}

// rule is nil for one look.
func (l interimAnalyses) rule() *InterimRule {
	switch {
	case l.Anytime():
		return &InterimRule{EValues: true, BeyondMaximum: l.beyond}
	case l.Repeated():
		return &InterimRule{LevelRatio: l.Alpha(), BeyondMaximum: l.beyond}
	}
	return nil
}

// sentence is a sentence about the rule.
func (l *InterimRule) sentence(c *text.Catalogue) string {
	return c.Sentence("looks.rule", text.Args{"Level": l.LevelRatio, "Beyond": l.BeyondMaximum})
}

// Decided is how the comparisons stand of a campaign that goes on until all are decided.
type Decided struct {
	Looks    InterimRule   `json:"looks"`
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
	rule := t.interim.rule()
	if rule == nil {
		return nil
	}
	against := cmp.Or(u.Against, stats.AgainstBest)
	open, compared := t.interim.Undecided(groups, t.Basis.Metric.Better == metric.Higher, t.Practical, against)
	if compared == 0 {
		return nil
	}
	d := &Decided{Looks: *rule, Against: against, Compared: compared, Open: len(open), Rounds: t.Rounds, MaxRounds: u.MaxRounds}
	if len(open) > 0 {
		d.Pattern, d.Than = groups[open[0][0]].Name, groups[open[0][1]].Name
	}
	return d
}

// decidedCaveat says how the comparisons stand.
func (t testView) decidedCaveat(d *Decided) string {
	return t.Sentence("caveat.decided", text.Args{
		"Open": d.Open, "Compared": d.Compared, "Pattern": t.called(d.Pattern), "Than": t.called(d.Than), "Rounds": d.Rounds, "MaxRounds": d.MaxRounds, "Rule": d.Looks.sentence(t.Catalogue),
	})
}

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
