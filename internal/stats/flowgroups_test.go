package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// hashed is trials of flows that a hash puts into groups of capacity 100; noise is the standard
// deviation of a flow's share.
func hashed(r *rand.Rand, trials, flows, groups int, noise float64) [][]float64 {
	out := make([][]float64, trials)
	for i := range out {
		of, count := make([]int, flows), make([]int, groups)
		for f := range of {
			of[f] = r.IntN(groups)
			count[of[f]]++
		}
		for _, g := range of {
			out[i] = append(out[i], 100/float64(count[g])*math.Exp(noise*r.NormFloat64()))
		}
	}
	return out
}

func TestFlowsOverTunnelsAreGroups(t *testing.T) {
	g, found := FindFlowGroups([][]float64{{50, 50, 100}, {33, 33.5, 33}, {99, 51, 50}, {25, 25, 26, 24, 50, 51}})
	if !found || g.Groups != 2 || math.Abs(g.Capacity-100) > 2 || g.Used[0] != 2 || g.Used[1] != 1 || g.Used[3] != 2 {
		t.Errorf("%+v, %v", g, found)
	}
	// Two groups of two flows are as one of four; another trial tells.
	g, found = FindFlowGroups([][]float64{{50, 50, 50, 50}, {100, 33, 33, 34}, {33, 34, 33, 100}})
	if !found || g.Groups != 2 || g.Used[0] != 2 || math.Abs(g.Capacity-100) > 1 {
		t.Errorf("%+v, %v", g, found)
	}
	for name, trials := range map[string][][]float64{
		"alike":            {{50, 50}, {49, 51}, {50, 50}},
		"one uneven trial": {{100, 50, 50}, {50, 50, 50, 50}},
		"no common size":   {{100, 50, 50}, {90, 20, 20}},
		"a flow stalled":   {{100, 0, 50}, {100, 50, 50}, {100, 50, 50}},
		"none":             nil,
		"single flows":     {{100}, {50}},
	} {
		if g, found := FindFlowGroups(trials); found {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// Most groups that are found exist, and flows that share one bottleneck unevenly are seldom taken
// for groups.
func TestGroupsOfFlowsBySimulation(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const campaigns = 500
	right, found := 0, 0
	for range campaigns {
		if g, ok := FindFlowGroups(hashed(r, 6, 4, 2, 0.02)); ok {
			found++
			if g.Groups == 2 && math.Abs(g.Capacity-100) < 5 {
				right++
			}
		}
	}
	if right < campaigns*85/100 || right < found*98/100 {
		t.Errorf("found %d of %d, %d of them right", found, campaigns, right)
	}
	for _, c := range []struct {
		flows int
		noise float64
	}{{3, 0.1}, {4, 0.1}, {4, 0.3}, {8, 0.2}, {16, 0.3}} {
		wrong := 0
		for range campaigns {
			if _, ok := FindFlowGroups(hashed(r, 4, c.flows, 1, c.noise)); ok {
				wrong++
			}
		}
		if wrong > campaigns*3/100 {
			t.Errorf("%d flows of noise %.1f looked like groups %d times of %d", c.flows, c.noise, wrong, campaigns)
		}
	}
}

func TestGroupsInUseIsTheMeanOverDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct{ flows, groups int }{{1, 2}, {2, 2}, {4, 2}, {8, 4}, {3, 1}} {
		sum := 0
		const draws = 20_000
		for range draws {
			used := map[int]bool{}
			for range c.flows {
				used[r.IntN(c.groups)] = true
			}
			sum += len(used)
		}
		if got, want := GroupsInUse(c.flows, c.groups), float64(sum)/draws; math.Abs(got-want) > 0.02 {
			t.Errorf("%+v: %.3f, by simulation %.3f", c, got, want)
		}
	}
}
