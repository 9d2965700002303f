package lab

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// Load reads and checks the topology in a file. read is usually os.ReadFile.
// Every error is a *measure.Error of kind file that begins with
// FILE:LINE:COLUMN.
func Load(path string, read func(string) ([]byte, error)) (*Topology, error) {
	data, err := read(path)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "lab.read", measure.Figures{"cause": err})
	}
	return Parse(path, data)
}

// Parse checks the text of a topology; file is its name in messages.
func Parse(file string, data []byte) (*Topology, error) {
	f, err := yamlfile.Parse(file, data, format)
	if err != nil {
		return nil, err
	}
	t := &Topology{File: file, Source: data}
	b := &builder{reader: &reader{file: f}, t: t, nodes: map[string]*Node{}, at: map[netip.Prefix]yamlfile.Place{}}
	b.document(f.Root)
	b.complete()
	if b.err != nil {
		return nil, b.err
	}
	return t, nil
}

// Forms of names.
var (
	nodeName   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)
	labelName  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,30}[A-Za-z0-9])?$`)
	sysctlName = regexp.MustCompile(`^net(\.[A-Za-z0-9_-]+){1,8}$`)
)

// builder makes a Topology out of the tree.
type builder struct {
	*reader
	t       *Topology
	nodes   map[string]*Node
	at      map[netip.Prefix]yamlfile.Place // where an explicit address stands
	subnets []netip.Prefix                  // taken
}

func (b *builder) document(root yamlfile.Node) {
	if b.err != nil {
		return
	}
	var links, routes yamlfile.Member
	for _, f := range b.fields(root, "") {
		switch f.Key {
		case "lab":
			b.t.Name = b.name(f, nodeName)
		case "title":
			b.t.Title = b.scalar(f)
		case "ipv6":
			b.t.IPv6 = b.boolean(f)
		case "hosts":
			b.nodeList(f, false)
		case "routers":
			b.nodeList(f, true)
		case "links":
			links = f
		case "routes":
			routes = f
		default:
			b.unknown(f, "", "lab", "title", "ipv6", "hosts", "routers", "links", "routes")
		}
	}
	start := root.Place()
	switch {
	case b.err != nil:
	case b.t.Name == "":
		b.fail(start, "lab.no_name", nil)
	case len(b.t.Nodes) == 0:
		b.fail(start, "lab.no_hosts", nil)
	}
	if links.Key != "" { // they refer to nodes, which may stand below them
		for i, n := range b.items(links) {
			b.link(n.Value, yamlfile.Join("links", strconv.Itoa(i+1)))
		}
	}
	if routes.Key != "" && b.err == nil {
		for i, n := range b.items(routes) {
			b.route(n.Value, yamlfile.Join("routes", strconv.Itoa(i+1)))
		}
	}
}

func (b *builder) name(f yamlfile.Member, form *regexp.Regexp) string {
	s := b.scalar(f)
	if b.err == nil && !form.MatchString(s) {
		b.failAt(f, "lab.bad_name", measure.Figures{"name": yamlfile.Shorten(s)})
	}
	return s
}

func (b *builder) nodeList(list yamlfile.Member, router bool) {
	for _, f := range b.fields(list.Value, list.Key) {
		n := &Node{Name: f.Key, Router: router, index: len(b.t.Nodes), pos: f.Place}
		switch {
		case !nodeName.MatchString(f.Key):
			b.fail(f.Place, "lab.bad_node_name", measure.Figures{"name": yamlfile.Shorten(f.Key)})
		case b.nodes[f.Key] != nil:
			b.fail(f.Place, "lab.node_twice", measure.Figures{"node": f.Key})
		case len(b.t.Nodes) == maxNodes:
			b.fail(f.Place, "lab.too_many_nodes", measure.Figures{"most": maxNodes})
		}
		b.nodes[f.Key] = n
		b.t.Nodes = append(b.t.Nodes, n)
		for _, g := range b.fields(f.Value, f.Key) {
			b.nodeField(n, g)
		}
	}
}

func (b *builder) nodeField(n *Node, f yamlfile.Member) {
	switch f.Key {
	case "server":
		n.Server = b.boolean(f)
	case "addresses":
		for _, a := range b.fields(f.Value, f.Key) {
			b.ownAddress(n, a)
		}
	case "sysctl":
		for _, s := range b.fields(f.Value, f.Key) {
			value := b.scalar(s)
			if !sysctlName.MatchString(s.Key) {
				b.fail(s.Place, "lab.bad_sysctl", measure.Figures{"sysctl": yamlfile.Shorten(s.Key)})
			}
			n.Sysctl = append(n.Sysctl, Sysctl{s.Key, value})
		}
	case "firewall":
		for _, g := range b.fields(f.Value, f.Key) {
			if g.Key != "block" {
				b.unknown(g, "firewall", "block")
			}
			for _, item := range b.items(g) {
				n.Block = append(n.Block, b.block(item))
			}
		}
	case "police":
		n.Police = b.rate(f)
	case "disk":
		n.Disk = &Disk{}
		for _, g := range b.fields(f.Value, f.Key) {
			switch g.Key {
			case "read":
				n.Disk.Read = b.diskRate(g)
			case "write":
				n.Disk.Write = b.diskRate(g)
			default:
				b.unknown(g, f.Key, "read", "write")
			}
		}
	default:
		b.unknown(f, n.Name, "server", "disk", "addresses", "sysctl", "firewall", "police")
	}
	if len(n.Own) > maxPerNode || len(n.Sysctl) > maxPerNode || len(n.Block) > maxPerNode {
		b.fail(f.Place, "lab.too_many_entries", measure.Figures{"key": f.Key, "most": maxPerNode})
	}
}

func (b *builder) ownAddress(n *Node, f yamlfile.Member) {
	s := b.scalar(f)
	if b.err != nil {
		return
	}
	if !labelName.MatchString(f.Key) {
		b.fail(f.Place, "lab.bad_label", measure.Figures{"label": yamlfile.Shorten(f.Key)})
		return
	}
	if s == "auto" {
		n.Own = append(n.Own, Address{Label: f.Key})
		return
	}
	a, err := netip.ParseAddr(s)
	if err != nil || !usable(a) {
		b.failAt(f, "lab.bad_address", measure.Figures{"text": yamlfile.Shorten(s)})
		return
	}
	n.Own = append(n.Own, Address{f.Key, a})
	b.claim(netip.PrefixFrom(a, a.BitLen()), f.Value.Place())
}

// usable excludes what a lab's node cannot have: multicast, loopback, link-local, zones.
func usable(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.Is4In6() && a.Zone() == ""
}

// block reads tcp/5201, udp/5000-5010 or icmp.
func (b *builder) block(f yamlfile.Member) Block {
	s := b.scalar(f)
	if s == "icmp" {
		return Block{Protocol: s}
	}
	protocol, ports, _ := strings.Cut(s, "/")
	first, last, isRange := strings.Cut(ports, "-")
	if !isRange {
		last = first
	}
	lo, err1 := strconv.ParseUint(first, 10, 16)
	hi, err2 := strconv.ParseUint(last, 10, 16)
	if protocol != "tcp" && protocol != "udp" || err1 != nil || err2 != nil || lo == 0 || hi < lo {
		b.failAt(f, "lab.bad_block", measure.Figures{"text": yamlfile.Shorten(s)})
	}
	return Block{protocol, uint16(lo), uint16(hi)}
}

// rate is a rate of at least 8 kbit/s: below it one frame takes seconds.
func (b *builder) rate(f yamlfile.Member) measure.Rate { return b.rateFrom(f, 8000, "lab.rate_range") }

// diskRate is a rate of at least 1 Mbit/s: nothing ends a program that waits for a disk, and
// below it one block takes many seconds.
func (b *builder) diskRate(f yamlfile.Member) measure.Rate {
	return b.rateFrom(f, 1e6, "lab.disk_rate_range")
}

func (b *builder) rateFrom(f yamlfile.Member, least measure.Rate, code string) measure.Rate {
	v := parsed(b.reader, f, measure.ParseRate)
	if b.err == nil && (v < least || v > 200e9) {
		b.failAt(f, code, measure.Figures{"rate_bps": v})
	}
	return v
}

func (b *builder) duration(f yamlfile.Member, most measure.Duration) measure.Duration {
	v := parsed(b.reader, f, measure.ParseDuration)
	if b.err == nil && v > most {
		b.failAt(f, "lab.duration_range", measure.Figures{"most_ns": most, "duration_ns": v})
	}
	return v
}

func parseRatio(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 1) {
		return 0, measure.Fail(measure.KindFile, "lab.bad_share", measure.Figures{"text": yamlfile.Shorten(s)})
	}
	return v, nil
}
