package lab

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"soku/internal/measure"
)

// Load reads and checks the topology in a file. read is usually os.ReadFile.
// Every error is a *measure.Error of kind file that begins with
// FILE:LINE:COLUMN.
func Load(path string, read func(string) ([]byte, error)) (*Topology, error) {
	data, err := read(path)
	if err != nil {
		return nil, measure.Errorf(measure.KindFile, "read topology: %w", err).WithHint("give the topology's file, for example: soku lab up lab.yaml")
	}
	return Parse(path, data)
}

// Parse checks the text of a topology; file is its name in messages.
func Parse(file string, data []byte) (*Topology, error) {
	r := &reader{file: file}
	root := r.parse(data)
	t := &Topology{File: file, Source: data}
	b := &builder{reader: r, t: t, nodes: map[string]*Node{}, at: map[netip.Prefix]position{}}
	b.document(root)
	b.complete()
	if r.err != nil {
		return nil, r.err
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
	at      map[netip.Prefix]position // where an explicit address stands
	subnets []netip.Prefix            // taken
}

func (b *builder) document(root ast.Node) {
	if b.err != nil {
		return
	}
	var links, routes field
	for _, f := range b.fields(root, position{1, 1}, "topology") {
		switch f.key {
		case "lab":
			b.t.Name = b.name(f.value, f.at, "lab", nodeName)
		case "title":
			b.t.Title = b.scalar(f.value, f.at, f.key)
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
			b.unknown(f, "topology", "lab", "title", "ipv6", "hosts", "routers", "links", "routes")
		}
	}
	start := place(root, position{1, 1})
	switch {
	case b.err != nil:
	case b.t.Name == "":
		b.fail(start, "add lab: NAME", "the lab has no name")
	case len(b.t.Nodes) == 0:
		b.fail(start, "add hosts:", "the lab has no hosts")
	}
	if links.key != "" { // they refer to nodes, which may stand below them
		for i, n := range b.items(links) {
			b.link(n, links.at, i)
		}
	}
	if routes.key != "" && b.err == nil {
		for _, n := range b.items(routes) {
			b.route(n, routes.at)
		}
	}
}

func (b *builder) name(n ast.Node, at position, what string, form *regexp.Regexp) string {
	s := b.scalar(n, at, what)
	if b.err == nil && !form.MatchString(s) {
		b.fail(place(n, at), "at most 32 letters, digits and dashes; lower case for nodes and labs", "%s: %q is no name", what, short(s))
	}
	return s
}

func (b *builder) nodeList(list field, router bool) {
	for _, f := range b.fields(list.value, list.at, list.key) {
		n := &Node{Name: f.key, Router: router, index: len(b.t.Nodes), pos: f.at}
		switch {
		case !nodeName.MatchString(f.key):
			b.fail(f.at, "at most 32 lower-case letters, digits and dashes", "%q is no name for a node", short(f.key))
		case b.nodes[f.key] != nil:
			b.fail(f.at, "", "%q is there twice; hosts and routers share one set of names", f.key)
		case len(b.t.Nodes) == maxNodes:
			b.fail(f.at, "", "more than %d nodes", maxNodes)
		}
		b.nodes[f.key] = n
		b.t.Nodes = append(b.t.Nodes, n)
		for _, g := range b.fields(f.value, f.at, f.key) {
			b.nodeField(n, g)
		}
	}
}

func (b *builder) nodeField(n *Node, f field) {
	switch f.key {
	case "server":
		n.Server = b.boolean(f)
	case "addresses":
		for _, a := range b.fields(f.value, f.at, f.key) {
			b.ownAddress(n, a)
		}
	case "sysctl":
		for _, s := range b.fields(f.value, f.at, f.key) {
			value := b.scalar(s.value, s.at, s.key)
			if !sysctlName.MatchString(s.key) {
				b.fail(s.at, "only settings that belong to a namespace, such as net.ipv4.tcp_congestion_control", "sysctl: %q is not below net", short(s.key))
			}
			n.Sysctl = append(n.Sysctl, Sysctl{s.key, value})
		}
	case "firewall":
		for _, g := range b.fields(f.value, f.at, f.key) {
			if g.key != "block" {
				b.unknown(g, "firewall", "block")
			}
			for _, item := range b.items(g) {
				n.Block = append(n.Block, b.block(item, g.at))
			}
		}
	case "police":
		n.Police = b.rate(f)
	default:
		b.unknown(f, n.Name, "server", "addresses", "sysctl", "firewall", "police")
	}
	if len(n.Own) > maxPerNode || len(n.Sysctl) > maxPerNode || len(n.Block) > maxPerNode {
		b.fail(f.at, "", "%s: more than %d entries", f.key, maxPerNode)
	}
}

func (b *builder) ownAddress(n *Node, f field) {
	s := b.scalar(f.value, f.at, f.key)
	if b.err != nil {
		return
	}
	if !labelName.MatchString(f.key) {
		b.fail(f.at, "", "%q is no label for an address", short(f.key))
		return
	}
	if s == "auto" {
		n.Own = append(n.Own, Address{Label: f.key})
		return
	}
	a, err := netip.ParseAddr(s)
	if err != nil || !usable(a) {
		b.fail(place(f.value, f.at), "", "%s: expected an IP address or auto, found %q", f.key, short(s))
		return
	}
	n.Own = append(n.Own, Address{f.key, a})
	b.claim(netip.PrefixFrom(a, a.BitLen()), place(f.value, f.at))
}

// usable excludes what a lab's node cannot have: multicast, loopback, link-local, zones.
func usable(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.Is4In6() && a.Zone() == ""
}

// block reads tcp/5201, udp/5000-5010 or icmp.
func (b *builder) block(n ast.Node, at position) Block {
	s := b.scalar(n, at, "block")
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
		b.fail(place(n, at), "write for example tcp/5201, udp/5000-5010 or icmp", "block: expected protocol/port, found %q", short(s))
	}
	return Block{protocol, uint16(lo), uint16(hi)}
}

// rate is a rate of at least 8 kbit/s: below it one frame takes seconds.
func (b *builder) rate(f field) measure.Rate {
	v := parsed(b.reader, f, measure.ParseRate)
	if b.err == nil && (v < 8000 || v > 200e9) {
		b.fail(place(f.value, f.at), "", "%s: expected 8k to 200G, found %s", f.key, v)
	}
	return v
}

func (b *builder) duration(f field, most measure.Duration) measure.Duration {
	v := parsed(b.reader, f, measure.ParseDuration)
	if b.err == nil && v > most {
		b.fail(place(f.value, f.at), "", "%s: expected at most %s, found %s", f.key, most, v)
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
		return 0, measure.Errorf(measure.KindFile, "expected a share from 0 to below 100%%, found %q", short(s)).
			WithHint("write for example 0.5%% or 0.005")
	}
	return v, nil
}
