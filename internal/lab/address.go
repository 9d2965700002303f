package lab

import (
	"net/netip"
	"slices"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// Automatic addresses. Labs may share them: a namespace is a network of its own.
var (
	linkPool  = netip.MustParsePrefix("10.77.0.0/16")  // a /30 a link
	ownPool   = netip.MustParsePrefix("10.78.0.0/16")  // a /32 an address
	linkPool6 = netip.MustParsePrefix("fd77:0:0::/48") // a /64 a link
)

// complete checks what involves several parts of the file and fills in the defaults.
func (b *builder) complete() {
	for _, l := range b.t.Links {
		b.checkSubnets(l)
	}
	for _, l := range b.t.Links {
		b.fillLink(l)
	}
	number := uint32(0)
	for _, n := range b.t.Nodes {
		for i := range n.Own {
			for !n.Own[i].Addr.IsValid() && b.err == nil {
				number++
				p := netip.PrefixFrom(nth4(ownPool, number), 32)
				if !b.taken(p) {
					b.subnets = append(b.subnets, p)
					n.Own[i].Addr = p.Addr()
				}
			}
		}
	}
	if b.err == nil {
		b.tables()
	}
}

// checkSubnets checks the explicit addresses of a link: for each family both ends have
// one, in the same subnet, which no other link has.
func (b *builder) checkSubnets(l *Link) {
	for _, six := range []bool{false, true} {
		var found [2][]netip.Prefix
		for i := range l.Ends {
			for _, p := range l.Ends[i].Addrs {
				if p.Addr().Is6() == six {
					found[i] = append(found[i], p)
				}
			}
		}
		if b.err != nil || len(found[0])+len(found[1]) == 0 {
			continue
		}
		if len(found[0]) != 1 || len(found[1]) != 1 {
			b.fail(l.pos, "lab.link_addresses", measure.Figures{"link": l.Name, "first": len(found[0]), "second": len(found[1])})
			return
		}
		p, q := found[0][0], found[1][0]
		if p.Masked() != q.Masked() || p.Addr() == q.Addr() {
			b.fail(b.at[q], "lab.not_neighbours", measure.Figures{"link": l.Name, "first": p.String(), "second": q.String()})
			return
		}
		b.claim(p.Masked(), b.at[p])
	}
}

func (b *builder) claim(p netip.Prefix, at yamlfile.Place) {
	if b.taken(p) {
		b.fail(at, "lab.overlap", measure.Figures{"prefix": p.String()})
	}
	b.subnets = append(b.subnets, p)
}

func (b *builder) taken(p netip.Prefix) bool {
	return slices.ContainsFunc(b.subnets, p.Overlaps)
}

// fillLink assigns a subnet to a link without addresses.
func (b *builder) fillLink(l *Link) {
	if b.err != nil || len(l.Ends[0].Addrs) > 0 {
		return
	}
	for number := uint32(l.index); b.err == nil; number++ {
		p := netip.PrefixFrom(nth4(linkPool, number*4), 30)
		if b.taken(p) {
			continue
		}
		b.subnets = append(b.subnets, p)
		for i := range l.Ends {
			a := nth4(linkPool, number*4+1+uint32(i))
			l.Ends[i].Addrs = append(l.Ends[i].Addrs, netip.PrefixFrom(a, 30))
		}
		break
	}
	if !b.t.IPv6 || l.MTU < 1280 { // the least an IPv6 link may carry
		return
	}
	for number := uint16(l.index); b.err == nil; number++ {
		base := linkPool6.Addr().As16()
		base[6], base[7] = byte(number>>8), byte(number)
		if b.taken(netip.PrefixFrom(netip.AddrFrom16(base), 64)) {
			continue
		}
		b.subnets = append(b.subnets, netip.PrefixFrom(netip.AddrFrom16(base), 64))
		for i := range l.Ends {
			base[15] = byte(i + 1)
			l.Ends[i].Addrs = append(l.Ends[i].Addrs, netip.PrefixFrom(netip.AddrFrom16(base), 64))
		}
		break
	}
}

// nth4 returns the address n after the beginning of an IPv4 pool.
func nth4(pool netip.Prefix, n uint32) netip.Addr {
	a := pool.Addr().As4()
	v := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	v += n
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}
