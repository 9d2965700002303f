package campaign

import (
	"slices"
	"strings"
)

// Weakness is why a plan cannot decide something, or only in part.
type Weakness struct {
	Code   WeaknessCode `json:"code"`
	Tests  []string     `json:"tests,omitempty"` // labels, of tests with so few Rounds
	Factor string       `json:"factor,omitempty"`
	Other  string       `json:"other,omitempty"` // factor
	Rounds int          `json:"rounds,omitempty"`
	Hosts  int          `json:"hosts,omitempty"` // that are in several pairs
}

// WeaknessCode is the kind of a weakness.
type WeaknessCode string

// The codes.
const (
	WeakOneRound   WeaknessCode = "one_round"  // one round has no spread: patterns cannot be tested
	WeakFewRounds  WeaknessCode = "few_rounds" // too few rounds for a test without assumptions
	WeakConfounded WeaknessCode = "confounded" // each level of Factor occurs with one level of Other
	WeakOwnHosts   WeaknessCode = "own_hosts"  // each level of Factor has one pair of hosts of its own
	// WeakSharedHosts: the plan compares ways of contention, and if all pairs run concurrently,
	// Hosts are in several trials, so the cost may come from them.
	WeakSharedHosts WeaknessCode = "shared_hosts"
)

// ExactRounds is how many rounds an exact test needs to show something at 5 %.
const ExactRounds = 6

// Weaknesses are what keeps the plan from deciding about the patterns that only selects.
func Weaknesses(p *Plan, only Selection) (out []Weakness) {
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
		if hasOwnHosts(p, f, only) {
			out = append(out, Weakness{Code: WeakOwnHosts, Factor: p.Factors[f].Name})
		}
	}
	if shared := sharedHosts(p, only); shared > 0 {
		out = append(out, Weakness{Code: WeakSharedHosts, Factor: ContentionFactor, Hosts: shared})
	}
	return out
}

// sharedHosts is how many hosts are in several pairs, where the selected patterns compare pairs
// by themselves with all at once; 0 otherwise.
func sharedHosts(p *Plan, only Selection) int {
	if !p.HasPairs() {
		return 0
	}
	isolated, together := false, false
	patterns := p.AllPatterns()
	for i := range patterns {
		if pt := &patterns[i]; only.Matches(pt.Levels) && !p.IsControl(pt.Levels) {
			isolated, together = isolated || !pt.together, together || pt.together
		}
	}
	if !isolated || !together {
		return 0
	}
	return p.hostsInSeveralPairs()
}

// hasOwnHosts reports whether each level of a factor was put on one pair of hosts, and no two
// levels on the same one. Of a plan with pairs none is: its levels choose addresses only, and each
// is measured between all pairs.
func hasOwnHosts(p *Plan, factor int, only Selection) bool {
	if p.HasPairs() {
		return false
	}
	of, used := map[string]string{}, map[string]bool{}
	patterns := p.AllPatterns()
	for i := range patterns {
		pt := &patterns[i]
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
