package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// Route sends packets for To over one of Hops; if there are several, the flow (addresses
// and ports) selects one.
type Route struct {
	To   netip.Prefix
	Hops []Hop
}

// Hop is the next step: out of Ends[End] of Link, to Gateway at the other end.
type Hop struct {
	Link    *Link
	End     int
	Gateway netip.Addr
}

// wish is one explicit route as written.
type wish struct {
	on, to *Node
	label  string       // of to; empty: every address
	prefix netip.Prefix // instead of to
	links  []*Link
	at     yamlfile.Place
}

// Routes are the routes of a node, explicit ones and computed ones, besides
// those to its own links.
func (t *Topology) Routes(n *Node) []Route { return t.tables[n.index] }

// route reads one element of routes; path is its position.
func (b *builder) route(n yamlfile.Node, path string) {
	fields := b.fields(n, path)
	at := placeOf(fields, n)
	w := wish{at: at}
	for _, f := range fields {
		switch f.Key {
		case "on":
			w.on = b.node(f)
		case "to":
			b.routeTo(&w, f)
		case "via":
			for _, item := range b.items(f) {
				b.routeVia(&w, item)
			}
		default:
			b.unknown(f, path, "on", "to", "via")
		}
	}
	if b.err == nil && (w.on == nil || w.to == nil && !w.prefix.IsValid() || len(w.links) == 0) {
		b.fail(at, "lab.route_keys", nil)
	}
	for _, l := range w.links {
		if b.err == nil && l.endOf(w.on) < 0 {
			b.fail(at, "lab.route_link", measure.Figures{"node": w.on.Name, "link": l.Name})
		}
	}
	b.t.wishes = append(b.t.wishes, w)
}

func (b *builder) routeTo(w *wish, f yamlfile.Member) {
	s := b.scalar(f)
	if strings.Contains(s, "/") {
		w.prefix = parsed(b.reader, f, parsePrefix).Masked()
		return
	}
	name, label, _ := strings.Cut(s, ":")
	w.label = label
	if w.to = b.nodes[name]; w.to == nil && b.err == nil {
		b.fail(f.Value.Place(), "lab.unknown_node", measure.Figures{"node": yamlfile.Shorten(name), "nodes": b.t.nodeNames()})
	}
}

// routeVia reads the name of a link, or of a neighbour, which means all links to it.
func (b *builder) routeVia(w *wish, f yamlfile.Member) {
	s := b.scalar(f)
	before := len(w.links)
	for _, l := range b.t.Links {
		e := l.endOf(w.on)
		if l.Name == s || e >= 0 && l.Ends[1-e].Node.Name == s {
			w.links = append(w.links, l)
		}
	}
	switch {
	case len(w.links) > before:
	case w.on == nil:
		b.failAt(f, "lab.via_before_on", measure.Figures{"text": yamlfile.Shorten(s)})
	case len(b.t.Links) == 0:
		b.failAt(f, "lab.via_without_links", measure.Figures{"text": yamlfile.Shorten(s)})
	default:
		b.failAt(f, "lab.unknown_via", measure.Figures{"text": yamlfile.Shorten(s), "links": namesOf(b.t.Links, func(l *Link) string { return l.Name })})
	}
}

func (l *Link) endOf(n *Node) int {
	for i := range l.Ends {
		if n != nil && l.Ends[i].Node == n {
			return i
		}
	}
	return -1
}

// hop is the next hop from n over l in the family of a.
func (l *Link) hop(n *Node, a netip.Addr) (Hop, bool) {
	e := l.endOf(n)
	for _, p := range l.Ends[1-e].Addrs {
		if p.Addr().Is4() == a.Is4() {
			return Hop{l, e, p.Addr()}, true
		}
	}
	return Hop{}, false
}

// tables computes every node's routes: the explicit ones, and for every other destination
// all paths with the fewest hops.
func (b *builder) tables() {
	t := b.t
	t.tables = make([][]Route, len(t.Nodes))
	for _, w := range t.wishes {
		b.explicit(w)
	}
	for _, n := range t.Nodes {
		for _, a := range n.Own {
			t.spread(netip.PrefixFrom(a.Addr, a.Addr.BitLen()), func(m *Node) bool { return m == n })
		}
	}
	for _, l := range t.Links {
		for _, p := range l.Ends[0].Addrs {
			// A subnet is reached through a router on it. The other end may be a
			// host with several links, and packets for its address on this link
			// must arrive over this link.
			t.spread(p.Masked(), func(m *Node) bool { return m.Router && l.endOf(m) >= 0 })
		}
	}
}

func (b *builder) explicit(w wish) {
	var to []netip.Prefix
	if w.prefix.IsValid() {
		to = append(to, w.prefix)
	} else {
		for _, a := range b.t.Addresses(w.to.Name) {
			if w.label == "" || a.Label == w.label {
				to = append(to, netip.PrefixFrom(a.Addr, a.Addr.BitLen()))
			}
		}
		if len(to) == 0 {
			b.locate(w.at, "", b.t.noAddress(measure.KindFile, w.to.Name, yamlfile.Shorten(w.label)))
		}
	}
	for _, p := range to {
		r := Route{To: p}
		for _, l := range w.links {
			if h, ok := l.hop(w.on, p.Addr()); ok {
				r.Hops = append(r.Hops, h)
			}
		}
		if len(r.Hops) == 0 {
			b.fail(w.at, "lab.route_family", measure.Figures{"prefix": p.String()})
			return
		}
		table := &b.t.tables[w.on.index]
		if slices.ContainsFunc(*table, func(o Route) bool { return o.To == p }) {
			b.fail(w.at, "lab.route_twice", measure.Figures{"node": w.on.Name, "prefix": p.String()})
			return
		}
		*table = append(*table, r)
	}
}

// spread adds the shortest routes to one destination on every node that is not on it and
// has no explicit route. Only routers forward.
func (t *Topology) spread(to netip.Prefix, entrance func(*Node) bool) {
	distance := make([]int, len(t.Nodes))
	var queue []*Node
	for _, n := range t.Nodes {
		distance[n.index] = -1
		if entrance(n) {
			distance[n.index] = 0
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if distance[n.index] > 0 && !n.Router {
			continue
		}
		for _, l := range t.Links {
			if e := l.endOf(n); e >= 0 {
				if m := l.Ends[1-e].Node; distance[m.index] < 0 {
					distance[m.index] = distance[n.index] + 1
					queue = append(queue, m)
				}
			}
		}
	}
	for _, n := range t.Nodes {
		if distance[n.index] <= 0 || t.connected(n, to) || t.explicitly(n, to) {
			continue
		}
		r := Route{To: to}
		for _, l := range t.Links {
			e := l.endOf(n)
			if e < 0 {
				continue
			}
			next := l.Ends[1-e].Node
			if distance[next.index] == distance[n.index]-1 && (next.Router || distance[next.index] == 0) {
				if h, ok := l.hop(n, to.Addr()); ok {
					r.Hops = append(r.Hops, h)
				}
			}
		}
		if len(r.Hops) > 0 {
			t.tables[n.index] = append(t.tables[n.index], r)
		}
	}
}

func (t *Topology) connected(n *Node, to netip.Prefix) bool {
	for _, l := range t.Links {
		if e := l.endOf(n); e >= 0 && slices.ContainsFunc(l.Ends[e].Addrs, func(p netip.Prefix) bool { return p.Masked() == to }) {
			return true
		}
	}
	return false
}

func (t *Topology) explicitly(n *Node, to netip.Prefix) bool {
	return slices.ContainsFunc(t.tables[n.index], func(r Route) bool { return r.To == to })
}

// lookup is the most specific route of n to a, or the link that a is on.
func (t *Topology) lookup(n *Node, a netip.Addr) (hops []Hop, ok bool) {
	best := -1
	for _, l := range t.Links {
		e := l.endOf(n)
		if e < 0 {
			continue
		}
		for _, p := range l.Ends[e].Addrs {
			if p.Contains(a) && p.Bits() > best {
				best, hops = p.Bits(), []Hop{{l, e, a}}
			}
		}
	}
	for _, r := range t.tables[n.index] {
		if r.To.Contains(a) && r.To.Bits() > best {
			best, hops = r.To.Bits(), r.Hops
		}
	}
	return hops, best >= 0
}

// owner is the node that has the address, or nil.
func (t *Topology) owner(a netip.Addr) *Node {
	for _, n := range t.Nodes {
		for _, o := range t.Addresses(n.Name) {
			if o.Addr == a {
				return n
			}
		}
	}
	return nil
}

// String is the route as ip(8) writes it.
func (r Route) String() string {
	via := make([]string, len(r.Hops))
	for i, h := range r.Hops {
		via[i] = fmt.Sprintf("%s (%s)", h.Gateway, h.Link.Name)
	}
	return r.To.String() + " via " + strings.Join(via, ", ")
}
