package lab

import (
	"math"
	"os"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestGoodputIsThePayloadShareOfAFullFrame(t *testing.T) {
	for _, c := range []struct {
		rate measure.Rate
		mtu  int
		v6   bool
		want float64
	}{
		{1e9, 1500, false, 1e9 * 1448 / 1514},
		{1e9, 1500, true, 1e9 * 1428 / 1514},
		{5e7, 1400, false, 5e7 * 1348 / 1414},
		{0, 1500, false, 0},
	} {
		if got := GoodputCap(c.rate, c.mtu, c.v6); math.Abs(float64(got)-c.want) > 1 {
			t.Errorf("%v at %d, IPv6 %v: %d, want %.0f", c.rate, c.mtu, c.v6, got, c.want)
		}
	}
}

func truth(t *testing.T, top *Topology, from, to, address string) Truth {
	t.Helper()
	tr, err := top.Truth(from, to, address)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestEachDemoGatewayHasItsOwnTruth(t *testing.T) {
	top, err := Load("../../examples/topologies/demo.yaml", os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		gateway string
		cap     measure.Rate
		rtt     int64
	}{{"basic", 100e6, 4e6}, {"standard", 200e6, 3e6}, {"high", 400e6, 2e6}, {"ultra", 800e6, 1e6}} {
		got := truth(t, top, "client", "server", c.gateway)
		if got.CapBps != c.cap || got.FlowCapBps != 100e6 || got.RTTNs != c.rtt || got.MTU != 1500 || got.LossRatio != 0 {
			t.Errorf("%s: %+v", c.gateway, got)
		}
		if back := truth(t, top, "server", "client", c.gateway); back != got {
			t.Errorf("%s: back %+v, there %+v", c.gateway, back, got)
		}
	}
}

func TestTruthFollowsForwardAndReturnPath(t *testing.T) {
	top := parse(t, `
lab: x
hosts: {a: , b: }
routers: {r: {police: 300M}}
links:
  - {from: a, to: r, rate: 1G, delay: 1ms, jitter: 0.1ms, loss: 10%, mtu: 1400, reverse: {rate: 50M, delay: 3ms, loss: 0}}
  - {from: r, to: b, delay: 2ms, loss: 10%, police: 400M}
`)
	there := truth(t, top, "a", "b", "")
	want := Truth{CapBps: 300e6, FlowCapBps: 300e6, GoodputBps: GoodputCap(300e6, 1400, false), RTTNs: 8e6, JitterNs: 200_000, LossRatio: there.LossRatio, MTU: 1400}
	if there != want || math.Abs(there.LossRatio-0.19) > 1e-12 {
		t.Errorf("there %+v", there)
	}
	back := truth(t, top, "b", "a", "10.77.0.1")
	if back.CapBps != 50e6 || back.RTTNs != 8e6 || math.Abs(back.LossRatio-0.10) > 1e-12 {
		t.Errorf("back %+v", back)
	}
}

func TestTheTruthHasTheDisksOfBothEnds(t *testing.T) {
	top := parse(t, "lab: x\nhosts: {a: {disk: {read: 200M, write: 60M}}, b: {disk: {write: 80M}}, c: }\nlinks: [{from: a, to: b}, {from: a, to: c}]")
	for _, c := range []struct {
		from, to, label string
		read, write     measure.Rate
	}{{"a", "b", "", 200e6, 80e6}, {"b", "a", "b", 0, 60e6}, {"a", "c", "", 200e6, 0}, {"c", "a", "c", 0, 60e6}} {
		if got := truth(t, top, c.from, c.to, c.label); got.ReadBps != c.read || got.WriteBps != c.write {
			t.Errorf("%s to %s: %+v", c.from, c.to, got)
		}
	}
}

func TestEqualPathsAddUpForManyFlowsButNotForOne(t *testing.T) {
	top := parse(t, `
lab: x
hosts: {a: , b: }
routers: {r: , s: }
links:
  - {from: a, to: r, rate: 1G}
  - {from: r, to: s, rate: 100M, parallel: 3}
  - {from: r, to: s, rate: 150M, delay: 1ms}
  - {from: s, to: b}
`)
	got := truth(t, top, "a", "b", "")
	if got.CapBps != 450e6 || got.FlowCapBps != 150e6 || got.RTTNs != 0 {
		t.Errorf("%+v", got)
	}
	if routes := top.Routes(top.Node("r")); len(routes) == 0 || len(routes[len(routes)-1].Hops) != 4 {
		t.Errorf("routes of r: %v", routes)
	}
}

func TestASharedLinkLimitsEqualPathsTogether(t *testing.T) {
	top := parse(t, `
lab: x
hosts: {a: , b: {addresses: {vip: auto}}}
routers: {r: , s1: , s2: {police: 30M}}
links:
  - {from: a, to: r, rate: 120M}
  - {from: r, to: s1, rate: 100M}
  - {from: r, to: s2, rate: 100M}
  - {from: s1, to: b}
  - {from: s2, to: b}
`)
	if got := truth(t, top, "a", "b", "vip"); got.CapBps != 120e6 || got.FlowCapBps != 100e6 {
		t.Errorf("both ways: %+v", got)
	}
	if got := truth(t, top, "a", "b", "s2"); got.CapBps != 30e6 {
		t.Errorf("through the policed router: %+v", got)
	}
}

func TestAnExplicitRouteWinsOverTheShortest(t *testing.T) {
	text := `
lab: x
hosts: {a: , b: {addresses: {far: auto, near: auto}}}
routers: {r: , s: , t: }
links:
  - {from: a, to: r}
  - {from: r, to: b, rate: 100M}
  - {from: r, to: s, rate: 10M}
  - {from: s, to: b}
`
	top := parse(t, text+"routes:\n  - {on: r, to: b:far, via: s}\n")
	if far, near := truth(t, top, "a", "b", "far"), truth(t, top, "a", "b", "near"); far.CapBps != 10e6 || near.CapBps != 100e6 {
		t.Errorf("far %+v, near %+v", far, near)
	}
	top = parse(t, text+"routes:\n  - {on: r, to: b:far, via: s}\n  - {on: s, to: b:far, via: r}\n")
	if _, err := top.Truth("a", "b", "far"); measure.KindOf(err) != measure.KindUnreachable || !strings.Contains(err.Error(), "circle") {
		t.Errorf("a circle: %v", err)
	}
	top = parse(t, text)
	if _, err := top.Truth("a", "t", ""); measure.KindOf(err) != measure.KindNotFound {
		t.Errorf("a node without addresses: %v", err)
	}
}

func TestHostsDoNotForward(t *testing.T) {
	top := parse(t, "lab: x\nhosts: {a: , m: , b: }\nlinks: [{from: a, to: m}, {from: m, to: b}]")
	if _, err := top.Truth("a", "b", ""); measure.KindOf(err) != measure.KindUnreachable {
		t.Error(err)
	}
	if got := truth(t, top, "a", "a", ""); got.CapBps != 0 || got.RTTNs != 0 {
		t.Errorf("to itself: %+v", got)
	}
}

func TestTheStudiesHaveTheirDocumentedTruth(t *testing.T) {
	for _, c := range []struct {
		file, from, to, address string
		cap, flow               measure.Rate
		rtt                     int64
	}{
		{"expressroute-latency", "office", "vm", "redundant", 0, 0, 2_400_000}, // over the nearest instance
		{"expressroute-latency", "office", "vm", "fastpath", 0, 0, 1_700_000},
		{"expressroute-latency", "office", "vm-zone2", "zonal", 0, 0, 1_900_000},
		{"vpn-active-active", "office", "cloud0", "none", 0, 0, 0},
		{"vpn-active-active", "office", "cloud1", "standby", 65e6, 65e6, 0},
		{"vpn-active-active", "office", "cloud2", "half", 200e6, 100e6, 0},
		{"vpn-active-active", "cloud3", "office", "gw3-active-left", 500e6, 125e6, 0},
		{"accelerated-networking", "vm1", "vm2-hdd", "off", 180e6, 180e6, 600_000},
		{"accelerated-networking", "vm1", "vm2-ssd", "on", 480e6, 480e6, 200_000},
		{"vm-bandwidth-cap", "vm", "same-vnet", "", 300e6, 50e6, 0},
		{"vm-bandwidth-cap", "vm", "peered-vnet", "", 300e6, 50e6, 0},
		{"vm-bandwidth-cap", "vm", "office-100", "standard", 35e6, 35e6, 0},
		{"vm-bandwidth-cap", "vm", "office-1000", "ultra", 250e6, 50e6, 0},
		{"interface-matrix", "4gb-a", "4gb-b", "public", 16e6, 16e6, 18_000_000},
		{"interface-matrix", "512gb-a", "512gb-b", "vlan", 48e6, 48e6, 15_000_000},
	} {
		top, err := Load("../../examples/cases/"+c.file+"/topology.yaml", os.ReadFile)
		if err != nil {
			t.Error(err)
			continue
		}
		got := truth(t, top, c.from, c.to, c.address)
		if got.CapBps != c.cap || got.FlowCapBps != c.flow || got.RTTNs != c.rtt {
			t.Errorf("%s: %s to %s %s: %+v", c.file, c.from, c.to, c.address, got)
		}
	}
}
