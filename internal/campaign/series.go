package campaign

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// series is the figures by which a report ranks patterns, of one pattern, pair of ends and
// test: one a trial that succeeded.
type series struct {
	key    plan.TrialKey // without round and repeat
	values map[turn]figure
	// Of the newest trial that succeeded.
	metric    *metric.Definition
	discarded bool // the receiver dropped the bytes unread
	// Worked out from values, see update.
	rounds int     // that have a figure
	width  float64 // half of the 95 % interval over the mean; +Inf where there is none
}

// figure is the figure of a trial, and the run of the campaign that measured it.
type figure struct {
	value   float64
	session int
}

// turn is when a trial of a series ran.
type turn struct{ round, repeat int }

// means are the means of each round, in order.
func (s *series) means() []float64 {
	byRound := map[int][]float64{}
	for at, v := range s.values {
		byRound[at.round] = append(byRound[at.round], v.value)
	}
	rounds := make([]int, 0, len(byRound))
	for round := range byRound {
		rounds = append(rounds, round)
	}
	slices.Sort(rounds)
	out := make([]float64, len(rounds))
	for i, round := range rounds {
		values := byRound[round]
		slices.Sort(values) // the order of a map would change the last digit of the sum
		out[i] = stats.Mean(values)
	}
	return out
}

// update works the rounds and the width out from the values.
func (s *series) update() {
	means := s.means()
	s.rounds, s.width = len(means), math.Inf(1)
	g := stats.EstimateOfRounds(means)
	if half := (g.High - g.Low) / 2 / math.Abs(g.Estimate); half >= 0 {
		s.width = half
	}
}

// figures are the series of a campaign, for plans that decide by them what runs next. The
// zero value is ready for use.
type figures struct {
	of    map[compactKey]*series
	order []*series // in which they came to be
}

// learn takes the result of a trial of a plan into account, in the place of an earlier one.
func (f *figures) learn(p *plan.Plan, at compactKey, key plan.TrialKey, r *measure.Result) {
	when := turn{key.Round, key.Repeat}
	at.round, at.repeat = 0, 0
	s := f.of[at]
	if s == nil {
		key.Round, key.Repeat = 0, 0
		s = &series{key: key, values: map[turn]figure{}}
		if f.of == nil {
			f.of = map[compactKey]*series{}
		}
		f.of[at], f.order = s, append(f.order, s)
	}
	delete(s.values, when)
	if m, v, found := p.Deciding(r); found {
		s.metric, s.discarded = m, len(r.Flows) > 0 && r.Flows[0].Discarded()
		s.values[when] = figure{v, sessionOf(r)}
	}
	s.update()
}

// value is the figure of one trial.
func (f *figures) value(at compactKey, key plan.TrialKey) (v float64, found bool) {
	at.round, at.repeat = 0, 0
	s := f.of[at]
	if s == nil {
		return 0, false
	}
	got, found := s.values[turn{key.Round, key.Repeat}]
	return got.value, found
}

// sessionOf is the number of the run that measured a result; 0 in results of older versions.
func sessionOf(r *measure.Result) int {
	if r.Trial == nil || r.Trial.Session == nil {
		return 0
	}
	return r.Trial.Session.Number
}

// Width is how wide the intervals of a campaign are.
type Width struct {
	// Ratio is half of the widest 95 % interval over its mean; +Inf while one of them is
	// unknown, 0 where there are none.
	Ratio   float64
	Pattern string
	Label   string // of the test
	Rounds  int    // that the figures of this pattern have
}

// widest is the widest interval of the selected patterns, and the fewest rounds of any of
// them. Patterns without a single figure are passed over: more rounds do not help them.
func (f *figures) widest(only plan.Selection, labels []string) (w Width, fewest int) {
	first := true
	for _, s := range f.order {
		if len(s.values) == 0 || !only.Matches(s.key.Levels) || len(labels) > 0 && !slices.Contains(labels, s.key.Label) {
			continue
		}
		if first || s.rounds < fewest {
			fewest = s.rounds
		}
		if first || cmp.Compare(s.width, w.Ratio) > 0 {
			w = Width{Ratio: s.width, Pattern: s.key.Pattern, Label: s.key.Label, Rounds: s.rounds}
		}
		first = false
	}
	return w, fewest
}
