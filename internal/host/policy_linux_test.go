package host

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// sources are the addresses of a host with each of these families.
func sources(list ...string) func(netip.Addr) netip.Addr {
	return func(to netip.Addr) netip.Addr {
		for _, s := range list {
			if a := netip.MustParseAddr(s); a.Is4() == to.Is4() {
				return a
			}
		}
		return netip.Addr{}
	}
}

// The order is what getaddrinfo(3) of Debian 12's C library gave in a network namespace with
// these addresses.
func TestAddressesAreOrderedAsTheCLibraryDoes(t *testing.T) {
	const preferIPv4 = "precedence ::ffff:0:0/96 100\n"
	for _, c := range []struct {
		name, policy string
		source       func(netip.Addr) netip.Addr
		list, want   string
	}{
		{"unique local and IPv4", "", sources("10.9.0.1", "fd00:9::1"), "10.9.0.2 fd00:9::2", "fd00:9::2 10.9.0.2"},
		{"the same, IPv4 preferred", preferIPv4, sources("10.9.0.1", "fd00:9::1"), "fd00:9::2 10.9.0.2", "10.9.0.2 fd00:9::2"},
		{"global and IPv4", "", sources("10.9.0.1", "2001:db8::1"), "10.9.0.2 2001:db8::2", "2001:db8::2 10.9.0.2"},
		{"no IPv6 route", "", sources("10.9.0.1"), "2001:db8::2 10.9.0.2", "10.9.0.2 2001:db8::2"},
		{"a global destination from a unique local source", "", sources("10.9.0.1", "fd00:9::1"), "2001:db8::2 10.9.0.2", "10.9.0.2 2001:db8::2"},
		{"unique local from a global source", "", sources("10.9.0.1", "2001:db8::1"), "fd00:9::2 10.9.0.2", "10.9.0.2 fd00:9::2"},
		{"6to4 from a global source", "", sources("10.9.0.1", "2001:db8::1"), "2002:a09:2::1 10.9.0.2", "10.9.0.2 2002:a09:2::1"},
		{"a global destination from a link-local source", "", sources("10.9.0.1", "fe80::1"), "2001:db8::2 10.9.0.2", "10.9.0.2 2001:db8::2"},
		{"loopback", "", sources("127.0.0.1", "::1"), "127.0.0.1 ::1", "::1 127.0.0.1"},
		{"equal ones keep their order", "", sources("10.9.0.1", "2001:db8::1"), "2001:db8::3 2001:db8::2", "2001:db8::3 2001:db8::2"},
	} {
		var list []netip.Addr
		for _, a := range strings.Fields(c.list) {
			list = append(list, netip.MustParseAddr(a))
		}
		got := readPolicy(strings.NewReader(c.policy)).order(list, c.source)
		if text := strings.Trim(fmt.Sprint(got), "[]"); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

func TestAPolicyFileReplacesTheRulesThatItHas(t *testing.T) {
	p := readPolicy(strings.NewReader(`# comment
label ::1/128 0
precedence ::ffff:0:0/96 100 # IPv4 first
precedence nonsense 3
precedence ::/0
scopev4 ::ffff:169.254.0.0/112 2
scopev4 10.0.0.0/8 5
reload yes
`))
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"precedence of IPv4", valueOf(p.precedences, netip.MustParseAddr("192.0.2.1")), 100},
		{"precedence of ::1, whose rule is replaced", valueOf(p.precedences, netip.IPv6Loopback()), 40},
		{"label of IPv4, whose rule is replaced", valueOf(p.labels, netip.MustParseAddr("192.0.2.1")), 1},
		{"scope of 10.1.1.1", p.scope(netip.MustParseAddr("10.1.1.1")), 5},
		{"scope of 169.254.1.1", p.scope(netip.MustParseAddr("169.254.1.1")), 2},
		{"scope of 192.0.2.1", p.scope(netip.MustParseAddr("192.0.2.1")), 14},
		{"scope of fec0::1", p.scope(netip.MustParseAddr("fec0::1")), 5},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add("label ::1/128 0\nprecedence ::ffff:0:0/96 100\nscopev4 10.0.0.0/8 5\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := []netip.Addr{netip.MustParseAddr("10.9.0.2"), netip.MustParseAddr("fd00:9::2"), netip.MustParseAddr("fe80::1%eth0")}
		if got := readPolicy(strings.NewReader(text)).order(list, sources("10.9.0.1", "fd00:9::1")); len(got) != len(list) {
			t.Errorf("%v", got)
		}
	})
}
