package report

import (
	"time"

	"soku/internal/measure"
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
	Seed       int64     `json:"seed"`                 // of the order of trials; it seeds the resampling too
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
}

// Report is a campaign's outcome. A Report is not changed after [Build] and
// may then be written from several goroutines at once.
type Report struct {
	Schema   string    `json:"schema"`
	Title    string    `json:"title"`
	Campaign Meta      `json:"campaign"`
	From     time.Time `json:"from,omitzero"` // start of the first trial
	To       time.Time `json:"to,omitzero"`   // start of the last
	Trials   int       `json:"trials"`
	Failed   int       `json:"failed"`
	Ingested int       `json:"ingested,omitempty"` // trials that soku did not measure
	Rounds   int       `json:"rounds"`
	Tests    []Test    `json:"tests"`              // one element a label, in order of label
	Warnings []Warning `json:"warnings,omitempty"` // most frequent first
	Hosts    []Host    `json:"hosts,omitempty"`
	Tools    []string  `json:"tools,omitempty"` // program versions and protocols that took part
}

// Test is everything measured under one label of the plan.
type Test struct {
	Label       string       `json:"label"`
	Test        measure.Test `json:"test"`
	Description string       `json:"description"` // the options that matter, in words
	Answer      string       `json:"answer"`      // one sentence
	Caveats     []string     `json:"caveats,omitempty"`
	Basis       Basis        `json:"basis"`
	Factors     []string     `json:"factors"` // columns of Rows[].Levels
	Rows        []Row        `json:"rows"`    // one element a pattern
	Ranking     []Place      `json:"ranking"` // best first
	Failures    []Failure    `json:"failures,omitempty"`
	Same        []Option     `json:"options,omitempty"`         // options with one value in every trial
	Different   []Option     `json:"options_varied,omitempty"`  // options with several
	Floor       *Spread      `json:"floor_ns,omitempty"`        // medians of the floors, where the test takes one
	Rounds      int          `json:"rounds"`                    // distinct rounds
	ByHand      bool         `json:"by_hand,omitempty"`         // trials outside a campaign
	Methods     []string     `json:"latency_methods,omitempty"` // how round trips were timed
	Ingested    []Source     `json:"ingested,omitempty"`        // where trials that soku did not measure came from
	Lacks       []Lack       `json:"lacks,omitempty"`           // what those do not have
}

// Basis is the one figure per trial that a ranking rests on.
type Basis struct {
	// Figure is "goodput_bps", "connections_per_second", "path_mtu_bytes" or
	// "rtt_p50_ns"; of ingested trials also "rtt_mean_ns" or "rtt_mean_middle_ns".
	Figure         string `json:"figure"`
	HigherIsBetter bool   `json:"higher_is_better"`
	Text           string `json:"text"` // "goodput, higher is better"
}

// Row is one pattern of one test.
type Row struct {
	Pattern    string          `json:"pattern"`
	Levels     []measure.Level `json:"levels"` // in the order of Test.Factors; absent factors have an empty value
	Paths      []string        `json:"paths"`  // "client → server"; one unless the pattern covers several
	Trials     int             `json:"trials"` // that succeeded
	Failed     int             `json:"failed"`
	Ingested   int             `json:"ingested,omitempty"` // of both, those that soku did not measure
	Rank       int             `json:"rank"`               // 0: no values
	Goodput    *Spread         `json:"goodput_bps,omitempty"`
	Forward    *Spread         `json:"forward_bps,omitempty"` // bidirectional trials: each direction on its own
	Reverse    *Spread         `json:"reverse_bps,omitempty"`
	Retrans    *Spread         `json:"retransmits,omitempty"`
	Loss       *Spread         `json:"loss_ratio,omitempty"`
	Jitter     *Spread         `json:"jitter_ns,omitempty"`
	PPS        *Spread         `json:"packets_per_second,omitempty"`
	CPU        *Spread         `json:"cpu_seconds_per_gb,omitempty"` // both ends together
	CPS        *Spread         `json:"connections_per_second,omitempty"`
	MTU        *Spread         `json:"path_mtu_bytes,omitempty"`
	Route      *Route          `json:"route,omitempty"`
	Fairness   *Spread         `json:"fairness_index,omitempty"` // Jain's, of the streams' goodputs
	UnderLoad  *UnderLoad      `json:"latency_under_load,omitempty"`
	RTT        *RTT            `json:"rtt_ns,omitempty"`
	Reported   *Reported       `json:"rtt_reported_ns,omitempty"` // trials without a histogram
	Duration   *Spread         `json:"duration_ns,omitempty"`     // of trials that moved a fixed amount
	Floor      *Spread         `json:"floor_ns,omitempty"`
	Confidence Confidences     `json:"confidence"`
	Values     []Value         `json:"values"` // one element a successful trial that has the basis figure, in order of round and repeat

	series   []series
	sharings []sharing
}

// Spread describes one figure over the successful trials of a pattern.
type Spread struct {
	Mean float64 `json:"mean"` // of the round means
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	CV   float64 `json:"cv"` // standard deviation / mean over trials; 0 for one trial
	N    int     `json:"n"`
}

// RTT are round trips of all trials of a pattern together: percentiles of the
// merged histograms, never averages of percentiles.
type RTT struct {
	measure.Percentiles
	MeanLow   float64            `json:"run_mean_low"` // smallest mean of a single trial
	MeanHigh  float64            `json:"run_mean_high"`
	Sent      int64              `json:"sent"`
	Received  int64              `json:"received"`
	Lost      int64              `json:"lost"`
	LossRatio float64            `json:"loss_ratio"`
	Histogram *measure.Histogram `json:"histogram"`
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
// round gives no interval.
type Place struct {
	Rank     int      `json:"rank"` // equal ranks: no difference shown; 0: no values
	Pattern  string   `json:"pattern"`
	Estimate *float64 `json:"estimate,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Reason   string   `json:"reason"`
}

// Failure is a trial that failed, with the sentence it left.
type Failure struct {
	Pattern string       `json:"pattern"`
	Round   int          `json:"round,omitempty"`
	Repeat  int          `json:"repeat,omitempty"`
	Kind    measure.Kind `json:"kind"`
	Message string       `json:"message"`
	Hint    string       `json:"hint,omitempty"`
	Result  string       `json:"result"`
}

// Option is an option's key in a plan with its value or values as text.
type Option struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Warning is a sentence that results carry. Sentences that differ in their
// figures only are counted together; Text is the first of them.
type Warning struct {
	Text     string   `json:"text"`
	Trials   int      `json:"trials"` // results that carry it
	Alike    bool     `json:"alike,omitempty"`
	Tests    []string `json:"tests"`
	Patterns []string `json:"patterns"`
}

// Host is one machine that took part.
type Host struct {
	Name  string   `json:"name"`
	Roles []string `json:"roles"` // "client", "server"
	Facts []Fact   `json:"facts"`
}

// Fact is one property of a host; several values mean that it changed between trials.
type Fact struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// series is one trial over time: rates in bit/s or round trips in ns.
type series struct {
	round, repeat int
	failed        bool
	points        []point
}

type point struct{ at, value, high float64 } // seconds; high: latency's maximum
