package host

import (
	"bufio"
	"cmp"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// preferred orders addresses of both families as the C library of this system does. Package
// net has the policy table of RFC 6724 built in. The GNU C library has that of RFC 3484, which
// prefers unique local IPv6 addresses to IPv4, and lets /etc/gai.conf replace it.
func preferred(list []netip.Addr) []netip.Addr {
	if !mixed(list) {
		return list
	}
	// musl has the table of RFC 6724, as package net.
	if musl, _ := filepath.Glob("/lib/ld-musl-*"); len(musl) > 0 {
		return list
	}
	return configured("/etc/gai.conf").order(list, sourceOf)
}

func mixed(list []netip.Addr) bool {
	four := 0
	for _, a := range list {
		if a.Is4() {
			four++
		}
	}
	return four > 0 && four < len(list)
}

// configured returns the policy of a gai.conf(5), the default one if there is none.
func configured(path string) *addressPolicy {
	file, err := os.Open(path)
	if err != nil {
		return defaultPolicy()
	}
	defer file.Close()
	return readPolicy(io.LimitReader(file, mostPolicy))
}

// sourceOf returns the source address for a destination, the zero one without a route.
// Connecting a datagram socket sends nothing.
func sourceOf(to netip.Addr) netip.Addr {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, 9)))
	if err != nil {
		return netip.Addr{}
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap().WithZone("")
}

// addressPolicy says which of several addresses of a name are preferred: the table of RFC
// 3484 and RFC 6724, section 2.1, as gai.conf(5) writes it. IPv4 addresses are in it as
// IPv4-mapped ones.
type addressPolicy struct {
	labels, precedences, scopes []policyRule
}

type policyRule struct {
	prefix netip.Prefix
	value  int
}

// mostPolicy limits the size of a gai.conf in bytes.
const mostPolicy = 64 << 10

// Scopes of RFC 4291, section 2.7.
const (
	scopeLinkLocal = 2
	scopeSiteLocal = 5
	scopeGlobal    = 14
)

func rule(prefix string, value int) policyRule {
	return policyRule{netip.MustParsePrefix(prefix), value}
}

// defaultPolicy is that of the GNU C library without a gai.conf: its manual page.
func defaultPolicy() *addressPolicy {
	return &addressPolicy{
		labels: []policyRule{
			rule("::1/128", 0), rule("::/0", 1), rule("2002::/16", 2), rule("::/96", 3), rule("::ffff:0:0/96", 4),
			rule("fec0::/10", 5), rule("fc00::/7", 6), rule("2001:0::/32", 7),
		},
		precedences: []policyRule{
			rule("::1/128", 50), rule("::/0", 40), rule("2002::/16", 30), rule("::/96", 20), rule("::ffff:0:0/96", 10),
		},
		scopes: []policyRule{
			rule("::ffff:169.254.0.0/112", scopeLinkLocal), rule("::ffff:127.0.0.0/104", scopeLinkLocal), rule("::ffff:0.0.0.0/96", scopeGlobal),
		},
	}
}

// readPolicy reads a gai.conf. A kind of rule that it has replaces all of that kind in the
// default; lines that make no sense are skipped, as by the C library.
func readPolicy(r io.Reader) *addressPolicy {
	p, read := defaultPolicy(), addressPolicy{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) != 3 {
			continue
		}
		prefix, err := policyPrefix(words[1])
		value, bad := strconv.ParseUint(words[2], 10, 31)
		if err != nil || bad != nil {
			continue
		}
		switch add := (policyRule{prefix, int(value)}); words[0] {
		case "label":
			read.labels = append(read.labels, add)
		case "precedence":
			read.precedences = append(read.precedences, add)
		case "scopev4":
			read.scopes = append(read.scopes, add)
		}
	}
	if len(read.labels) > 0 {
		p.labels = append(read.labels, rule("::/0", 1))
	}
	if len(read.precedences) > 0 {
		p.precedences = append(read.precedences, rule("::/0", 40))
	}
	if len(read.scopes) > 0 {
		p.scopes = append(read.scopes, rule("::ffff:0.0.0.0/96", scopeGlobal))
	}
	return p
}

// policyPrefix reads a prefix; without a length it is one address.
func policyPrefix(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return netip.Prefix{}, err
		}
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// valueOf returns the value of the longest prefix that has the address; of equal ones the
// first counts.
func valueOf(rules []policyRule, a netip.Addr) int {
	mapped := netip.AddrFrom16(a.As16())
	longest, value := -1, 0
	for _, r := range rules {
		in := r.prefix.Addr()
		prefix, bits := netip.PrefixFrom(netip.AddrFrom16(in.As16()), r.prefix.Bits()), r.prefix.Bits()
		if in.Is4() { // 10.0.0.0/8 is ::ffff:10.0.0.0/104
			bits += 96
			prefix = netip.PrefixFrom(prefix.Addr(), bits)
		}
		if bits > longest && containsMapped(prefix, mapped) {
			longest, value = bits, r.value
		}
	}
	return value
}

// containsMapped is [netip.Prefix.Contains] for IPv4-mapped addresses, which that refuses.
func containsMapped(p netip.Prefix, a netip.Addr) bool {
	x, y := p.Addr().As16(), a.As16()
	for i := range p.Bits() {
		if bit := byte(0x80 >> (i % 8)); x[i/8]&bit != y[i/8]&bit {
			return false
		}
	}
	return true
}

func (p *addressPolicy) scope(a netip.Addr) int {
	switch {
	case a.Is4():
		return valueOf(p.scopes, a)
	case a.IsMulticast():
		return int(a.As16()[1] & 15)
	case a.IsLoopback(), a.IsLinkLocalUnicast():
		return scopeLinkLocal
	case a.As16()[0] == 0xfe && a.As16()[1]&0xc0 == 0xc0:
		return scopeSiteLocal
	}
	return scopeGlobal
}

// order sorts addresses by rules 1, 2, 5, 6 and 8 of RFC 6724, section 6; equal ones keep
// their order. source returns the source address for a destination, the zero one without a
// route.
func (p *addressPolicy) order(list []netip.Addr, source func(netip.Addr) netip.Addr) []netip.Addr {
	type candidate struct {
		to                netip.Addr
		routed            bool
		scoped, labelled  bool // like its source
		precedence, scope int
	}
	candidates := make([]candidate, len(list))
	for i, to := range list {
		c := candidate{to: to, precedence: valueOf(p.precedences, to), scope: p.scope(to)}
		if from := source(to); from.IsValid() {
			c.routed = true
			c.scoped = p.scope(from) == c.scope
			c.labelled = valueOf(p.labels, from) == valueOf(p.labels, to)
		}
		candidates[i] = c
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(
			yesFirst(a.routed, b.routed), yesFirst(a.scoped, b.scoped), yesFirst(a.labelled, b.labelled),
			cmp.Compare(b.precedence, a.precedence), cmp.Compare(a.scope, b.scope),
		)
	})
	ordered := make([]netip.Addr, len(list))
	for i, c := range candidates {
		ordered[i] = c.to
	}
	return ordered
}

func yesFirst(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}
