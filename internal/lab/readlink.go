package lab

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// link reads one element of links; path is its position.
func (b *builder) link(n yamlfile.Node, path string) {
	fields := b.fields(n, path)
	at := placeOf(fields, n)
	l := &Link{MTU: 1500, Shaper: ShaperTBF, Policer: PolicePackets, pos: at}
	parallel := 1
	var label string
	var later []yamlfile.Member // those that need both ends
	for _, f := range fields {
		switch f.Key {
		case "from":
			l.Ends[0].Node = b.node(f)
		case "to":
			l.Ends[1].Node = b.node(f)
		case "name":
			l.Name = b.name(f, labelName)
		case "label":
			label = b.name(f, labelName)
		case "mtu":
			l.MTU = int(b.size(f, 576, 9216, "lab.mtu_range", nil))
		case "shaper":
			l.Shaper = Shaper(b.scalar(f))
			if l.Shaper != ShaperTBF && l.Shaper != ShaperHTB {
				b.failAt(f, "lab.bad_shaper", measure.Figures{"text": yamlfile.Shorten(string(l.Shaper))})
			}
		case "policer":
			l.Policer = Policer(b.scalar(f))
			if l.Policer != PolicePackets && l.Policer != PoliceBytes {
				b.failAt(f, "lab.bad_policer", measure.Figures{"text": yamlfile.Shorten(string(l.Policer))})
			}
		case "parallel":
			parallel = int(b.size(f, 1, maxPerNode, "lab.count_range", measure.Figures{"most": maxPerNode}))
		case "addresses", "reverse":
			later = append(later, f)
		default:
			if !b.wayField(&l.Ways[0], f) {
				b.unknown(f, path, "from", "to", "name", "label", "rate", "police", "burst", "queue", "delay", "jitter", "loss", "mtu", "shaper", "policer", "parallel", "addresses", "reverse")
			}
		}
	}
	b.checkEnds(l, at)
	l.Ways[1] = l.Ways[0]
	for _, f := range later {
		if f.Key == "addresses" {
			b.linkAddresses(l, f, parallel)
			continue
		}
		for _, g := range b.fields(f.Value, "reverse") {
			if !b.wayField(&l.Ways[1], g) {
				b.unknown(g, "reverse", "rate", "police", "burst", "queue", "delay", "jitter", "loss")
			}
		}
	}
	for w := range l.Ways {
		if b.err == nil && l.Ways[w].Jitter > l.Ways[w].Delay {
			b.fail(at, "lab.jitter_exceeds_delay", measure.Figures{"jitter_ns": l.Ways[w].Jitter, "delay_ns": l.Ways[w].Delay})
		}
	}
	b.addLinks(l, label, parallel)
}

func (b *builder) wayField(w *Way, f yamlfile.Member) bool {
	switch f.Key {
	case "rate":
		w.Rate = b.rate(f)
	case "police":
		w.Police = b.rate(f)
	case "burst":
		w.Burst = b.size(f, 2000, 64<<20, "lab.burst_range", nil)
	case "queue":
		w.Queue = b.duration(f, measure.Duration(10*time.Second))
	case "delay":
		w.Delay = b.duration(f, measure.Duration(2*time.Second))
	case "jitter":
		w.Jitter = b.duration(f, measure.Duration(time.Second))
	case "loss":
		w.Loss = parsed(b.reader, f, parseRatio)
	default:
		return false
	}
	return true
}

func (b *builder) node(f yamlfile.Member) *Node {
	s := b.scalar(f)
	if b.err != nil {
		return nil
	}
	found := b.nodes[s]
	if found == nil {
		b.fail(f.Value.Place(), "lab.unknown_node", measure.Figures{"node": yamlfile.Shorten(s), "nodes": b.t.nodeNames()})
	}
	return found
}

func (b *builder) checkEnds(l *Link, at yamlfile.Place) {
	if b.err != nil {
		return
	}
	switch {
	case l.Ends[0].Node == nil || l.Ends[1].Node == nil:
		b.fail(at, "lab.link_ends", nil)
	case l.Ends[0].Node == l.Ends[1].Node:
		b.fail(at, "lab.link_to_itself", measure.Figures{"node": l.Ends[0].Node.Name})
	}
}

// addLinks adds l, or as many copies of it as parallel says, under unique names.
func (b *builder) addLinks(l *Link, label string, parallel int) {
	if b.err != nil {
		return
	}
	base := l.Name
	for i := range parallel {
		c := *l
		c.index = len(b.t.Links)
		if c.index == maxLinks {
			b.fail(l.pos, "lab.too_many_links", measure.Figures{"most": maxLinks})
			return
		}
		switch {
		case base == "":
			c.Name = b.free(c.Ends[0].Node.Name + "-" + c.Ends[1].Node.Name)
		case parallel > 1:
			c.Name = fmt.Sprintf("%s-%d", base, i+1)
		}
		if c.Name != b.free(c.Name) {
			b.fail(l.pos, "lab.link_twice", measure.Figures{"link": c.Name})
			return
		}
		for e := range c.Ends {
			peer := c.Ends[1-e].Node.Name
			c.Ends[e].Iface = ifaceName(c.index, peer)
			c.Ends[e].Label = b.freeLabel(c.Ends[e].Node, cmp.Or(label, peer))
		}
		b.t.Links = append(b.t.Links, &c)
	}
}

// free is name, with a number appended if a link already has it.
func (b *builder) free(name string) string {
	return firstFree(name, func(s string) bool {
		return !slices.ContainsFunc(b.t.Links, func(l *Link) bool { return l.Name == s })
	})
}

func (b *builder) freeLabel(n *Node, label string) string {
	return firstFree(label, func(s string) bool {
		return !slices.ContainsFunc(n.Own, func(a Address) bool { return a.Label == s }) &&
			!slices.ContainsFunc(b.t.Links, func(l *Link) bool {
				return slices.ContainsFunc(l.Ends[:], func(e End) bool { return e.Node == n && e.Label == s })
			})
	})
}

func firstFree(name string, free func(string) bool) string {
	for s, i := name, 2; ; i++ {
		if free(s) {
			return s
		}
		s = fmt.Sprintf("%s-%d", name, i)
	}
}

// ifaceName is at most 15 bytes, the kernel's limit, and unique by its number.
func ifaceName(index int, peer string) string {
	s := fmt.Sprintf("l%d-%s", index, peer)
	return s[:min(len(s), 15)]
}

// linkAddresses reads addresses: {NODE: ADDRESS/BITS or a list of them}.
func (b *builder) linkAddresses(l *Link, f yamlfile.Member, parallel int) {
	if b.err == nil && parallel > 1 {
		b.fail(f.Place, "lab.parallel_addresses", nil)
	}
	for _, g := range b.fields(f.Value, "addresses") {
		end := -1
		for i := range l.Ends {
			if b.err == nil && l.Ends[i].Node.Name == g.Key {
				end = i
			}
		}
		if b.err == nil && end < 0 {
			b.fail(g.Place, "lab.address_of_neither", measure.Figures{"first": l.Ends[0].Node.Name, "second": l.Ends[1].Node.Name, "text": yamlfile.Shorten(g.Key)})
		}
		for _, item := range b.items(g) {
			p := parsed(b.reader, item, parsePrefix)
			if b.err == nil {
				l.Ends[end].Addrs = append(l.Ends[end].Addrs, p)
				b.at[p] = item.Value.Place()
			}
		}
	}
}

// size is a size between two bounds; code is that of the failure of any other.
func (b *builder) size(f yamlfile.Member, least, most measure.Size, code string, figures measure.Figures) measure.Size {
	return parsed(b.reader, f, func(s string) (measure.Size, error) {
		v, err := measure.ParseSize(s)
		if err != nil || v < least || v > most {
			all := measure.Figures{"text": yamlfile.Shorten(s)}
			maps.Copy(all, figures)
			return 0, measure.Fail(measure.KindFile, code, all)
		}
		return v, nil
	})
}

func parsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil || !usable(p.Addr()) || p.Bits() == 0 {
		return netip.Prefix{}, measure.Fail(measure.KindFile, "lab.bad_prefix", measure.Figures{"text": yamlfile.Shorten(s)})
	}
	return p, nil
}
