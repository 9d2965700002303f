package campaign

import (
	"slices"
	"strings"

	"soku/internal/measure"
)

// Weakness is why a plan cannot decide something, or only in part.
type Weakness struct {
	Code   WeaknessCode `json:"code"`
	Tests  []string     `json:"tests,omitempty"` // labels, of tests with so few Rounds
	Factor string       `json:"factor,omitempty"`
	Other  string       `json:"other,omitempty"` // factor
	Rounds int          `json:"rounds,omitempty"`
}

// WeaknessCode is the kind of a weakness.
type WeaknessCode string

// The codes.
const (
	WeakOneRound   WeaknessCode = "one_round"  // one round has no spread: patterns cannot be tested
	WeakFewRounds  WeaknessCode = "few_rounds" // too few rounds for a test without assumptions
	WeakConfounded WeaknessCode = "confounded" // each level of Factor occurs with one level of Other
	WeakOwnHosts   WeaknessCode = "own_hosts"  // each level of Factor has one pair of hosts of its own
)

// ExactRounds is how many rounds an exact test needs to show something at 5 %.
const ExactRounds = 6

// Weaknesses are what keeps the plan from deciding about the patterns that only selects.
func (p *Plan) Weaknesses(only Selection) (out []Weakness) {
	levels := p.comparedLevels(only)
	for i := range p.Tests {
		rounds := p.roundsOf(&p.Tests[i].Value)
		if !p.Compares(only) || p.Until.Adds() || rounds >= ExactRounds {
			continue
		}
		w := Weakness{Code: WeakFewRounds, Rounds: rounds}
		if rounds < 2 {
			w.Code = WeakOneRound
		}
		at := slices.IndexFunc(out, func(o Weakness) bool { return o.Code == w.Code && o.Rounds == rounds })
		if at < 0 {
			at = len(out)
			out = append(out, w)
		}
		out[at].Tests = append(out[at].Tests, p.Tests[i].Name)
	}
	for f := range p.Factors {
		for o := range p.Factors[:f] {
			of, by := f, o
			if !determines(levels, of, by) {
				of, by = o, f
			}
			if determines(levels, of, by) {
				out = append(out, Weakness{Code: WeakConfounded, Factor: p.Factors[of].Name, Other: p.Factors[by].Name})
			}
		}
		if p.hasOwnHosts(f, only) {
			out = append(out, Weakness{Code: WeakOwnHosts, Factor: p.Factors[f].Name})
		}
	}
	return out
}

// determines reports whether each level of a factor occurs with one level of another, and both
// vary.
func determines(patterns [][]measure.Level, factor, other int) bool {
	of, seen := map[string]string{}, map[string]bool{}
	for _, levels := range patterns {
		a, b := levels[factor].Value, levels[other].Value
		if known, found := of[a]; found && known != b {
			return false
		}
		of[a], seen[b] = b, true
	}
	return len(of) > 1 && len(seen) > 1
}

// hasOwnHosts reports whether each level of a factor was put on one pair of hosts, and no two
// levels on the same one.
func (p *Plan) hasOwnHosts(factor int, only Selection) bool {
	if p.HasPairs() {
		return false
	}
	of, used := map[string]string{}, map[string]bool{}
	for i := range p.patterns {
		pt := &p.patterns[i]
		if !only.Matches(pt.Levels) || p.IsControl(pt.Levels) {
			continue
		}
		from, _, _ := strings.Cut(pt.From, ".")
		to, _, _ := strings.Cut(pt.To, ".")
		hosts, level := from+"\n"+to, pt.Levels[factor].Value
		if known, found := of[level]; found && known != hosts {
			return false
		}
		of[level] = hosts
		used[hosts] = true
	}
	return len(of) > 1 && len(used) == len(of)
}
