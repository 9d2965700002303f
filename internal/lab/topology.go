package lab

import (
	"net/netip"
	"slices"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// Limits of a topology. They limit the time for a hostile file, and keep a lab from
// exhausting a machine.
const (
	maxFileBytes = 64 << 10
	maxNodes     = 64
	maxLinks     = 256
	maxPerNode   = 32 // addresses, sysctls, firewall entries of one node; parallel links
)

// Topology is a network as its file describes it, checked and with every
// address assigned. It does not change after [Parse] and may be used by many
// goroutines.
type Topology struct {
	Name   string
	Title  string
	File   string // as given to Load, for messages
	Source []byte // the file's text
	IPv6   bool   // links get automatic addresses of both IPv4 and IPv6
	Nodes  []*Node
	Links  []*Link

	wishes []wish // explicit routes as written
	tables [][]Route
}

// Node is a host or a router.
type Node struct {
	Name   string
	Router bool  // forwards packets
	Server bool  // runs "soku server"
	Disk   *Disk // a folder of its own; nil: none
	// Own are addresses of the node itself, on its loopback interface: reachable over every link.
	Own    []Address
	Sysctl []Sysctl
	Block  []Block
	Police measure.Rate // limit on everything the node forwards, in both directions together; 0: none

	index int
	pos   yamlfile.Place
}

// Disk is a folder of a node on the disk of this machine, and how fast the node's programs
// read and write past the page cache.
type Disk struct {
	Read  measure.Rate // bits per second; 0: as fast as the machine's disk
	Write measure.Rate // same
}

// limited reports whether the disk is slower than the machine's.
func (d *Disk) limited() bool { return d != nil && d.Read+d.Write > 0 }

// Address is one address of a node with its label.
type Address struct {
	Label string
	Addr  netip.Addr
}

// Sysctl is a kernel setting of one node, such as net.ipv4.tcp_congestion_control.
type Sysctl struct{ Key, Value string }

// Block is traffic that a node drops: Protocol tcp or udp with a range of destination
// ports, or icmp.
type Block struct {
	Protocol    string
	First, Last uint16
}

// Shaper is the queueing discipline that enforces a rate.
type Shaper string

// Shapers.
const (
	ShaperTBF Shaper = "tbf" // token bucket with a queue
	ShaperHTB Shaper = "htb" // hierarchical token bucket with one class
)

// Policer is what a limit without a queue counts.
type Policer string

// Policers.
const (
	PolicePackets Policer = "packets" // full packets of the MTU
	PoliceBytes   Policer = "bytes"
)

// Link joins two nodes. Ends[0] is the file's "from", Ends[1] its "to".
type Link struct {
	Name   string
	Ends   [2]End
	MTU    int // bytes of the IP packet
	Shaper Shaper
	// Policer is what Police counts in both directions.
	Policer Policer
	// Ways are the two directions: Ways[0] carries Ends[0] to Ends[1].
	Ways [2]Way

	index int
	pos   yamlfile.Place
}

// End is one end of a link at a node.
type End struct {
	Node  *Node
	Iface string // name of the interface inside the node's namespace
	Label string
	Addrs []netip.Prefix
}

// Way has the properties of one direction of a link.
type Way struct {
	// Rate is the cap in bits of Ethernet frames per second (IP packet + 14 bytes, as
	// the kernel's shapers count), with a queue; 0: none.
	Rate measure.Rate
	// Police drops what exceeds it, without a queue; 0: none. Same unit as Rate.
	Police measure.Rate
	Burst  measure.Size     // size of the token bucket of Rate, or of a policer of bytes; 0: chosen from the rate
	Queue  measure.Duration // longest wait of a packet for Rate; 0: chosen
	Delay  measure.Duration // one way
	Jitter measure.Duration // the delay of each packet is uniform in Delay ± Jitter; order is kept
	Loss   float64          // probability that a packet is dropped, independently, in [0,1)
}

// Node returns the node of that name, or nil.
func (t *Topology) Node(name string) *Node {
	for _, n := range t.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// Addresses are the addresses of a node: its own first, then one for each end of a link in
// the order of the file. Labels are unique within a node; if an address has both an IPv4 and an
// IPv6 form, the IPv6 one has the same label with "-v6" appended.
func (t *Topology) Addresses(node string) []Address {
	n := t.Node(node)
	if n == nil {
		return nil
	}
	out := slices.Clone(n.Own)
	for _, l := range t.Links {
		for i := range l.Ends {
			if l.Ends[i].Node != n {
				continue
			}
			for _, p := range l.Ends[i].Addrs {
				out = append(out, Address{Label: labelOf(&l.Ends[i], p), Addr: p.Addr()})
			}
		}
	}
	return out
}

// Address is the address of host with this label, or the first one if label is empty. The
// error has kind not_found and lists the labels.
func (t *Topology) Address(host, label string) (netip.Addr, error) {
	if t.Node(host) == nil {
		return netip.Addr{}, measure.Fail(measure.KindNotFound, "lab.no_such_node", measure.Figures{"lab": t.Name, "node": host, "nodes": t.nodeNames()})
	}
	for _, a := range t.Addresses(host) {
		if label == "" || a.Label == label {
			return a.Addr, nil
		}
	}
	return netip.Addr{}, t.noAddress(measure.KindNotFound, host, label)
}

// noAddress is the failure of a host that has no address of that label.
func (t *Topology) noAddress(kind measure.Kind, host, label string) *measure.Error {
	all := t.Addresses(host)
	if len(all) == 0 {
		return measure.Fail(kind, "lab.no_addresses", measure.Figures{"lab": t.Name, "node": host})
	}
	return measure.Fail(kind, "lab.unknown_address", measure.Figures{
		"lab": t.Name, "node": host, "label": label, "labels": namesOf(all, func(a Address) string { return a.Label }),
	})
}

func (t *Topology) nodeNames() []string {
	return namesOf(t.Nodes, func(n *Node) string { return n.Name })
}

func labelOf(e *End, p netip.Prefix) string {
	if p.Addr().Is6() && slices.ContainsFunc(e.Addrs, func(o netip.Prefix) bool { return o.Addr().Is4() }) {
		return e.Label + "-v6"
	}
	return e.Label
}

func namesOf[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = name(v)
	}
	return out
}
