package report

import (
	"encoding/json"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/text"
)

// Schema is the identity of the JSON form of a report. Members may be added
// under the same number.
const Schema = "soku.report/1"

// Meta is what the report says of the campaign itself. A zero Meta stands for
// trials that were run by hand.
type Meta struct {
	ID         string    `json:"id,omitempty"`
	Name       string    `json:"name,omitempty"`
	Title      string    `json:"title,omitempty"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"` // zero while trials are left
	Seed       int64     `json:"seed"`                 // of the order of trials
	Plan       string    `json:"plan,omitempty"`       // YAML text
}

// Input is what a report is made of. Results may be in any order; of several
// with one ID the first counts.
type Input struct {
	Campaign Meta
	Results  []*measure.Result
	// Patterns are the levels of patterns in the order that rows shall have. Other
	// patterns come after them, sorted by their levels.
	Patterns [][]measure.Level
	// Tests are labels in the order that tests shall have. Others come after them, sorted by
	// kind and label.
	Tests []string
	// Unvaried are, by label of a test, factors that set nothing in it. Patterns that differ
	// only in those are one pattern there: a comparison would be of one thing under two names.
	Unvaried map[string][]string
	Design   Design
}

// Report is a campaign's outcome. A Report is not changed after it was built and
// may then be written from several goroutines.
type Report struct {
	Schema   string    `json:"schema"`
	Title    string    `json:"title"` // empty for trials run by hand; its JSON form has words
	Campaign Meta      `json:"campaign"`
	From     time.Time `json:"from,omitzero"` // start of the first trial
	To       time.Time `json:"to,omitzero"`   // start of the last
	Trials   int       `json:"trials"`
	Failed   int       `json:"failed"`
	Ingested int       `json:"ingested,omitempty"` // trials that soku did not measure
	Rounds   int       `json:"rounds"`
	Emulated bool      `json:"emulated,omitempty"` // measured in an emulated network
	Times    *Times    `json:"times,omitempty"`    // at which rounds were to begin, where some were missed
	Tests    []Test    `json:"tests"`              // one element a label, in the plan's order
	Warnings []Warning `json:"warnings,omitempty"` // most frequent first
	Hosts    []Host    `json:"hosts,omitempty"`
	Tools    []Tool    `json:"tools,omitempty"` // program versions and protocols that took part

	brief   bool // as text for a terminal; see Brief
	dataURL string
	undated bool // no trial has a time: those of files stand for them
}

// Test is everything measured under one label of the plan. Its JSON form also has
// sentences, and a label that distinguishes tests of several captures.
type Test struct {
	Label       string           `json:"label"`
	Test        measure.Test     `json:"test"`
	Answer      Answer           `json:"answer_facts"`
	Headline    *Answer          `json:"headline_facts,omitempty"` // about a factor, or nil where Answer is said first
	Caveats     []Caveat         `json:"caveat_facts,omitempty"`
	Basis       Basis            `json:"basis"`
	Factors     []string         `json:"-"`       // columns of Rows[].Levels
	Rows        []Row            `json:"rows"`    // one element a pattern
	Ranking     []Place          `json:"ranking"` // best first
	Failures    []Failure        `json:"failures,omitempty"`
	Same        []Option         `json:"options,omitempty"`        // options with one value in every trial
	Different   []Option         `json:"options_varied,omitempty"` // options with several
	Floor       *Spread          `json:"floor_ns,omitempty"`       // medians of the floors, where the test takes one
	Rounds      int              `json:"rounds"`                   // distinct rounds
	ByHand      bool             `json:"by_hand,omitempty"`        // trials outside a campaign
	Timings     []measure.Timing `json:"timings,omitempty"`        // how round trips were timed
	Capture     capture          `json:"capture,omitempty"`        // how TCP receivers took the bytes: discarded or read
	Ingested    []Source         `json:"ingested,omitempty"`       // where trials that soku did not measure came from
	Missing     []Missing        `json:"missing,omitempty"`        // what those do not have
	Unvaried    []string         `json:"unvaried,omitempty"`       // factors that set nothing here: trials of all their levels are in one row
	Runs        []RunPatterns    `json:"runs,omitempty"`           // which run measured what, where they did not measure the same patterns
	NotMeasured []string         `json:"not_measured,omitempty"`   // patterns of the plan without a trial here

	Practical   float64   `json:"practical_ratio"`            // smallest difference that matters
	Reached     []Reached `json:"limit_reached,omitempty"`    // the largest share first
	Moved       *Moved    `json:"limit_moved_with,omitempty"` // the factor whose level decides what limits
	Controls    []Control `json:"control,omitempty"`          // what the control patterns show
	ControlRows []Row     `json:"control_rows,omitempty"`     // their figures: they are not in Rows

	Ranges []DisjointRanges `json:"ranges_apart,omitempty"` // of ingested ranges: what they show without a test

	// Effects of factors, if several vary. A factor that relabels another one is left out.
	FactorEffects []FactorEffect `json:"factors"`
	Effects       []LevelEffect  `json:"effects,omitempty"` // pairs of levels of each factor: all, or the 1,000 of the largest ratios
	Interactions  []Interaction  `json:"interactions,omitempty"`
	// PlateauOf is the searched factor at whose plateau the others are compared, or "" if
	// no levels were searched.
	PlateauOf string `json:"effects_at_plateau_of,omitempty"`

	// AtBest is the test at the best level of its tuning factors and without these, as factors are
	// compared, or nil; see findAtBest. Tuned are these levels, in a test that is AtBest of another.
	AtBest *Test           `json:"-"`
	Tuned  []measure.Level `json:"-"`

	Curve  *Curve  `json:"curve,omitempty"`  // over the levels of a factor that are numbers
	Curves []Curve `json:"curves,omitempty"` // instead, where other factors vary: one a combination of their levels

	FlowGroups []FlowGroups `json:"flow_groups,omitempty"` // of patterns whose flows share unevenly, in the order of the rows

	Pairs *Pairs `json:"pairs,omitempty"` // of hosts, where patterns were measured between several

	apart   bool         // another test differs from it in the capture only
	stated  int          // ingested trials whose table states their round
	placed  []string     // factors of which each level has a placement of its own
	wide    *Wide        // the widest interval, where the plan wants a narrower one
	later   []LaterLevel // levels that were not in the first rounds
	interim interimAnalyses
	zeros   int      // means of rounds that are 0, which keep effects of factors from being ratios
	decided *Decided // how comparisons stand; nil unless the plan wants them decided

	asked       string          // the factor that the campaign asks about, or ""
	askedByName bool            // it is named, and not chosen by what it does
	byPatterns  bool            // the campaign asks which pattern is best
	hues        hues            // of the charts
	pivot       *pivot          // the table that was asked for, or nil
	baseline    []measure.Level // of the pattern with which tables compare; none: the best
}

// Row is one pattern of one test. In its JSON form a figure is a member of its
// own, [metric.Definition.ReportMembers].
type Row struct {
	Pattern  string
	Levels   []measure.Level // in the order of Test.Factors; absent factors have an empty value
	Paths    []string        // "client → server"; one unless the pattern covers several
	Trials   int             // that succeeded
	Failed   int
	Ingested int // of both, those that soku did not measure
	// WithoutFigure is how many of Trials do not have the figure that ranks, where others of the
	// test have it.
	WithoutFigure int
	Rank          int      // 0: no values
	Figures       []Figure // in the order of the metrics of the test; those that a trial has
	Route         *Route
	Reported      *Reported // trials without a histogram
	Confidence    Confidences
	Verdict       *RowVerdict // nil: no trial has one
	Limits        []RowLimit  // documented limits, one a figure
	Values        []Value     // one element a successful trial that has the basis figure, in order of round and repeat

	results    []*measure.Result // without series, in order of round and repeat
	histograms map[*metric.Distribution]*measure.Histogram
	series     []series
	sharings   []sharing
	loads      []loadSeries
	copies     []*copySeries // of trials that succeeded
}

// Value is the basis figure of one trial.
type Value struct {
	Round      int                `json:"round"`
	Repeat     int                `json:"repeat"`
	Value      float64            `json:"value"`
	Confidence measure.Confidence `json:"confidence,omitempty"`
	Result     string             `json:"result"` // its ID
}

// Confidences count trials by the label each of them carries.
type Confidences struct {
	High   int `json:"high"`
	Medium int `json:"medium"`
	Low    int `json:"low"`
}

// Place is a pattern's place in the ranking. Low and High are absent where one
// round gives no interval. Its JSON form also has the member reason, the sentence.
type Place struct {
	Rank int `json:"rank"` // equal ranks: no difference shown; 0: no values
	// RankLow is 1 plus the patterns that are shown to be better, RankHigh is all patterns
	// without those that are shown to be worse. Both are 0 where nothing was tested, as are
	// Best and Letters.
	RankLow  int    `json:"rank_low,omitempty"`
	RankHigh int    `json:"rank_high,omitempty"`
	Best     bool   `json:"best,omitempty"`    // not shown to be worse than any other
	Letters  string `json:"letters,omitempty"` // in common: no difference shown. Absent if more than 52 are needed
	// Same is set if a difference from the best as large as the practical threshold is ruled
	// out.
	Same     bool            `json:"same_as_best,omitempty"`
	Pattern  string          `json:"pattern"`
	Estimate *float64        `json:"estimate,omitempty"`
	Low      *float64        `json:"low,omitempty"`
	High     *float64        `json:"high,omitempty"`
	Reason   measure.Finding `json:"reason_finding"`

	behind *stats.Comparison // against the first, or nil if not tested

	alike bool // neighbouring rounds are alike in the difference that the reason, or Same, is of
}

// MarshalJSON writes the place with the sentence of its reason.
func (p Place) MarshalJSON() ([]byte, error) {
	type plain Place
	return json.Marshal(struct {
		plain
		Text string `json:"reason"`
	}{plain(p), text.ForPrograms().Finding(p.Reason)})
}

// Failure is a trial that failed, with its error.
type Failure struct {
	Pattern string `json:"pattern"`
	Round   int    `json:"round,omitempty"`
	Repeat  int    `json:"repeat,omitempty"`
	*measure.Error
	Result string `json:"result"`
}

// Option is an option's key in a plan with its value or values as text.
type Option struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Warning is a finding that results carry. Findings of one code about one place are
// counted together; the finding is the first of them. Of findings that are sentences
// those that differ in figures only are counted together. Its JSON form also has the
// member text, the sentence.
type Warning struct {
	measure.Finding
	Trials   int      `json:"trials"`          // results that carry it
	Alike    bool     `json:"alike,omitempty"` // others have other figures
	Tests    []string `json:"tests"`
	Patterns []string `json:"patterns"`
}

// Host is one machine that took part.
type Host struct {
	Name  string   `json:"name"`
	Roles []string `json:"roles"` // "client", "server"
	Facts []Fact   `json:"facts"`

	latest measure.Facts // of the result that was added last, whose facts need not be added again
}
