package advice

import (
	"fmt"
	"slices"
	"time"

	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// Estimate is what a part of a campaign will take, before it runs.
type Estimate struct {
	Patterns int `json:"patterns"`
	Pairs    int `json:"pairs"` // of each pattern
	// PairsOfPatterns is the sum of the pairs that the patterns measure: fewer than all of each where a
	// sample is measured one at a time.
	PairsOfPatterns int `json:"pairs_of_patterns"`
	AtOnce          int `json:"trials_at_once"` // at most
	Trials          int `json:"trials"`         // with find at most
	// FewestTrials is how many there are at least, where searches decide; else 0.
	FewestTrials int           `json:"trials_fewest,omitempty"`
	Time         time.Duration `json:"time_ns"`
	// Round is how long a round takes, where rounds begin at fixed times; else 0.
	Round time.Duration `json:"round_ns,omitempty"`
	// HandChanges is how many changes a person makes: at most, or exactly where the order is known.
	HandChanges int `json:"hand_changes,omitempty"`
	// TimeUnknown are labels of tests that end after an amount at an unknown
	// rate; Time then counts only the trials' overhead for them.
	TimeUnknown []string `json:"time_unknown,omitempty"`
	// Bytes is the payload of the tests whose rate or amount is given, in all
	// directions together.
	Bytes int64 `json:"bytes"`
	// BytesUnknown are labels of tests that go as fast as they can.
	BytesUnknown []string `json:"bytes_unknown,omitempty"`
	// MaxBytes is the plan's cap on payload, 0 for none, and MaxBytesKey the key that says so.
	MaxBytes    int64  `json:"max_bytes,omitempty"`
	MaxBytesKey string `json:"max_bytes_key,omitempty"`
	// MaxTime is what all runs of the campaign may take, 0 for no limit.
	MaxTime time.Duration `json:"max_time_ns,omitempty"`
	// Price is of Bytes, and MaxPrice of MaxBytes, if the plan has a price; the
	// payload of both directions is counted, though often only one is charged.
	Price    *float64 `json:"egress_price,omitempty"`
	MaxPrice *float64 `json:"egress_price_max,omitempty"`
}

// EstimateOf adds up the patterns that only selects.
func EstimateOf(p *plan.Plan, only plan.Selection) Estimate { return EstimateWith(p, only, 0) }

// EstimateWith is EstimateOf with rounds that were added to those of the plan.
func EstimateWith(p *plan.Plan, only plan.Selection, added int) Estimate {
	return EstimateFrom(p, only, added, func([]measure.Level) int { return 1 })
}

// EstimateFrom is EstimateWith for patterns each of which begins with the round that first returns.
func EstimateFrom(p *plan.Plan, only plan.Selection, added int, first func([]measure.Level) int) Estimate {
	e := Estimate{Pairs: p.PairCount(), AtOnce: 1, MaxTime: p.Budget.Time.Std()}
	e.MaxBytes, e.MaxBytesKey = p.MostBytes()
	known := map[string]forecasted{}
	turns := searchTurns(p, p.LastRound()+added)
	patterns := p.AllPatterns()
	for i := range patterns {
		pt := &patterns[i]
		if !only.Matches(pt.Levels) {
			continue
		}
		e.Patterns++
		e.PairsOfPatterns += p.PairsOf(pt)
		from := first(pt.Levels)
		for n, t := range pt.Tests {
			last := p.RoundsOf(&p.Tests[n].Value)
			rounds := max(0, min(last, p.LastRound()+added)-from+1) + max(0, min(added, p.LastRound()+added-from+1))
			if turns != nil {
				rounds = min(rounds, turns[i])
			}
			trials := p.PairsOf(pt) * p.RepeatsOf(&p.Tests[n].Value) * rounds
			e.Trials += trials
			if _, known := schedule.TrialTime(t.Test, t.Options); !known && !slices.Contains(e.TimeUnknown, t.Label) {
				e.TimeUnknown = append(e.TimeUnknown, t.Label)
			}
			payload, known := schedule.TrialBytes(t.Test, t.Options)
			e.Bytes += int64(trials) * payload
			if !known && !slices.Contains(e.BytesUnknown, t.Label) {
				e.BytesUnknown = append(e.BytesUnknown, t.Label)
			}
		}
		rounds := p.LastRound() + added
		if turns != nil {
			rounds = turns[i]
		}
		addTime(p, &e, i, from, rounds, known)
	}
	if turns != nil {
		e.FewestTrials, _ = p.SearchTrials(only, added)
	}
	e.addWaits(p.Every.Std(), p.LastRound()+added)
	switch states := len(p.HandStates(only)); {
	case p.Chooses(only): // they were made before the run, or there are none
	case states == 1:
		e.HandChanges = 1
	default:
		e.HandChanges = states * (p.LastRound() + added)
	}
	if p.Budget.PricePerGB > 0 {
		price := func(bytes int64) *float64 { v := float64(bytes) / 1e9 * p.Budget.PricePerGB; return &v }
		e.Price = price(e.Bytes)
		if e.MaxBytes > 0 {
			e.MaxPrice = price(e.MaxBytes)
		}
	}
	return e
}

// addWaits adds the time between rounds that begin at fixed times. A longer round misses times.
func (e *Estimate) addWaits(every time.Duration, rounds int) {
	if every > 0 {
		e.Round = e.Time / time.Duration(rounds)
		e.Time = time.Duration(rounds-1)*roundStep(e.Round, every) + e.Round
	}
}

// roundStep is the time from the beginning of a round to that of the next.
func roundStep(round, every time.Duration) time.Duration {
	times := int64((round + every - 1) / every)
	return time.Duration(max(1, times)) * every
}

// forecasted is what [schedule.Forecast] returned.
type forecasted struct {
	time time.Duration
	most int
}

// searchTurns is, by pattern, how many blocks an estimate counts for searches in a number of
// rounds: the highest levels, as many as the first round visits at most, once, and the last of them
// also in the turns. nil without find.
func searchTurns(p *plan.Plan, rounds int) []int {
	if !p.Searches() {
		return nil
	}
	out := make([]int, len(p.AllPatterns()))
	for _, patterns := range p.PatternsBySearch() {
		_, first := p.Sweep(len(patterns), 1).Trials()
		_, both := p.Sweep(len(patterns), 2).Trials()
		for level, i := range patterns {
			switch above := len(patterns) - level; {
			case above <= both-first:
				out[i] = rounds
			case above <= first:
				out[i] = 1
			}
		}
	}
	return out
}

// addTime adds the time of a pattern's blocks from a round to the last of all. Blocks of trials that
// are as long are forecast once.
func addTime(p *plan.Plan, e *Estimate, number, from, all int, known map[string]forecasted) {
	pt, last := &p.AllPatterns()[number], p.LastRound()
	for round := from; round <= all; {
		r, rounds := schedule.NewRound(p, "", 0, round), all-round+1
		if round <= last {
			rounds = min(schedule.SameTests(p, round), all-round+1)
		}
		length := make([]time.Duration, len(r.Tests))
		for i, t := range r.Tests {
			planned, _ := schedule.TrialTime(pt.Tests[t.Test].Test, pt.Tests[t.Test].Options)
			length[i] = planned + p.Pause.Std()
		}
		key := fmt.Sprint(pt.Together, length)
		f, done := known[key]
		if !done {
			f.time, f.most = schedule.Forecast(r.Block(0, number), p.Concurrency(), func(i int) time.Duration { return length[i/p.PairsOf(pt)] })
			known[key] = f
		}
		e.Time += time.Duration(rounds) * f.time
		e.AtOnce = max(e.AtOnce, f.most)
		round += rounds
	}
}

// UntilEstimate is the estimate of a plan with until for the fewest and for the most rounds;
// false without until.
func UntilEstimate(p *plan.Plan, only plan.Selection) (fewest, most Estimate, ok bool) {
	if !p.Until.Adds() {
		return fewest, most, false
	}
	last := p.LastRound()
	return EstimateWith(p, only, max(0, p.Until.FirstAnalysis()-last)), EstimateWith(p, only, p.Until.Most()-last), true
}
