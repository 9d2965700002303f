package schedule

import "soku/internal/campaign/plan"

// Round is a round of a campaign: the blocks of all patterns, with the same tests in each.
type Round struct {
	Plan     *plan.Plan
	Campaign string // identity
	Seed     int64
	Number   int          // from 1
	Tests    []TestRepeat // the trials of each pair, in their order
}

// TestRepeat is a test of a pattern, by its index there, and which of its repeats.
type TestRepeat struct{ Test, Repeat int }

// NewRound returns a round of a plan. Rounds after the last one of the plan have all its tests.
func NewRound(p *plan.Plan, campaignID string, seed int64, number int) Round {
	return Round{Plan: p, Campaign: campaignID, Seed: seed, Number: number, Tests: testsOf(p, number)}
}

// testsOf returns the trials of a pair in a round, in their order: repeat by repeat the tests
// that have as many repeats and rounds.
func testsOf(p *plan.Plan, round int) []TestRepeat {
	added := round > p.LastRound()
	var out []TestRepeat
	for repeat := 1; ; repeat++ {
		some := false
		for i := range p.Tests {
			t := &p.Tests[i].Value
			if repeat <= p.RepeatsOf(t) && (added || round <= p.RoundsOf(t)) {
				out, some = append(out, TestRepeat{i, repeat}), true
			}
		}
		if !some {
			return out
		}
	}
}

// SameTests is how many consecutive rounds of the plan, from one of them on, have the same tests.
func SameTests(p *plan.Plan, round int) int {
	last := p.LastRound()
	for i := range p.Tests {
		if r := p.RoundsOf(&p.Tests[i].Value); r >= round {
			last = min(last, r)
		}
	}
	return last - round + 1
}
