package report

import (
	"cmp"
	"fmt"
	"slices"

	"soku/internal/measure"
)

// Answer is what a test shows, as data; its sentence is made where a report is
// written. Estimates and values are in the unit of the metric that ranks the test.
type Answer struct {
	Code AnswerCode `json:"code"`
	// First are the patterns among the best, in the order of the ranking; without a test, those of
	// the first rank.
	First []Estimate `json:"first,omitempty"`
	// Next is the pattern behind those, nil where there is none.
	Next *Estimate `json:"next,omitempty"`
	// Ratio is, of one first pattern, its figure over that of the next one in the rounds of both.
	Ratio *float64 `json:"ratio,omitempty"`
	// Last is, of AnswerPairs, the worst pair of hosts of the first of [Pairs.Maps]; First is
	// the best.
	Last *Estimate `json:"last,omitempty"`
	// Rounds is how many rounds the trials were in; for AnswerBest, in how many the first
	// pattern and the next were compared.
	Rounds int `json:"rounds,omitempty"`
	// Trials are those of a single pattern, or all of them where all failed.
	Trials int `json:"trials,omitempty"`
	// Lowest and Highest trial of a single pattern that has several.
	Lowest  *float64 `json:"lowest,omitempty"`
	Highest *float64 `json:"highest,omitempty"`
	// Confidence is low where patterns were compared that different runs measured.
	Confidence measure.Confidence `json:"confidence,omitempty"`
	// Factor is, of a headline, that of which First and Next are levels, each with its best pattern.
	Factor string `json:"factor,omitempty"`
	// With are the levels of the other factors in the first pattern.
	With []measure.Level `json:"with,omitempty"`
	// Low and High are the 95 % interval of Ratio, which is, of several first levels, that of the first
	// over the second. OnAverage is set where it is over the levels of the other factors.
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	OnAverage bool     `json:"on_average,omitempty"`
	// NeededRounds is about how many rounds would decide, or 0 if that is not known.
	NeededRounds int `json:"needed_rounds,omitempty"`
	// Cause is why most trials failed, where all did.
	Cause *Cause `json:"cause,omitempty"`
}

// AnswerCode is the kind of an answer.
type AnswerCode string

// The codes. An order is claimed only where the ranking shows one.
const (
	AnswerBest          AnswerCode = "best"           // one pattern is alone among the best
	AnswerBestSeen      AnswerCode = "best_seen"      // one is ahead in each of three to five rounds, which show nothing of two or three patterns
	AnswerBestUntested  AnswerCode = "best_untested"  // one is ahead after one or two rounds, which test nothing
	AnswerEqualUntested AnswerCode = "equal_untested" // several have the same figure after one or two rounds
	AnswerNoDifference  AnswerCode = "no_difference"  // all patterns are among the best: none is told apart
	AnswerNoneAhead     AnswerCode = "none_ahead"     // the first ones are among the best; next is not
	// The same of patterns that were measured in different runs of the campaign, so that a
	// change over time cannot be told from a difference.
	AnswerBestOtherRun         AnswerCode = "best_other_run"
	AnswerNoDifferenceOtherRun AnswerCode = "no_difference_other_run"
	AnswerNoneAheadOtherRun    AnswerCode = "none_ahead_other_run"

	// Of headlines alone, in place of no_difference.
	AnswerCurve      AnswerCode = "curve"      // the curve of a factor levels off
	AnswerSame       AnswerCode = "same"       // the factor makes no practical difference
	AnswerLimit      AnswerCode = "limit"      // how much of documented limits is reached
	AnswerContention AnswerCode = "contention" // what running all pairs of hosts concurrently costs
	AnswerUndecided  AnswerCode = "undecided"  // all levels of the factor are among the best

	AnswerPairs            AnswerCode = "pairs"              // several pairs of hosts have figures
	AnswerSingle           AnswerCode = "single"             // one pattern has figures
	AnswerAllFailed        AnswerCode = "all_failed"         // no trial succeeded
	AnswerTargetSilent     AnswerCode = "target_silent"      // trials found hops, and the target never answered
	AnswerNothingToCompare AnswerCode = "nothing_to_compare" // no trial has the figure that ranks
)

// AnswerCodes lists all of them.
func AnswerCodes() []AnswerCode {
	return []AnswerCode{
		AnswerBest, AnswerBestSeen, AnswerBestUntested, AnswerEqualUntested, AnswerNoDifference, AnswerNoneAhead, AnswerBestOtherRun, AnswerNoDifferenceOtherRun,
		AnswerNoneAheadOtherRun, AnswerCurve, AnswerSame, AnswerLimit, AnswerContention, AnswerUndecided, AnswerPairs, AnswerSingle, AnswerAllFailed, AnswerTargetSilent, AnswerNothingToCompare,
	}
}

// Estimate is a pattern and its estimate.
type Estimate struct {
	Pattern  string  `json:"pattern"`
	Estimate float64 `json:"estimate"`
	Level    string  `json:"level,omitempty"` // of the factor of a headline
}

// Cause is an error that trials failed with. Errors that differ in figures only count
// as one, which is the first of them.
type Cause struct {
	*measure.Error
	Trials int `json:"trials"` // that failed with it
}

// findAnswer claims an order only where the ranking shows one.
func (t *Test) findAnswer() Answer {
	placed := slices.DeleteFunc(slices.Clone(t.Ranking), func(p Place) bool { return p.Rank == 0 })
	if len(placed) == 0 {
		return t.noFigure()
	}
	if t.Pairs != nil {
		if best, worst := t.Pairs.Maps[0].ends(); best != nil {
			return Answer{
				Code: AnswerPairs, Rounds: t.Rounds, First: []Estimate{{Pattern: best.String(), Estimate: *best.Estimate}}, Last: &Estimate{Pattern: worst.String(), Estimate: *worst.Estimate},
			}
		}
	}
	a := Answer{Rounds: t.Rounds}
	acrossRuns, seen, pairs := false, false, t.Rounds
	among := len(slices.DeleteFunc(slices.Clone(placed), func(p Place) bool { return !p.Best }))
	tested := among > 0
	for _, p := range placed {
		e := Estimate{Pattern: p.Pattern, Estimate: *p.Estimate}
		switch {
		case p.Best || among != 1 && p.Rank == 1: // as in Test.fromPatterns
			a.First = append(a.First, e)
		case a.Next != nil:
			continue
		default:
			a.Next = &e
			if n, paired := p.Reason.Number("rounds"); paired {
				pairs = int(n)
			}
			_, seen = p.Reason.Number("seen_rounds")
			if ratio, has := p.Reason.Number("difference_ratio"); has && len(a.First) == 1 && p.Reason.Text("than") == a.First[0].Pattern {
				a.Ratio = finite(1 / (1 + ratio))
			}
		}
		acrossRuns = acrossRuns || p.acrossRuns()
	}
	if acrossRuns {
		a.Confidence = measure.Low
	}
	switch first := len(a.First); {
	case len(placed) == 1:
		return t.single(a)
	case !tested && first == 1:
		a.Code = AnswerBestUntested
	case !tested:
		a.Code = AnswerEqualUntested
	case first == len(placed):
		a.Code = either(acrossRuns, AnswerNoDifferenceOtherRun, AnswerNoDifference)
	case first == 1 && seen:
		a.Code, a.Rounds = AnswerBestSeen, pairs
	case first == 1:
		a.Code, a.Rounds = either(acrossRuns, AnswerBestOtherRun, AnswerBest), pairs
	default:
		a.Code = either(acrossRuns, AnswerNoneAheadOtherRun, AnswerNoneAhead)
	}
	return a
}

func either(first bool, a, b AnswerCode) AnswerCode {
	if first {
		return a
	}
	return b
}

// single is the answer where one pattern has figures, with the range of its trials.
func (t *Test) single(a Answer) Answer {
	a.Code = AnswerSingle
	i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Pattern == a.First[0].Pattern })
	var values []float64
	for _, v := range t.Rows[i].Values {
		values = append(values, v.Value)
	}
	if a.Trials = len(values); a.Trials > 1 {
		low, high := slices.Min(values), slices.Max(values)
		a.Lowest, a.Highest = &low, &high
	}
	return a
}

// noFigure is the answer of a test none of whose trials has a figure to rank by.
func (t *Test) noFigure() Answer {
	succeeded := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Trials > 0 })
	switch {
	case !succeeded:
		return Answer{Code: AnswerAllFailed, Trials: len(t.Failures), Cause: commonCause(t.Failures)}
	case slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Route != nil && r.Route.Trace != nil }):
		return Answer{Code: AnswerTargetSilent}
	}
	return Answer{Code: AnswerNothingToCompare}
}

// commonCause is the error of most failures, nil for none.
func commonCause(failures []Failure) *Cause {
	var causes []Cause
	index := map[string]int{}
	for _, f := range failures {
		sort := sortOf(f.Error)
		i, known := index[sort]
		if !known {
			i = len(causes)
			index[sort] = i
			causes = append(causes, Cause{Error: f.Error})
		}
		causes[i].Trials++
	}
	if len(causes) == 0 {
		return nil
	}
	most := slices.MaxFunc(causes, func(a, b Cause) int { return cmp.Compare(a.Trials, b.Trials) })
	return &most
}

// sortOf is the same for errors that are counted as one: those of one kind and code with
// causes of one sort. What has no code is known by its words.
func sortOf(e *measure.Error) string {
	if e.Code == "" {
		return fmt.Sprintf("%s, in words: %s", e.Kind, shapeOf(e.Message))
	}
	sort := fmt.Sprintf("%s, code %s", e.Kind, e.Code)
	cause, _ := e.Figures["cause"].(string) // of the system or another program
	switch {
	case e.Cause != nil:
		sort += ", because of " + sortOf(e.Cause)
	case cause != "":
		sort += ", because of " + shapeOf(cause)
	}
	return sort
}
