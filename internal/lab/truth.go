package lab

import (
	"math"
	"net/netip"

	"soku/internal/measure"
)

// Bytes of headers around the payload of a full TCP segment: Ethernet as the
// kernel's shapers count it, IP, and TCP with timestamps (RFC 7323).
const (
	etherBytes = 14
	tcp4Bytes  = 20 + 20 + 12
	tcp6Bytes  = 40 + 20 + 12
)

// Truth is what a perfect measurement of a path must find, computed from the
// topology alone.
type Truth struct {
	// CapBps is the maximum rate of many flows together from the first host to the
	// second, in bits of Ethernet frames per second; 0: no cap on the path.
	CapBps measure.Rate `json:"cap_bps"`
	// FlowCapBps is the maximum rate of a single flow. It is below CapBps if flows are
	// spread over equal-cost paths.
	FlowCapBps measure.Rate `json:"flow_cap_bps"`
	// GoodputBps is the payload share of CapBps for one address family and full TCP segments; 0: no cap.
	GoodputBps measure.Rate `json:"goodput_bps"`
	// RTTNs is the sum of the delays forward and back, of the shortest if equal-cost paths
	// differ, without what the hosts add.
	RTTNs int64 `json:"rtt_ns"`
	// JitterNs is by how much the jitter of the links may change the round trip, up or down.
	JitterNs int64 `json:"jitter_ns"`
	// LossRatio is the probability of loss on the forward path, in [0,1); the lowest of equal-cost paths.
	LossRatio float64 `json:"loss_ratio"`
	// MTU is the largest IP packet in bytes that every forward path carries.
	MTU int `json:"mtu_bytes"`
	// ReadBps is how fast the programs of the first host read their disk past the page cache,
	// WriteBps how fast those of the second write theirs; 0: as fast as the machine's disk.
	ReadBps  measure.Rate `json:"disk_read_bps"`
	WriteBps measure.Rate `json:"disk_write_bps"`
}

// GoodputCap is the TCP payload rate of a link with this rate: the share of payload in a
// full frame of an MTU (bytes), with TCP timestamps, over IPv6 if v6. At 1500 and IPv4 it
// is 1448/1514.
func GoodputCap(rate measure.Rate, mtu int, v6 bool) measure.Rate {
	headers := tcp4Bytes
	if v6 {
		headers = tcp6Bytes
	}
	return measure.Rate(math.Round(float64(rate) * float64(mtu-headers) / float64(mtu+etherBytes)))
}

// Truth is the truth of the path from host from to an address of host to.
// address is one of to's labels, or one of its addresses, or empty for its
// first address. For the other direction swap the hosts. The error has kind not_found for
// an unknown name and unreachable if there is no route.
func (t *Topology) Truth(from, to, address string) (Truth, error) {
	source := t.Node(from)
	if source == nil {
		_, err := t.Address(from, "")
		return Truth{}, err
	}
	target, err := t.resolve(to, address)
	if err != nil {
		return Truth{}, err
	}
	there, back, err := t.bothWays(source, t.Node(to), target)
	if err != nil {
		return Truth{}, err
	}
	out := Truth{
		CapBps: there.capacity(), FlowCapBps: capOf(there.widest),
		RTTNs: there.quickest + back.quickest, JitterNs: there.jitter + back.jitter,
		LossRatio: 1 - there.survival, MTU: there.mtu,
	}
	out.GoodputBps = GoodputCap(out.CapBps, out.MTU, target.Is6())
	if source.Disk != nil {
		out.ReadBps = source.Disk.Read
	}
	if sink := t.Node(to).Disk; sink != nil {
		out.WriteBps = sink.Write
	}
	return out, nil
}

// Clients are the hosts with a route to an address of host to and back, in the order of
// the file.
func (t *Topology) Clients(to, address string) []string {
	var out []string
	for _, n := range t.Nodes {
		if n.Router || n.Name == to {
			continue
		}
		if _, err := t.Truth(n.Name, to, address); err == nil {
			out = append(out, n.Name)
		}
	}
	return out
}

func (t *Topology) resolve(host, address string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(address); err == nil {
		for _, o := range t.Addresses(host) {
			if o.Addr == a {
				return a, nil
			}
		}
	}
	return t.Address(host, address)
}

// bothWays follows the path to target and the return path to the source address that the
// host's kernel would choose.
func (t *Topology) bothWays(source, destination *Node, target netip.Addr) (there, back *walk, err error) {
	there, err = t.walk(source, target)
	if err != nil || source == destination {
		return there, there, err
	}
	first, _ := t.lookup(source, target)
	var own netip.Addr
	for _, p := range first[0].Link.Ends[first[0].End].Addrs {
		if p.Addr().Is4() == target.Is4() {
			own = p.Addr()
		}
	}
	back, err = t.walk(destination, own)
	return there, back, err
}

// walk has everything that packets from one node to one address may pass.
type walk struct {
	t            *Topology
	target       netip.Addr
	source, sink int
	caps         map[[2]int]float64 // capacity between vertices; see vertex
	onPath       map[int]bool
	steps        int

	quickest, jitter int64
	survival         float64
	mtu              int
	widest           float64 // +Inf: a path without a cap
}

// maxSteps limits the walk over all combinations of equal-cost hops.
const maxSteps = 10_000

func (t *Topology) walk(from *Node, target netip.Addr) (*walk, error) {
	w := &walk{t: t, target: target, source: from.index, caps: map[[2]int]float64{}, onPath: map[int]bool{}, quickest: -1, mtu: math.MaxInt}
	owner := t.owner(target)
	if owner == from { // over loopback, which no link limits
		w.quickest, w.survival, w.mtu, w.widest = 0, 1, 65536, math.Inf(1)
		return w, nil
	}
	w.sink = owner.index
	if err := w.visit(from, path{survival: 1, rate: math.Inf(1)}); err != nil {
		return nil, err
	}
	return w, nil
}

// path accumulates the properties of one path.
type path struct {
	delay, jitter int64
	survival      float64
	rate          float64
}

func (w *walk) visit(n *Node, p path) error {
	if n.index == w.sink {
		w.arrive(p)
		return nil
	}
	if n.index != w.source && !n.Router {
		return w.unreachable(n, "lab.route_ends")
	}
	if w.onPath[n.index] {
		return w.unreachable(n, "lab.route_circle")
	}
	if w.steps++; w.steps > maxSteps {
		return w.unreachable(n, "lab.too_many_paths")
	}
	hops, ok := w.t.lookup(n, w.target)
	if !ok {
		return w.unreachable(n, "lab.no_route")
	}
	w.onPath[n.index] = true
	defer delete(w.onPath, n.index)
	if n.index != w.source && n.Police > 0 {
		p.rate = min(p.rate, float64(n.Police))
	}
	for _, h := range hops {
		way := &h.Link.Ways[h.End]
		w.mtu = min(w.mtu, h.Link.MTU)
		w.edge(h)
		q := p
		q.delay += int64(way.Delay)
		q.jitter += int64(way.Jitter)
		q.survival *= 1 - way.Loss
		q.rate = min(q.rate, way.limit())
		if err := w.visit(h.Link.Ends[1-h.End].Node, q); err != nil {
			return err
		}
	}
	return nil
}

// unreachable is the failure of a walk that ends at a node.
func (w *walk) unreachable(at *Node, code string) error {
	return measure.Fail(measure.KindUnreachable, code, measure.Figures{
		"lab": w.t.Name, "address": w.target.String(), "node": at.Name,
	}).WithHintCode("lab.see_routes", measure.Figures{"file": w.t.File})
}

func (w *walk) arrive(p path) {
	if w.quickest < 0 || p.delay < w.quickest {
		w.quickest = p.delay
	}
	w.jitter = max(w.jitter, p.jitter)
	w.survival = max(w.survival, p.survival)
	w.widest = max(w.widest, p.rate)
}

func capOf(limit float64) measure.Rate {
	if math.IsInf(limit, 1) {
		return 0
	}
	return measure.Rate(math.Round(limit))
}

// limit is the cap of a direction, +Inf for none.
func (w *Way) limit() float64 {
	limit := math.Inf(1)
	if w.Rate > 0 {
		limit = float64(w.Rate)
	}
	if w.Police > 0 {
		limit = min(limit, float64(w.Police))
	}
	return limit
}

// The capacity of all paths together is a maximum flow. Each node is two vertices, entry 2i
// and exit 2i+1, with an edge of the node's police rate between them; each direction of a
// link is one more vertex between nodes, so that parallel links add up.
const linkVertex = 2 * maxNodes

func (w *walk) edge(h Hop) {
	from, to := h.Link.Ends[h.End].Node, h.Link.Ends[1-h.End].Node
	through := math.Inf(1)
	if from.index != w.source && from.Police > 0 {
		through = float64(from.Police)
	}
	v := linkVertex + 2*h.Link.index + h.End
	w.caps[[2]int{2 * from.index, 2*from.index + 1}] = through
	w.caps[[2]int{2*from.index + 1, v}] = math.Inf(1)
	w.caps[[2]int{v, 2 * to.index}] = h.Link.Ways[h.End].limit()
}

// capacity is the maximum flow from source to sink by augmenting paths (Ford and
// Fulkerson); 0: no limit.
func (w *walk) capacity() measure.Rate {
	residual := make(map[int]map[int]float64)
	add := func(a, b int, c float64) {
		if residual[a] == nil {
			residual[a] = map[int]float64{}
		}
		residual[a][b] += c
	}
	for e, c := range w.caps {
		add(e[0], e[1], c)
		add(e[1], e[0], 0)
	}
	total := 0.0
	for {
		route := shortest(residual, 2*w.source, 2*w.sink)
		if route == nil {
			return capOf(total)
		}
		room := math.Inf(1)
		for i := 1; i < len(route); i++ {
			room = min(room, residual[route[i-1]][route[i]])
		}
		if math.IsInf(room, 1) {
			return 0
		}
		total += room
		for i := 1; i < len(route); i++ {
			residual[route[i-1]][route[i]] -= room
			residual[route[i]][route[i-1]] += room
		}
	}
}

// shortest is a path of positive residual capacity with the fewest edges, or nil.
func shortest(residual map[int]map[int]float64, from, to int) []int {
	before := map[int]int{from: from}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		if v == to {
			route := []int{to}
			for v != from {
				v = before[v]
				route = append([]int{v}, route...)
			}
			return route
		}
		for next, room := range residual[v] {
			if _, seen := before[next]; !seen && room > 0 {
				before[next] = v
				queue = append(queue, next)
			}
		}
	}
	return nil
}
