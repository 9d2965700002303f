package trace

import (
	"cmp"
	"math"
	"net/netip"
	"slices"

	"soku/internal/engine/probe"
	"soku/internal/measure"
)

// mostNodes is the most addresses stored for one flow at one hop.
const mostNodes = 16

// cell is one flow at one hop: its probes and their answers.
type cell struct {
	sent       int64
	due        int64 // probes to which an answer was due
	lost       int64 // of these, without an answer
	unanswered int64 // without an answer, and none was due
	nodes      []node
	last       netip.Addr // source of the last answer
	open       int        // outstanding probes
	wanted     bool       // to be probed in this round
	silences   int        // conclusive probes without an answer since the last answer
	silent     bool       // no node at this hop answers this flow
}

// node is one address and the times of its answers, in ns.
type node struct {
	addr           netip.Addr
	target         bool
	reason         measure.Reason
	labels         []measure.MPLSLabel
	n              int64
	last, min, max float64
	mean, m2       float64 // Welford's
	lastAt         int64   // order of its last answer among all answers
}

// answer adds one answer; order grows with every answer of the run.
func (c *cell) answer(a probe.Answer, rtt float64, order int64) {
	i := slices.IndexFunc(c.nodes, func(n node) bool { return n.addr == a.From })
	if i < 0 {
		if len(c.nodes) == mostNodes {
			return
		}
		i = len(c.nodes)
		c.nodes = append(c.nodes, node{addr: a.From, min: rtt, max: rtt})
	}
	n := &c.nodes[i]
	n.n++
	off := rtt - n.mean
	n.mean += off / float64(n.n)
	n.m2 += off * (rtt - n.mean)
	n.last, n.min, n.max, n.lastAt = rtt, min(n.min, rtt), max(n.max, rtt), order
	n.target, n.reason = n.target || a.Kind == probe.Arrived, cmp.Or(a.Reason, n.reason)
	if len(a.Labels) > 0 {
		n.labels = a.Labels
	}
	c.last, c.silent, c.silences = a.From, false, 0
}

func (c *cell) received() (n int64) {
	for _, node := range c.nodes {
		n += node.n
	}
	return n
}

// merge adds another flow's answers of the same node (Chan, Golub and LeVeque, 1979).
func (n *node) merge(o node) {
	if o.lastAt > n.lastAt {
		n.last, n.lastAt = o.last, o.lastAt
	}
	n.min, n.max = min(n.min, o.min), max(n.max, o.max)
	n.target, n.reason = n.target || o.target, cmp.Or(n.reason, o.reason)
	if len(n.labels) == 0 {
		n.labels = o.labels
	}
	total := float64(n.n + o.n)
	off := o.mean - n.mean
	n.m2 += o.m2 + off*off*float64(n.n)*float64(o.n)/total
	n.mean += off * float64(o.n) / total
	n.n += o.n
}

// deviation returns the standard deviation of the sample.
func (n *node) deviation() float64 {
	if n.n < 2 {
		return 0
	}
	return math.Sqrt(n.m2 / float64(n.n-1))
}

// merged merges the cells of all flows at one distance.
func merged(distance int, cells []*cell) measure.TraceHop {
	out := measure.TraceHop{Hop: distance}
	var nodes []node
	flows := map[netip.Addr][]int{}
	for flow, c := range cells {
		if c == nil {
			continue
		}
		out.Due += c.due
		out.Lost += c.lost
		out.Unanswered += c.unanswered
		out.Sent += c.lost + c.unanswered + c.received()
		for _, n := range c.nodes {
			flows[n.addr] = append(flows[n.addr], flow)
			if i := slices.IndexFunc(nodes, func(o node) bool { return o.addr == n.addr }); i >= 0 {
				nodes[i].merge(n)
			} else {
				nodes = append(nodes, n)
			}
		}
	}
	if out.Due > 0 {
		out.LossRatio = float64(out.Lost) / float64(out.Due)
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Or(cmp.Compare(b.n, a.n), a.addr.Compare(b.addr)) })
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, measure.TraceNode{
			Address: n.addr.String(), Target: n.target, Reason: n.reason.English(), ReasonCode: n.reason, Received: n.n,
			LastNs: n.last, MinNs: n.min, MeanNs: n.mean, MaxNs: n.max, StdDevNs: n.deviation(),
			Flows: flows[n.addr], MPLS: n.labels,
		})
	}
	return out
}
