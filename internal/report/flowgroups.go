package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

// unevenIndex is Jain's index below which flows share so unevenly that a reader asks why.
const unevenIndex = 0.9

// FlowGroups is what the flows of a pattern's trials show of groups of equal capacity, such as
// tunnels over which a gateway hashes connections, by [stats.FindFlowGroups]. Patterns whose
// flows share evenly have none.
type FlowGroups struct {
	Pattern   string            `json:"pattern"`
	Direction measure.Direction `json:"direction,omitempty"` // of trials that have both
	Flows     int               `json:"flows"`               // of a trial
	Trials    int               `json:"trials"`
	Fairness  float64           `json:"fairness_index"` // Jain's, the least of a trial
	LowBps    float64           `json:"low_bps"`        // all flows of the slowest trial
	HighBps   float64           `json:"high_bps"`       // all flows of the fastest trial
	// Groups is the largest number of groups in a trial. If flows do not fall into groups, it
	// is 0 and the members below are absent.
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
			directions = addOnce(directions, s.direction)
		}
		for _, d := range directions {
			if g, ok := flowGroupsOf(r.sharings, d); ok {
				g.Pattern = r.Pattern
				t.FlowGroups = append(t.FlowGroups, g)
			}
		}
	}
}

// flowGroupsOf finds the groups of one direction. There are none if flows share evenly, or
// cannot be compared between trials.
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

// hashing says what groups flows fall into, or returns "" if there are none.
func (t testView) hashing() string {
	all := t.flowsGrouped()
	switch len(all) {
	case 0:
		return ""
	case 1:
		g := all[0]
		return t.Sentence("flows.groups", text.Args{
			"Pattern": t.called(g.Pattern), "Direction": string(g.Direction), "Flows": g.Flows, "Groups": g.Groups, "Capacity": g.CapacityBps, "Expected": g.ExpectedBps, "Most": g.MostBps,
			"Low": g.LowBps, "High": g.HighBps, "Trials": g.Trials,
		})
	}
	groups, low, high := 0, all[0].CapacityBps, all[0].CapacityBps
	patterns := map[string]bool{}
	for _, g := range all {
		groups, low, high = max(groups, g.Groups), min(low, g.CapacityBps), max(high, g.CapacityBps)
		patterns[g.Pattern] = true
	}
	return t.Sentence("flows.several", text.Args{"Patterns": len(patterns), "Groups": groups, "Low": low, "High": high})
}

// flowsGrouped are the patterns whose flows fall into groups.
func (t testView) flowsGrouped() []FlowGroups {
	return slices.DeleteFunc(slices.Clone(t.FlowGroups), func(g FlowGroups) bool { return g.Groups == 0 })
}

// flowTable is the groups of flows of several patterns. It has no columns for one, which a
// sentence describes.
func (t testView) flowTable() outline.Table {
	all := t.flowsGrouped()
	if len(all) < 2 {
		return outline.Table{}
	}
	all = ends(all, mostRows, bestShown, lastShown)
	out := outline.NewTable(len(all))
	out.AddText(t.named("column.pattern", outline.Column{Head: true}), func(i int) string { return all[i].Pattern })
	if slices.ContainsFunc(all, func(g FlowGroups) bool { return g.Direction != "" }) {
		out.AddText(t.named("column.flow_direction", outline.Column{}), func(i int) string { return cmp.Or(string(all[i].Direction), text.Absent) })
	}
	number := func(key string, keep int, of func(g FlowGroups) int) {
		addCounts(&out, t.named(key, outline.Column{Number: true, Drop: keep}), func(i int) int { return of(all[i]) })
	}
	var capacities []float64
	for _, g := range all {
		capacities = append(capacities, g.CapacityBps)
	}
	unit := scaleFor(rateScales, capacities...)
	rate := func(key string, keep int, of func(g FlowGroups) float64) {
		addFigures(&out, t.named(key, outline.Column{Unit: t.unit(unit), Number: true, Drop: keep}), unit, func(i int) *float64 {
			bps := of(all[i])
			return &bps
		})
	}
	number("column.flows", 2, func(g FlowGroups) int { return g.Flows })
	number("column.flow_groups", 0, func(g FlowGroups) int { return g.Groups })
	rate("column.flow_capacity", 0, func(g FlowGroups) float64 { return g.CapacityBps })
	rate("column.flow_expected", 3, func(g FlowGroups) float64 { return g.ExpectedBps })
	rate("column.flow_most", 4, func(g FlowGroups) float64 { return g.MostBps })
	t.addIntervals(&out, t.named("column.flow_had", outline.Column{Unit: t.unit(unit), Number: true, Drop: 5}), unit, unit.text, func(i int) (low, high *float64) { return &all[i].LowBps, &all[i].HighBps })
	return out
}

// ungrouped says of how many patterns the flows share unevenly and nothing more is known; empty
// if there are none. The figures have the fairness of each.
func (t testView) ungrouped() string {
	var patterns []string
	least, worst := 2.0, ""
	for _, g := range t.FlowGroups {
		if g.Groups > 0 {
			continue
		}
		if g.Fairness < least {
			least, worst = g.Fairness, g.Pattern
		}
		patterns = addOnce(patterns, g.Pattern)
	}
	if len(patterns) == 0 {
		return ""
	}
	return t.Sentence("flows.unknown", text.Args{"Patterns": len(patterns), "Of": len(t.Rows), "Worst": t.called(worst), "Index": text.Index(least)})
}
