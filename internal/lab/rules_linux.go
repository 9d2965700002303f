package lab

import (
	"encoding/binary"
	"fmt"
	"soku/internal/measure"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// addRules puts a node's firewall and its limits without a queue into one
// nftables table for the node and one for its devices.
func addRules(t *Topology, s *space) error {
	c, err := nftables.New(nftables.WithNetNSFd(int(s.ns)))
	if err != nil {
		return fail("lab.node.nftables", measure.Figures{"cause": err})
	}
	some := addFirewall(c, s.node)
	some = addForwardPolice(c, t, s.node) || some
	some = addLinkPolice(c, t, s.node) || some
	if !some {
		return nil
	}
	if err := c.Flush(); err != nil {
		return fail("lab.node.rules", measure.Figures{"node": s.node.Name, "cause": err})
	}
	return nil
}

func addFirewall(c *nftables.Conn, n *Node) bool {
	if len(n.Block) == 0 {
		return false
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "soku-firewall"})
	for name, hook := range map[string]*nftables.ChainHook{"input": nftables.ChainHookInput, "forward": nftables.ChainHookForward} {
		chain := c.AddChain(&nftables.Chain{Name: name, Table: table, Type: nftables.ChainTypeFilter, Hooknum: hook, Priority: nftables.ChainPriorityFilter})
		for _, b := range n.Block {
			for _, match := range blockMatches(b) {
				c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: append(match, &expr.Counter{}, &expr.Verdict{Kind: expr.VerdictDrop})})
			}
		}
	}
	return true
}

// blockMatches are the rules that match what b blocks: one, or for icmp one a family.
func blockMatches(b Block) [][]expr.Any {
	protocol := func(number byte) []expr.Any {
		return []expr.Any{
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{number}},
		}
	}
	if b.Protocol == "icmp" {
		return [][]expr.Any{protocol(unix.IPPROTO_ICMP), protocol(unix.IPPROTO_ICMPV6)}
	}
	number := byte(unix.IPPROTO_TCP)
	if b.Protocol == "udp" {
		number = unix.IPPROTO_UDP
	}
	return [][]expr.Any{append(protocol(number),
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2}, // destination port
		&expr.Range{Op: expr.CmpOpEq, Register: 1, FromData: port(b.First), ToData: port(b.Last)},
	)}
}

func port(p uint16) []byte { return binary.BigEndian.AppendUint16(nil, p) }

// smallPacket is the length in bytes of an IP packet up to which a policer
// of packets takes no notice of it; see over.
const smallPacket = 128

// over drops the packets beyond rate. The kernel's limit of bytes always
// lets a burst of a whole second of its rate pass, which would be half of a
// two-second test, so this counts full packets of the MTU instead, and
// leaves out the acknowledgements and other small ones between them.
func over(perSecond float64, mtu int) []expr.Any {
	packets := perSecond / 8 / float64(mtu+etherBytes)
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyLEN, Register: 1},
		// Comparisons go byte by byte, so that only the most significant first gives an order.
		&expr.Byteorder{SourceRegister: 1, DestRegister: 1, Op: expr.ByteorderHton, Len: 4, Size: 4},
		&expr.Cmp{Op: expr.CmpOpGt, Register: 1, Data: binary.BigEndian.AppendUint32(nil, smallPacket)},
		&expr.Limit{Type: expr.LimitTypePkts, Rate: uint64(max(packets, 1)), Unit: expr.LimitTimeSecond, Burst: uint32(max(packets*policeTime, 16)), Over: true},
		&expr.Counter{},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}

// addForwardPolice limits everything a router forwards.
func addForwardPolice(c *nftables.Conn, t *Topology, n *Node) bool {
	if n.Police == 0 {
		return false
	}
	mtu := 0
	for _, l := range t.Links {
		if l.endOf(n) >= 0 {
			mtu = max(mtu, l.MTU)
		}
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "soku-police"})
	chain := c.AddChain(&nftables.Chain{Name: "forward", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityMangle})
	c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: over(float64(n.Police), mtu)})
	return true
}

// addLinkPolice limits what arrives at a node over each policed link. It
// stands at the receiving end: the sender's kernel would see its own drops and
// slow down before anything is lost.
func addLinkPolice(c *nftables.Conn, t *Topology, n *Node) bool {
	var table *nftables.Table
	for _, l := range t.Links {
		e := l.endOf(n)
		if e < 0 || l.Ways[1-e].Police == 0 || l.policesBytes(1-e) {
			continue
		}
		if table == nil {
			table = c.AddTable(&nftables.Table{Family: nftables.TableFamilyNetdev, Name: "soku-police"})
		}
		chain := c.AddChain(&nftables.Chain{Name: fmt.Sprintf("in%d", l.index), Table: table, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookIngress, Priority: nftables.ChainPriorityFilter, Device: l.Ends[e].Iface})
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: over(float64(l.Ways[1-e].Police), l.MTU)})
	}
	return table != nil
}
