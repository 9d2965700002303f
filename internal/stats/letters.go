package stats

import (
	"math/bits"
	"slices"
)

// alphabet is the letters of groups, in their order.
const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// groupSteps bounds the search for groups, whose number can grow exponentially.
const groupSteps = 20000

// graph has an edge between two patterns if no difference between them is shown.
type graph []set

// set is a set of patterns, a bit each.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// setToBoth makes s what a and b share.
func (s set) setToBoth(a, b set) {
	for i := range s {
		s[i] = a[i] & b[i]
	}
}

// shared returns how many elements both sets have.
func (s set) shared(o set) int {
	n := 0
	for i := range s {
		n += bits.OnesCount64(s[i] & o[i])
	}
	return n
}

func (s set) empty() bool { return s.shared(s) == 0 }

func newGraph(n int) graph {
	g := make(graph, n)
	for i := range g {
		g[i] = newSet(n)
	}
	return g
}

func (g graph) join(i, j int) {
	g[i].add(j)
	g[j].add(i)
}

// groups returns all largest sets of patterns of which no two are shown to differ, each in
// ascending order, ordered by their first elements: the columns of a compact letter display
// (H.-P. Piepho, "An Algorithm for a Letter-Based Representation of All-Pairwise
// Comparisons", Journal of Computational and Graphical Statistics 13, 2004, whose inserting
// and absorbing ends in the same sets). They are the maximal cliques (C. Bron and J.
// Kerbosch, "Algorithm 457: Finding All Cliques of an Undirected Graph", Communications of
// the ACM 16, 1973, with a pivot). false if there are more than most, or finding them takes
// too long.
func (g graph) groups(most int) ([][]int, bool) {
	search := groupSearch{graph: g, most: most, steps: groupSteps}
	candidates := newSet(len(g))
	for i := range g {
		candidates.add(i)
	}
	if len(g) > 0 && !search.extend(make([]int, 0, len(g)), candidates, newSet(len(g))) {
		return nil, false
	}
	for _, group := range search.found {
		slices.Sort(group)
	}
	slices.SortFunc(search.found, slices.Compare[[]int])
	return search.found, true
}

type groupSearch struct {
	graph       graph
	found       [][]int
	most, steps int
	// levels has the sets of each depth of the search: a depth is at one place at a time.
	levels []groupLevel
}

type groupLevel struct{ candidates, done set }

// extend finds the groups that have all of group, some of candidates and none of done,
// which were tried before. It tries only candidates that are not neighbours of the pivot: a group
// without the pivot and with its neighbours only would not be the largest.
func (s *groupSearch) extend(group []int, candidates, done set) bool {
	if s.steps--; s.steps < 0 {
		return false
	}
	if candidates.empty() {
		if done.empty() {
			s.found = append(s.found, slices.Clone(group))
		}
		return len(s.found) <= s.most
	}
	if len(s.levels) == len(group) {
		s.levels = append(s.levels, groupLevel{newSet(len(s.graph)), newSet(len(s.graph))})
	}
	next, pivot := s.levels[len(group)], s.pivot(candidates, done)
	for i := range s.graph {
		if !candidates.has(i) || s.graph[pivot].has(i) {
			continue
		}
		next.candidates.setToBoth(candidates, s.graph[i])
		next.done.setToBoth(done, s.graph[i])
		if !s.extend(append(group, i), next.candidates, next.done) {
			return false
		}
		candidates.remove(i)
		done.add(i)
	}
	return true
}

// pivot returns the pattern with most neighbours among the candidates.
func (s *groupSearch) pivot(candidates, done set) int {
	best, most := -1, -1
	for i := range s.graph {
		if candidates.has(i) || done.has(i) {
			if n := s.graph[i].shared(candidates); n > most {
				best, most = i, n
			}
		}
	}
	return best
}
