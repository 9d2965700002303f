package truth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/text/messages"
)

// Tests of routes mostly wait for answers that do not come, each in a network of its
// own: they run beside each other, after those that measure rates and times.

// Nodes have the kernel's own limits on ICMP errors: over IPv4 six at once and then one a
// second to a host.

// chain is a path of three routers.
const chain = `
ipv6: true
hosts:
  client:
  server:
routers:
  r1:
  r2:
  r3:
links:
  - {from: client, to: r1}
  - {from: r1, to: r2, delay: 5ms}
  - {from: r2, to: r3, OPTIONS}
  - {from: r3, to: server}
`

// target is the address of the server in one family.
func target(t *testing.T, l *lab.Lab, v6 bool) string {
	t.Helper()
	return addressOf(t, l, "server", v6, 0)
}

// addressOf is the i-th address of a node in a family, in the order of its links.
func addressOf(t *testing.T, l *lab.Lab, node string, v6 bool, i int) string {
	t.Helper()
	for _, a := range l.Topology.Addresses(node) {
		if a.Addr.Is6() == v6 {
			if i == 0 {
				return a.Addr.String()
			}
			i--
		}
	}
	t.Fatalf("%s has no such address", node)
	return ""
}

// probe runs trace or mtu from the client; with user, as a user without privileges.
func probe(t *testing.T, l *lab.Lab, user bool, test, to string, flags ...string) (*measure.Result, string) {
	t.Helper()
	args := append([]string{soku, test, to, "--json", "--no-save"}, flags...)
	if user {
		args = asUser(t, args)
	}
	return decode(t, l, args)
}

// asUser makes a command one of a user without privileges.
func asUser(t *testing.T, args []string) []string {
	t.Helper()
	// Only root can read the folder of the program.
	if err := os.Chmod(filepath.Dir(soku), 0o755); err != nil {
		t.Fatal(err)
	}
	home := "SOKU_DATA=" + filepath.Join(os.TempDir(), "none")
	return append([]string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", home}, args...)
}

func names(hops []measure.TraceHop) (out []string) {
	for _, h := range hops {
		var at []string
		for _, n := range h.Nodes {
			at = append(at, n.Address)
		}
		slices.Sort(at)
		out = append(out, strings.Join(at, "|"))
	}
	return out
}

func TestATraceFindsEveryHopInOrder(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, ", OPTIONS", ""))
	for _, v6 := range []bool{false, true} {
		want := []string{addressOf(t, l, "r1", v6, 0), addressOf(t, l, "r2", v6, 0), addressOf(t, l, "r3", v6, 0), target(t, l, v6)}
		for _, user := range []bool{false, true} {
			for _, kind := range []string{"udp", "icmp", "tcp"} {
				t.Run(fmt.Sprintf("%s, v6 %v, user %v", kind, v6, user), func(t *testing.T) {
					r, _ := probe(t, l, user, "trace", target(t, l, v6), "--probe", kind, "-c", "1")
					tr := r.Trace
					if got := names(tr.Hops); !slices.Equal(got, want) || !tr.Reached || !tr.Hops[3].Nodes[0].Target {
						t.Fatalf("hops %v, want %v; reached %v", got, want, tr.Reached)
					}
					for i, h := range tr.Hops {
						n := h.Nodes[0]
						// The delay is between the first hop and the others: 5 ms in each direction.
						far := i > 0
						if far != (n.MinNs >= 10e6) || h.Lost != 0 {
							t.Errorf("hop %d: best %s, %d of %d lost", h.Hop, messages.FormatLatency(n.MinNs), h.Lost, h.Due)
						}
						if n.MinNs > n.MeanNs || n.MeanNs > n.MaxNs || n.StdDevNs < 0 {
							t.Errorf("hop %d: %+v", h.Hop, n)
						}
					}
					if !slices.Equal(tr.Flows[0].Path, want) {
						t.Errorf("path %v", tr.Flows[0].Path)
					}
				})
			}
		}
	}
}

// Three parallel routers, and nodes that choose among them by the ports of a flow.
func TestFlowsFindAllBranchesOfAPath(t *testing.T) {
	t.Parallel()
	l := network(t, `
ipv6: true
hosts:
  client:
  server:
routers:
  r1:
  a:
  b:
  c:
  r2:
links:
  - {from: client, to: r1}
  - {from: r1, to: a}
  - {from: r1, to: b}
  - {from: r1, to: c}
  - {from: a, to: r2}
  - {from: b, to: r2}
  - {from: c, to: r2}
  - {from: r2, to: server}
`)
	for _, v6 := range []bool{false, true} {
		branches := []string{addressOf(t, l, "a", v6, 0), addressOf(t, l, "b", v6, 0), addressOf(t, l, "c", v6, 0)}
		slices.Sort(branches)
		// Of 32 flows, one branch of three is missed once in 100,000 times. That many answers
		// take half a minute over IPv4, and three seconds over IPv6.
		flows, kinds := 32, []string{"udp", "tcp"}
		if !v6 {
			flows, kinds = 8, []string{"tcp"}
		}
		for _, kind := range kinds {
			r, _ := probe(t, l, false, "trace", target(t, l, v6), "--probe", kind, "--flows", strconv.Itoa(flows), "-c", "1")
			tr := r.Trace
			if len(tr.Hops) != 4 || !tr.Reached {
				t.Fatalf("%s, v6 %v: hops %v", kind, v6, names(tr.Hops))
			}
			if got := names(tr.Hops)[1]; v6 && got != strings.Join(branches, "|") {
				t.Errorf("%s, v6 %v: branches %s, want %v", kind, v6, got, branches)
			}
			taken := map[int]int{}
			for _, n := range tr.Hops[1].Nodes {
				for _, f := range n.Flows {
					taken[f]++
				}
				if !slices.Contains(branches, n.Address) {
					t.Errorf("%s, v6 %v: %s is no branch", kind, v6, n.Address)
				}
			}
			for f, n := range taken {
				if n != 1 {
					t.Errorf("%s, v6 %v: flow %d took %d branches", kind, v6, f, n)
				}
			}
			if len(taken) != flows {
				t.Errorf("%s, v6 %v: %d of %d flows", kind, v6, len(taken), flows)
			}
		}
	}
}

func TestLossOnALinkShowsAtEveryLaterHop(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, "OPTIONS", "loss: 20%, reverse: {loss: 0}"))
	r, _ := probe(t, l, false, "trace", target(t, l, false), "--probe", "icmp", "--flows", "4", "-c", "100", "-i", "100ms")
	if len(r.Trace.Hops) != 4 {
		t.Fatalf("hops %v", names(r.Trace.Hops))
	}
	// The target answers 400 echoes: five standard errors of 2 % at 20 %. The routers answer
	// one probe a second.
	if h := r.Trace.Hops[3]; h.Due != h.Sent || h.Due < 400 || math.Abs(h.LossRatio-0.2) > 0.1 {
		t.Errorf("target: %d of %d lost, %d sent, want 20 %%", h.Lost, h.Due, h.Sent)
	}
	for _, h := range r.Trace.Hops[:2] {
		if h.Lost != 0 || h.Limit == nil {
			t.Errorf("hop %d: %d of %d lost, limit %v", h.Hop, h.Lost, h.Due, h.Limit)
		}
	}
}

func TestASilentHopDoesNotEndTheTrace(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, ", OPTIONS", ""))
	drop(t, l, "r2", false, 11, 0)
	r, _ := probe(t, l, false, "trace", target(t, l, false), "-c", "2", "-i", "100ms", "--timeout", "200ms")
	if got := names(r.Trace.Hops); len(got) != 4 || got[1] != "" || got[3] != target(t, l, false) || r.Trace.Hops[1].Lost != 0 {
		t.Errorf("hops %v", got)
	}
}

// drop has a node drop its own ICMP messages of this type and code.
func drop(t *testing.T, l *lab.Lab, node string, v6 bool, typ, code byte) {
	t.Helper()
	ns, err := os.Open(filepath.Join("/run/netns", lab.NamespaceName(l.Topology.Name, node)))
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	c, err := nftables.New(nftables.WithNetNSFd(int(ns.Fd())))
	if err != nil {
		t.Fatal(err)
	}
	protocol := byte(unix.IPPROTO_ICMP)
	if v6 {
		protocol = unix.IPPROTO_ICMPV6
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: fmt.Sprintf("silence-%d-%d", protocol, typ)})
	chain := c.AddChain(&nftables.Chain{Name: "output", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityFilter})
	c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{protocol}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 0, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{typ, code}},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}})
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
}

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
			if warned := r.Findings.With(measure.CodeMTURouteLocked); len(warned) > 0 != c.lock {
				t.Errorf("route %d: findings %+v", c.mtu, warned)
			}
		}
	}
}

// setRouteMTU gives the client a route of its own to an address.
func setRouteMTU(t *testing.T, l *lab.Lab, to string, mtu int, lock bool) {
	t.Helper()
	ns, err := netns.GetFromName(lab.NamespaceName(l.Topology.Name, "client"))
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	h, err := netlink.NewHandleAt(ns)
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
	if len(m.Reports) != 1 || m.Reports[0].Bytes != 1450 || m.Reports[0].Confirmed || len(r.Findings.With(measure.CodeMTUReportUnconfirmed)) != 1 {
		t.Errorf("reports %+v, findings %+v", m.Reports, r.Findings)
	}
}

func TestAnInterruptKeepsTheHopsFoundSoFar(t *testing.T) {
	t.Parallel()
	l := network(t, strings.ReplaceAll(chain, ", OPTIONS", ""))
	to := netip.MustParseAddr(target(t, l, false))
	// timeout sends SIGINT after the program has had time for a round or two.
	args := []string{"timeout", "--foreground", "-s", "INT", "2", soku, "trace", to.String(), "-c", "1000", "-i", "100ms", "--json", "--no-save"}
	began := time.Now()
	r, status := decode(t, l, args)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if r.Error == nil || r.Error.Kind != measure.KindInterrupted || len(r.Trace.Hops) != 4 || r.Trace.Hops[0].Sent < 2 {
		t.Errorf("error %v, hops %v (%s)", r.Error, names(r.Trace.Hops), status)
	}
}

// Where the system allows a user no echo, the error is about the host that was to be pinged.
func TestAPingThatIsNotAllowedNamesItsTarget(t *testing.T) {
	t.Parallel()
	l := network(t, `
hosts: {client: {sysctl: {net.ipv4.ping_group_range: 1 0}}, server: }
links:
  - {from: client, to: server}
`)
	to := target(t, l, false)
	cmd := l.Command(t.Context(), "client", asUser(t, []string{soku, "ping", to, "-c", "1", "--no-save"})...)
	out, err := cmd.CombinedOutput()
	if text := string(out); err == nil || !strings.Contains(text, "ping "+to+": the system allows this user neither") || strings.Contains(text, "127.0.0.1") {
		t.Errorf("%v: %s", err, text)
	}
}

// decode runs a command on the client and reads the result that it prints, whatever its exit
// status.
func decode(t *testing.T, l *lab.Lab, args []string) (*measure.Result, string) {
	t.Helper()
	r, text, err := found(t.Context(), l, args)
	if err != nil {
		t.Fatal(err)
	}
	return r, text
}

// errNoPath is a result without a route and a path MTU.
var errNoPath = errors.New("no route and no path MTU in the result")

// found runs a command on the client and reads the result that it prints.
func found(ctx context.Context, l *lab.Lab, args []string) (*measure.Result, string, error) {
	cmd := l.Command(ctx, "client", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	failed := cmd.Run()
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return nil, "", fmt.Errorf("%v: %w: %s", args, errors.Join(failed, err), errs.String())
	}
	if r.Trace == nil && r.PathMTU == nil {
		return nil, "", fmt.Errorf("%v: %w: %s", args, errors.Join(failed, errNoPath), errs.String())
	}
	return &r, errs.String(), nil
}
