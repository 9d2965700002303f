package advice

import (
	"slices"
	"strings"
	"time"

	"soku/internal/campaign/plan"
)

// DesignWarning is why a plan cannot decide something, or only in part.
type DesignWarning struct {
	Code   WarningCode `json:"code"`
	Tests  []string    `json:"tests,omitempty"` // labels, of tests with so few Rounds
	Factor string      `json:"factor,omitempty"`
	Other  string      `json:"other,omitempty"` // factor
	Rounds int         `json:"rounds,omitempty"`
	Hosts  int         `json:"hosts,omitempty"`  // that are in several pairs
	Pairs  int         `json:"pairs,omitempty"`  // that are measured one at a time
	Sample int         `json:"sample,omitempty"` // of Pairs, that would do

	Endpoints []string `json:"endpoints,omitempty"` // whose servers share a host and Port
	Port      int      `json:"port,omitempty"`      // or absent if the endpoints name none

	Round time.Duration `json:"round_ns,omitempty"` // how long a round takes
	Step  time.Duration `json:"step_ns,omitempty"`  // from the beginning of a round to that of the next
}

// WarningCode is the kind of a design warning.
type WarningCode string

// The codes.
const (
	WarnOneRound   WarningCode = "one_round"  // one round has no spread: patterns cannot be tested
	WarnFewRounds  WarningCode = "few_rounds" // too few rounds for a test without assumptions
	WarnConfounded WarningCode = "confounded" // each level of Factor occurs with one level of Other
	WarnOwnHosts   WarningCode = "own_hosts"  // each level of Factor has one pair of hosts of its own
	// WarnSharedHosts: the plan compares ways of contention, and if all pairs run concurrently,
	// Hosts are in several trials, so the cost may come from them.
	WarnSharedHosts WarningCode = "shared_hosts"
	// WarnManyIsolated: the plan compares ways of contention, and a round measures all Pairs one at a time,
	// where Sample of them would do.
	WarnManyIsolated WarningCode = "many_isolated"
	// WarnSharedPort: servers of Endpoints have one host by ssh and one Port.
	WarnSharedPort WarningCode = "shared_port"
	// WarnMissedTimes: a Round takes longer than the time between two, so that one begins every Step.
	WarnMissedTimes WarningCode = "missed_times"
)

// ExactRounds is how many rounds an exact test needs to show something at 5 %.
const ExactRounds = 6

// Warnings are what keeps the plan from deciding about the patterns that only selects.
func Warnings(p *plan.Plan, only plan.Selection) (out []DesignWarning) {
	levels := p.ComparedLevels(only)
	for i := range p.Tests {
		rounds := p.RoundsOf(&p.Tests[i].Value)
		if !p.Compares(only) || p.Until.Adds() || rounds >= ExactRounds {
			continue
		}
		w := DesignWarning{Code: WarnFewRounds, Rounds: rounds}
		if rounds < 2 {
			w.Code = WarnOneRound
		}
		at := slices.IndexFunc(out, func(o DesignWarning) bool { return o.Code == w.Code && o.Rounds == rounds })
		if at < 0 {
			at = len(out)
			out = append(out, w)
		}
		out[at].Tests = append(out[at].Tests, p.Tests[i].Name)
	}
	for f := range p.Factors {
		for o := range p.Factors[:f] {
			of, by := f, o
			if !plan.Determines(levels, of, by) {
				of, by = o, f
			}
			if plan.Determines(levels, of, by) {
				out = append(out, DesignWarning{Code: WarnConfounded, Factor: p.Factors[of].Name, Other: p.Factors[by].Name})
			}
		}
		if hasOwnHosts(p, f, only) {
			out = append(out, DesignWarning{Code: WarnOwnHosts, Factor: p.Factors[f].Name})
		}
	}
	if every := p.Every.Std(); every > 0 {
		if round := EstimateOf(p, only).Round; round > every {
			out = append(out, DesignWarning{Code: WarnMissedTimes, Round: round, Step: roundStep(round, every)})
		}
	}
	out = append(out, sharedPorts(p, only)...)
	if shared := sharedHosts(p, only); shared > 0 {
		out = append(out, DesignWarning{Code: WarnSharedHosts, Factor: plan.ContentionFactor, Hosts: shared})
	}
	if n := p.PairCount(); p.ComparesContention() && p.IsolatedPairs == 0 && p.Concurrency() == 1 && n > plan.ManyIsolated {
		out = append(out, DesignWarning{Code: WarnManyIsolated, Factor: plan.ContentionFactor, Pairs: n, Sample: plan.ManyIsolated})
	}
	return out
}

// sharedPorts finds endpoints whose servers would have one port on one host by ssh: there, one of
// them cannot start, or has a random port.
func sharedPorts(p *plan.Plan, only plan.Selection) (out []DesignWarning) {
	type place struct {
		destination string
		port        int
	}
	at := map[place]int{} // index in out
	for _, h := range p.RemoteHosts(only) {
		if !h.Serves {
			continue
		}
		here := place{h.Endpoint.SSH, h.Endpoint.Port}
		i, known := at[here]
		if !known {
			i = len(out)
			at[here] = i
			out = append(out, DesignWarning{Code: WarnSharedPort, Port: h.Endpoint.Port})
		}
		out[i].Endpoints = append(out[i].Endpoints, h.Name)
	}
	return slices.DeleteFunc(out, func(w DesignWarning) bool { return len(w.Endpoints) < 2 })
}

// sharedHosts is how many hosts are in several pairs, where the selected patterns compare pairs
// by themselves with all at once; 0 otherwise.
func sharedHosts(p *plan.Plan, only plan.Selection) int {
	if !p.HasPairs() {
		return 0
	}
	isolated, together := false, false
	patterns := p.AllPatterns()
	for i := range patterns {
		if pt := &patterns[i]; only.Matches(pt.Levels) && !p.IsControl(pt.Levels) {
			isolated, together = isolated || !pt.Together, together || pt.Together
		}
	}
	if !isolated || !together {
		return 0
	}
	return p.HostsInSeveralPairs()
}

// hasOwnHosts reports whether each level of a factor was put on one pair of hosts, and no two
// levels on the same one. Of a plan with pairs none is: its levels choose addresses only, and each
// is measured between all pairs.
func hasOwnHosts(p *plan.Plan, factor int, only plan.Selection) bool {
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
