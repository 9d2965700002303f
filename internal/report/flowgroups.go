package report

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

const (
	unevenIndex    = 0.9 // Jain's: below, flows share so unevenly that a reader asks why
	mostFlowGroups = 4   // sentences
)

// FlowGroups is what the flows of a pattern's trials show of groups of equal capacity, such as
// tunnels over which a gateway hashes connections, by [stats.FindFlowGroups]. Patterns whose
// flows share evenly have none.
type FlowGroups struct {
	Pattern   string            `json:"pattern"`
	Direction measure.Direction `json:"direction,omitempty"` // of trials that have both
	Flows     int               `json:"flows"`               // of a trial
	Trials    int               `json:"trials"`
	Fairness  float64           `json:"fairness_index"` // Jain's, the least of a trial
	LowBps    float64           `json:"low_bps"`        // all flows of a trial, the least
	HighBps   float64           `json:"high_bps"`       // likewise, the most
	// Groups is the most that a trial used; 0 if the flows do not fall into groups, and then
	// what follows is absent.
	Groups      int     `json:"groups,omitempty"`
	CapacityBps float64 `json:"capacity_bps,omitempty"` // of a group
	// ExpectedBps is the mean over draws of ports, each of which puts every flow into a group
	// at random, and MostBps that of a draw that uses as many groups as it can.
	ExpectedBps float64 `json:"expected_bps,omitempty"`
	MostBps     float64 `json:"most_bps,omitempty"`
}

// findFlowGroups looks at each row whose trials had the same number of flows, each drawn by
// itself.
func (t *Test) findFlowGroups() {
	for _, r := range t.Rows {
		var directions []measure.Direction
		for _, s := range r.sharings {
			if !slices.Contains(directions, s.direction) {
				directions = append(directions, s.direction)
			}
		}
		for _, d := range directions {
			if g, ok := flowGroupsOf(r.sharings, d); ok {
				g.Pattern = r.Pattern
				t.FlowGroups = append(t.FlowGroups, g)
			}
		}
	}
}

// flowGroupsOf is of one direction. It is absent where flows share evenly, or cannot be
// compared between trials.
func flowGroupsOf(all []sharing, d measure.Direction) (g FlowGroups, ok bool) {
	g = FlowGroups{Direction: d, Fairness: 1}
	var trials [][]float64
	for _, s := range all {
		if s.direction != d {
			continue
		}
		if len(s.bps) != s.count || g.Flows > 0 && s.count != g.Flows {
			return g, false
		}
		sum := 0.0
		for _, v := range s.bps {
			sum += v
		}
		if g.Trials == 0 || sum < g.LowBps {
			g.LowBps = sum
		}
		g.Flows, g.Trials, g.HighBps, g.Fairness = s.count, g.Trials+1, max(g.HighBps, sum), min(g.Fairness, s.index)
		trials = append(trials, s.bps)
	}
	if found, is := stats.FindFlowGroups(trials); is {
		g.Groups, g.CapacityBps = found.Groups, found.Capacity
		g.ExpectedBps = found.Capacity * stats.GroupsInUse(g.Flows, g.Groups)
		g.MostBps = found.Capacity * float64(min(g.Flows, g.Groups))
		return g, true
	}
	return g, g.Fairness < unevenIndex
}

// hashing says what groups flows fall into.
func (t testView) hashing() (out []string) {
	for _, g := range t.FlowGroups {
		if g.Groups == 0 || len(out) == mostFlowGroups {
			continue
		}
		out = append(out, t.Say("flows.groups", text.Args{
			"Pattern": g.Pattern, "Direction": string(g.Direction), "Flows": g.Flows, "Groups": g.Groups, "Capacity": g.CapacityBps, "Expected": g.ExpectedBps, "Most": g.MostBps,
			"Low": g.LowBps, "High": g.HighBps, "Trials": g.Trials,
		}))
	}
	return out
}

// ungrouped says of which patterns the flows share unevenly and nothing more is known; empty
// if there are none.
func (t testView) ungrouped() string {
	var patterns []string
	least := 1.0
	for _, g := range t.FlowGroups {
		if g.Groups > 0 {
			continue
		}
		least = min(least, g.Fairness)
		if !slices.Contains(patterns, g.Pattern) {
			patterns = append(patterns, g.Pattern)
		}
	}
	if len(patterns) == 0 {
		return ""
	}
	some := patterns[:min(len(patterns), mostPatterns)]
	return t.Say("flows.unknown", text.Args{"Patterns": some, "More": len(patterns) - len(some), "Index": text.Index(least)})
}
