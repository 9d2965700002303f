package stats

import (
	"math"
	"slices"
)

// Constants of the search for groups of flows. They were chosen by simulation of flows over
// equal tunnels and of flows that share one bottleneck unevenly.
const (
	flowGap       = 1.15 // ratio of neighbouring rates between two clusters, and within one at most
	flowMost      = 4    // groups of one number of flows
	flowTolerance = 0.08 // of the sum of a cluster from a whole number of capacities
	flowTrials    = 2    // that show groups of several sizes
)

// FlowGroups are groups of flows that share equal capacities, as the tunnels over which a
// gateway hashes connections.
type FlowGroups struct {
	Capacity float64 // of a group, in the unit of the rates
	Groups   int     // the most that a trial used: there may be more
	Used     []int   // groups that each trial used
}

// FindFlowGroups finds whether the flows of some trials fall into groups of equal capacity:
// trials has one row a trial, the rates of its flows, each trial another draw of ports. It
// supposes that the flows of a group share its capacity evenly and fill it.
//
// The rates of a trial are divided into clusters where neighbours differ by 15 % or more. A
// cluster is one group, or several of the same number of flows. A capacity fits a trial if the sum of
// each cluster is a whole number of capacities, within 8 %. The largest capacity that fits all
// trials counts if at least two of them show groups of different sizes. Trials whose flows are
// all alike fit any division; alone they show nothing.
func FindFlowGroups(trials [][]float64) (FlowGroups, bool) {
	clusters := make([][]flowCluster, len(trials))
	uneven := 0
	var candidates []float64
	for i, flows := range trials {
		clusters[i] = flowClusters(flows)
		if len(clusters[i]) > 1 {
			uneven++
		}
		for _, c := range clusters[i] {
			for groups := 1; groups <= min(flowMost, c.flows); groups++ {
				candidates = append(candidates, c.sum/float64(groups))
			}
		}
	}
	if uneven < flowTrials {
		return FlowGroups{}, false
	}
	slices.Sort(candidates)
	for _, capacity := range slices.Backward(candidates) {
		if g, fits := fitGroups(clusters, capacity); fits {
			return g, true
		}
	}
	return FlowGroups{}, false
}

// flowCluster is flows of about the same rate.
type flowCluster struct {
	flows int
	sum   float64
}

// flowClusters divides rates where neighbours differ. It returns nil if a cluster is too wide to
// consist of groups of one size, or if a rate has only one flow.
func flowClusters(rates []float64) (out []flowCluster) {
	sorted := slices.Clone(finites(rates))
	slices.Sort(sorted)
	if len(sorted) < 2 || sorted[0] <= 0 {
		return nil
	}
	first := 0.0 // of the cluster
	for i, v := range sorted {
		if i == 0 || v >= sorted[i-1]*flowGap {
			out, first = append(out, flowCluster{}), v
		}
		if v > first*flowGap {
			return nil
		}
		c := &out[len(out)-1]
		c.flows, c.sum = c.flows+1, c.sum+v
	}
	return out
}

// fitGroups reports whether every trial has a whole number of groups in each cluster. The
// capacity of the result is the mean over all groups.
func fitGroups(trials [][]flowCluster, capacity float64) (FlowGroups, bool) {
	out := FlowGroups{}
	sum, all := 0.0, 0
	for _, clusters := range trials {
		used := 0
		for _, c := range clusters {
			groups := int(math.Round(c.sum / capacity))
			if groups < 1 || groups > flowMost || c.flows%groups != 0 || math.Abs(c.sum/(capacity*float64(groups))-1) > flowTolerance {
				return out, false
			}
			used, sum = used+groups, sum+c.sum
		}
		if len(clusters) == 0 {
			return out, false
		}
		all += used
		out.Groups, out.Used = max(out.Groups, used), append(out.Used, used)
	}
	out.Capacity = sum / float64(all)
	return out, out.Groups > 1
}

// GroupsInUse returns the expected number of groups with at least one flow, if a hash puts each
// of n flows into one of k groups at random: k (1 - (1 - 1/k)^n).
func GroupsInUse(flows, groups int) float64 {
	k := float64(groups)
	return k * (1 - math.Pow(1-1/k, float64(flows)))
}
