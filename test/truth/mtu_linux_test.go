package truth

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// tooBig are the types and codes of routers' errors for packets that are too big.
func tooBig(v6 bool) (typ, code byte) {
	if v6 {
		return 2, 0
	}
	return 3, 4
}

func TestThePathMTUAndItsLimitAreFound(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, "OPTIONS", "mtu: 1387"))
	for _, v6 := range []bool{false, true} {
		for _, user := range []bool{false, true} {
			for _, kind := range []string{"icmp", "udp"} {
				t.Run(fmt.Sprintf("%s, v6 %v, user %v", kind, v6, user), func(t *testing.T) {
					t.Parallel()
					r, _ := probe(t, l, user, "mtu", target(t, l, v6), "--probe", kind)
					m, router := r.PathMTU, addressOf(t, l, "r2", v6, 0)
					if m.Bytes != 1387 || m.FailedBytes != 1388 || m.InterfaceBytes != 1500 || r.Summary.PathMTUBytes != 1387 {
						t.Errorf("%d bytes, %d not, of %d", m.Bytes, m.FailedBytes, m.InterfaceBytes)
					}
					if m.Limit != measure.LimitReported || m.After == nil || m.After.Hop != 2 || m.After.Address != router {
						t.Errorf("limit %s after %+v, want reported by %s", m.Limit, m.After, router)
					}
					if len(m.Reports) != 1 || !m.Reports[0].Confirmed || m.Reports[0].Bytes != 1387 {
						t.Errorf("reports %+v", m.Reports)
					}
				})
			}
		}
	}
}

func TestThePathMTUIsLimitedByTheInterface(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, ", OPTIONS", ""))
	r, _ := probe(t, l, false, "mtu", target(t, l, false))
	if m := r.PathMTU; m.Bytes != 1500 || m.Limit != measure.LimitInterface || m.FailedBytes != 0 || len(m.Sizes) != 2 {
		t.Errorf("%+v", m)
	}
}

func TestThePathMTUIsLimitedByARouteOfTheClient(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, "OPTIONS", "mtu: 1387"))
	for _, v6 := range []bool{false, true} {
		for _, c := range []struct {
			mtu, bytes int
			limit      string
			lock       bool
		}{{1300, 1300, measure.LimitInterface, false}, {1400, 1387, measure.LimitReported, true}} {
			setRouteMTU(t, l, target(t, l, v6), c.mtu, c.lock)
			r, _ := probe(t, l, false, "mtu", target(t, l, v6))
			m := r.PathMTU
			if m.Bytes != c.bytes || m.Limit != c.limit || m.RouteBytes != c.mtu || m.RouteLocked != c.lock || m.InterfaceBytes != 1500 {
				t.Errorf("route %d: %d bytes of %d, limit %s, locked %v", m.RouteBytes, m.Bytes, m.InterfaceBytes, m.Limit, m.RouteLocked)
			}
			if warned := r.Findings.With(finding.MTURouteLocked); len(warned) > 0 != c.lock {
				t.Errorf("route %d: findings %+v", c.mtu, warned)
			}
		}
	}
}

// setRouteMTU gives the client a route of its own to an address.
func setRouteMTU(t *testing.T, l *lab.Lab, to string, mtu int, lock bool) {
	t.Helper()
	h, err := netlink.NewHandleAt(namespaceOf(t, l, "client"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	address := net.ParseIP(to)
	routes, err := h.RouteGet(address)
	if err != nil {
		t.Fatal(err)
	}
	bits := 8 * len(netip.MustParseAddr(to).AsSlice())
	route := netlink.Route{
		Dst: &net.IPNet{IP: address, Mask: net.CIDRMask(bits, bits)}, Gw: routes[0].Gw, LinkIndex: routes[0].LinkIndex, MTU: mtu, MTULock: lock,
	}
	if err := h.RouteReplace(&route); err != nil {
		t.Fatal(err)
	}
}

func TestLossIsNotTakenForAnMTULimit(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, "OPTIONS", "mtu: 1387, loss: 5%"))
	// A size that gets through stays unanswered seven times in a row, with a chance of
	// 10 % each, once in ten million times.
	r, _ := probe(t, l, false, "mtu", target(t, l, false), "-c", "7")
	if m := r.PathMTU; m.Bytes != 1387 || m.FailedBytes != 1388 || m.Limit != measure.LimitReported {
		t.Errorf("%d bytes, %d not, limit %s", m.Bytes, m.FailedBytes, m.Limit)
	}
}

func TestABlackHoleIsLocated(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, "OPTIONS", "mtu: 1387"))
	for _, v6 := range []bool{false, true} {
		typ, code := tooBig(v6)
		drop(t, l, "r2", v6, typ, code)
		for _, kind := range []string{"icmp", "udp"} {
			t.Run(fmt.Sprintf("%s, v6 %v", kind, v6), func(t *testing.T) {
				t.Parallel()
				r, _ := probe(t, l, false, "mtu", target(t, l, v6), "--probe", kind, "-c", "2")
				m, last, next := r.PathMTU, addressOf(t, l, "r2", v6, 0), addressOf(t, l, "r3", v6, 0)
				if m.Bytes != 1387 || m.FailedBytes != 1388 || len(m.Reports) != 0 {
					t.Errorf("%d bytes, %d not, reports %+v", m.Bytes, m.FailedBytes, m.Reports)
				}
				if m.Limit != measure.LimitBlackHole || m.After == nil || m.After.Hop != 2 || m.After.Address != last || m.Before == nil || m.Before.Address != next {
					t.Errorf("limit %s after %+v before %+v, want %s and %s", m.Limit, m.After, m.Before, last, next)
				}
			})
		}
	}
}

// A node reports 1450, and a black hole after it carries less: the report must not be
// believed.
func TestAReportThatProbesContradictIsNotBelieved(t *testing.T) {
	t.Parallel()
	l := network(t, `
hosts:
  client:
  server:
routers:
  r1:
  r2:
links:
  - {from: client, to: r1}
  - {from: r1, to: r2, mtu: 1450}
  - {from: r2, to: server, mtu: 1300}
`)
	drop(t, l, "r2", false, 3, 4)
	r, _ := probe(t, l, false, "mtu", target(t, l, false))
	m := r.PathMTU
	if m.Bytes != 1300 || m.FailedBytes != 1301 || m.Limit != measure.LimitBlackHole || m.After.Hop != 2 {
		t.Errorf("%d bytes, limit %s after %+v", m.Bytes, m.Limit, m.After)
	}
	if len(m.Reports) != 1 || m.Reports[0].Bytes != 1450 || m.Reports[0].Confirmed || len(r.Findings.With(finding.MTUReportUnconfirmed)) != 1 {
		t.Errorf("reports %+v, findings %+v", m.Reports, r.Findings)
	}
}
