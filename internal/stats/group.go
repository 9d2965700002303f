package stats

import (
	"maps"
	"math"
	"slices"
)

const confidence = 0.95

// Group is the repeats of one pattern. Rounds has one element a round of the campaign, by
// number, so that index i is the same round in every group; an element is empty if the
// pattern has no value in that round. Values that are not finite are ignored.
type Group struct {
	Name   string
	Rounds [][]float64
	// Sessions has, for each element of Rounds, the numbers of the sessions that measured
	// its values: the run of a campaign, from its start or a resumption to its end. Only
	// the values of one session were interleaved. nil: one session measured all values.
	Sessions [][]int
}

// oneSession is that of groups that do not name theirs.
var oneSession = []int{0}

// sessions returns the sessions of a round.
func (g Group) sessions(round int) []int {
	if round >= len(g.Sessions) {
		return oneSession
	}
	return g.Sessions[round]
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(s int) bool { return slices.Contains(b, s) })
}

// roundMeans are the means of a group's rounds, with what comparisons need of them.
type roundMeans struct {
	group    Group
	values   []float64    // NaN for a round without values
	logs     []float64    // of the values; nil unless all are positive
	sessions map[int]bool // that measured them
}

func (g Group) means() roundMeans {
	m := roundMeans{group: g, values: make([]float64, len(g.Rounds)), sessions: map[int]bool{}}
	for i, round := range g.Rounds {
		if m.values[i] = Mean(finites(round)); math.IsNaN(m.values[i]) {
			continue
		}
		for _, s := range g.sessions(i) {
			m.sessions[s] = true
		}
	}
	if !slices.ContainsFunc(m.values, func(v float64) bool { return v <= 0 }) {
		m.logs = make([]float64, len(m.values))
		for i, v := range m.values {
			m.logs[i] = math.Log(v)
		}
	}
	return m
}

// apart reports whether one of two groups has values of a session of which the other
// has none.
func (m roundMeans) apart(o roundMeans) bool { return !maps.Equal(m.sessions, o.sessions) }

func present(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}
