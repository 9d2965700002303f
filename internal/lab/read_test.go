package lab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
)

func parse(t *testing.T, text string) *Topology {
	t.Helper()
	topology, err := Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

func TestAShortTopologyGetsNamesAndAddresses(t *testing.T) {
	top := parse(t, `
lab: short
hosts:
  a:
  b: {server: true}
routers: {r: }
links:
  - {from: a, to: r}
  - {from: r, to: b, rate: 100M}
`)
	if len(top.Nodes) != 3 || !top.Node("r").Router || !top.Node("b").Server || top.Node("a").Server {
		t.Fatalf("nodes: %+v", top.Nodes)
	}
	if got := top.Links[1].Name; got != "r-b" {
		t.Errorf("link name %q", got)
	}
	for _, c := range []struct{ host, label, want string }{
		{"a", "r", "10.77.0.1"}, {"a", "", "10.77.0.1"}, {"b", "r", "10.77.0.6"}, {"r", "b", "10.77.0.5"},
	} {
		got, err := top.Address(c.host, c.label)
		if err != nil || got.String() != c.want {
			t.Errorf("address of %s %q: %v, %v; want %s", c.host, c.label, got, err, c.want)
		}
	}
	if w := top.Links[1].Ways; w[0].Rate != 100e6 || w[1].Rate != 100e6 {
		t.Errorf("a rate counts in both directions: %+v", w)
	}
}

func TestReverseSettingsChangeOneDirection(t *testing.T) {
	l := parse(t, `
lab: x
hosts: {a: , b: }
links:
  - {from: a, to: b, rate: 1G, delay: 2ms, loss: 1%, reverse: {rate: 100M, delay: 5ms}}
`).Links[0]
	if l.Ways[0].Rate != 1e9 || l.Ways[1].Rate != 100e6 || l.Ways[0].Delay != 2e6 || l.Ways[1].Delay != 5e6 || l.Ways[1].Loss != 0.01 {
		t.Errorf("%+v", l.Ways)
	}
}

func TestADiskHasTheRatesThatTheFileGives(t *testing.T) {
	top := parse(t, `
lab: x
hosts:
  a: {disk: {read: 200M, write: 60M}}
  b: {disk: {write: 1G}}
  c: {disk: }
  d:
`)
	for host, want := range map[string]Disk{"a": {200e6, 60e6}, "b": {0, 1e9}, "c": {}} {
		if got := top.Node(host).Disk; got == nil || *got != want || got.limited() != (host != "c") {
			t.Errorf("%s: %+v, want %+v", host, got, want)
		}
	}
	if d := top.Node("d").Disk; d != nil {
		t.Errorf("d has no disk of its own, but %+v", d)
	}
}

func TestParallelLinksGetNumbersAndLabels(t *testing.T) {
	top := parse(t, `
lab: x
routers: {a: , b: }
links:
  - {name: tunnel, from: a, to: b, parallel: 3}
  - {from: a, to: b}
  - {from: a, to: b}
`)
	var names, labels []string
	for _, l := range top.Links {
		names, labels = append(names, l.Name), append(labels, l.Ends[0].Label)
	}
	if got := strings.Join(names, " "); got != "tunnel-1 tunnel-2 tunnel-3 a-b a-b-2" {
		t.Errorf("names %s", got)
	}
	if got := strings.Join(labels, " "); got != "b b-2 b-3 b-4 b-5" {
		t.Errorf("labels %s", got)
	}
}

func TestBothFamiliesAreAssigned(t *testing.T) {
	top := parse(t, "lab: x\nipv6: true\nhosts: {a: {addresses: {vip: 192.0.2.7}}, b: }\nlinks: [{from: a, to: b, label: wan}]")
	if got := strings.Join(namesOf(top.Addresses("a"), func(a Address) string { return a.Label + "=" + a.Addr.String() }), ", "); got != "vip=192.0.2.7, wan=10.77.0.1, wan-v6=fd77::1" {
		t.Error(got)
	}
}

func TestMistakesAreNamedByLineAndColumn(t *testing.T) {
	const nodes = "lab: x\nhosts:\n  a:\n  b:\nlinks:\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "t.yaml:1:1: the file is empty; begin with lab: NAME"},
		{"not YAML", "lab: x\nhosts: [a\n", "t.yaml:2:8: not YAML:"},
		{"no name", "hosts:\n  a:\n", "t.yaml:1:1: the lab has no name; add lab: NAME"},
		{"bad name", "lab: Big Lab\n", `t.yaml:1:6: lab: "Big Lab" is not a valid name; at most 32`},
		{"unknown key", "lab: x\nhost:\n  a:\n", `t.yaml:2:1: unknown key "host"; did you mean hosts? Known keys are lab, title`},
		{"unknown key of a host", "lab: x\nhosts:\n  a:\n    servre: true\n", `t.yaml:4:5: a: unknown key "servre"; did you mean server? Known keys are server`},
		{"twice", "lab: x\nhosts:\n  a:\nrouters:\n  a:\n", `t.yaml:5:3: "a" is there twice`},
		{"list for mapping", "lab: x\nhosts:\n  - a\n", "t.yaml:3:3: hosts: expected keys with values, found a list; write it as name: value"},
		{"not a boolean", "lab: x\nhosts:\n  a: {server: 7}\n", `t.yaml:3:15: server: expected true or false, found "7"`},
		{"unknown node", nodes + "  - {from: a, to: c}\n", `t.yaml:6:19: there is no node "c"; nodes are a, b`},
		{"itself", nodes + "  - {from: a, to: a}\n", "t.yaml:6:6: link from a to itself"},
		{"one end", nodes + "  - {from: a}\n", "t.yaml:6:6: link: expected from: NODE and to: NODE"},
		{"rate", nodes + "  - {from: a, to: b, rate: 50X}\n", `t.yaml:6:28: rate: rate "50X": unknown unit; write for example 50M`},
		{"rate too low", nodes + "  - {from: a, to: b, rate: 12}\n", "t.yaml:6:28: rate: expected 8k to 200G"},
		{"delay", nodes + "  - {from: a, to: b, delay: soon}\n", `t.yaml:6:29: delay: duration "soon": not a time`},
		{"delay too long", nodes + "  - {from: a, to: b, delay: 1h}\n", "t.yaml:6:29: delay: expected at most 2s, found 1h0m0s"},
		{"jitter", nodes + "  - {from: a, to: b, delay: 1ms, jitter: 2ms}\n", "t.yaml:6:6: jitter 2ms is more than the delay 1ms it varies"},
		{"loss", nodes + "  - {from: a, to: b, loss: 101%}\n", "t.yaml:6:28: loss: expected a share from 0 to below 100%"},
		{"mtu", nodes + "  - {from: a, to: b, mtu: 100}\n", `t.yaml:6:27: mtu: expected 576 to 9216 bytes, found "100"`},
		{"shaper", nodes + "  - {from: a, to: b, shaper: fq}\n", `t.yaml:6:30: shaper: expected tbf or htb, found "fq"`},
		{"policer", nodes + "  - {from: a, to: b, police: 1M, policer: bits}\n", `t.yaml:6:43: policer: expected packets or bytes, found "bits"`},
		{"key of a link", nodes + "  - from: a\n    too: b\n", `t.yaml:7:5: links.1: unknown key "too"`},
		{"key of reverse", nodes + "  - {from: a, to: b, reverse: {mtu: 1400}}\n", `t.yaml:6:32: reverse: unknown key "mtu"`},
		{"address", nodes + "  - {from: a, to: b, addresses: {a: 10.0.0.1, b: 10.0.0.2/24}}\n", `t.yaml:6:37: a: expected ADDRESS/BITS, found "10.0.0.1"`},
		{"no neighbours", nodes + "  - {from: a, to: b, addresses: {a: 10.0.0.1/24, b: 10.0.1.2/24}}\n", "t.yaml:6:53: link a-b: 10.0.0.1/24 and 10.0.1.2/24 are not neighbours"},
		{"one address", nodes + "  - {from: a, to: b, addresses: {a: 10.0.0.1/24}}\n", "t.yaml:6:6: link a-b: the ends have 1 and 0 addresses of a family; give each end one address of the same subnet"},
		{"wrong end", nodes + "  - {from: a, to: b, addresses: {c: 10.0.0.1/24}}\n", `t.yaml:6:34: addresses: expected a or b, found "c"`},
		{"overlap", nodes + "  - {from: a, to: b, addresses: {a: 10.0.0.1/24, b: 10.0.0.2/24}}\n  - {from: a, to: b, addresses: {a: 10.0.0.5/16, b: 10.0.0.6/16}}\n", "t.yaml:7:37: 10.0.0.0/16 overlaps with addresses given before; every link needs a subnet of its own"},
		{"own address", "lab: x\nhosts:\n  a: {addresses: {v: 127.0.0.1}}\n", `t.yaml:3:22: v: expected an IP address or auto, found "127.0.0.1"`},
		{"block", "lab: x\nhosts:\n  a: {firewall: {block: [tcp/0]}}\n", `t.yaml:3:26: block: expected protocol/port, found "tcp/0"; write for example tcp/5201`},
		{"disk", "lab: x\nhosts:\n  a: {disk: {reed: 1M}}\n", `t.yaml:3:14: disk: unknown key "reed"; did you mean read? Known keys are read, write`},
		{"disk of a word", "lab: x\nhosts:\n  a: {disk: fast}\n", `t.yaml:3:13: disk: expected keys with values`},
		{"disk too slow", "lab: x\nhosts:\n  a: {disk: {write: 60k}}\n", "t.yaml:3:21: write: expected 1M to 200G, found 60.00 kbit/s"},
		{"sysctl", "lab: x\nhosts:\n  a: {sysctl: {kernel.panic: 1}}\n", `t.yaml:3:16: sysctl: "kernel.panic" is not below net`},
		{"sysctl path", "lab: x\nhosts:\n  a: {sysctl: {net/../kernel/panic: 1}}\n", `t.yaml:3:16: sysctl:`},
		{"route without way", nodes + "  - {from: a, to: b}\nroutes:\n  - {on: a, to: b}\n", "t.yaml:8:6: route: expected on: NODE"},
		{"route over nothing", nodes + "  - {from: a, to: b}\nroutes:\n  - {on: a, to: b, via: c}\n", `t.yaml:8:25: via: no link "c", and no neighbour of that name; links are a-b`},
		{"route over no links", "lab: x\nhosts: {a: , b: }\nroutes:\n  - {on: a, to: b, via: c}\n", `t.yaml:4:25: via: no link "c", and no neighbour of that name; the topology has no links`},
		{"route before its node", nodes + "  - {from: a, to: b}\nroutes:\n  - {via: c, on: a, to: b}\n", `t.yaml:8:11: via: no link "c"; to name a neighbour, write on: before via:`},
		{"route to no address", "lab: x\nhosts: {a: , b: , c: }\nlinks: [{from: a, to: b}]\nroutes:\n  - {on: a, to: c, via: b}\n", "t.yaml:5:6: c in lab x has no addresses"},
		{"route to no label", nodes + "  - {from: a, to: b}\nroutes:\n  - {on: a, to: b:vip, via: b}\n", `t.yaml:8:6: b in lab x has no address "vip"; its addresses are a`},
		{"deep", "lab: x\nhosts: {a: " + strings.Repeat("[", 17) + strings.Repeat("]", 17) + "}\n", "t.yaml:2:27: values are nested too deeply for such a file"},
		{"very deep", strings.Repeat("[", 1000), "t.yaml:1:1: values are nested too deeply for such a file"},
		{"second document", "lab: x\nhosts: {a: }\n---\nlab: y\n", "t.yaml:4:1: a second document"},
		{"alias", "lab: x\nhosts:\n  a: &h {server: true}\n  b: *h\n", "t.yaml:3:6: a: YAML anchors and aliases are not allowed in such a file; write the value out"},
		{"too long", "lab: x\n#" + strings.Repeat("x", maxFileBytes), "t.yaml:1:1: the file has"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("t.yaml", []byte(c.text))
			var e *measure.Error
			if !errors.As(err, &e) || e.Kind != measure.KindFile {
				t.Fatalf("got %v", err)
			}
			if !strings.HasPrefix(e.Error(), c.want) {
				t.Errorf("got  %s\nwant %s", e, c.want)
			}
		})
	}
}

func TestAMissingFileIsAFileError(t *testing.T) {
	_, err := Load("/nowhere/x.yaml", os.ReadFile)
	if measure.KindOf(err) != measure.KindFile || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestUnknownNamesListTheKnownOnes(t *testing.T) {
	top := parse(t, "lab: x\nhosts: {a: , b: }\nlinks: [{from: a, to: b, label: wan}]")
	_, err := top.Address("c", "")
	if measure.KindOf(err) != measure.KindNotFound || !strings.Contains(err.Error(), "nodes are a, b") {
		t.Error(err)
	}
	_, err = top.Address("a", "lan")
	if measure.KindOf(err) != measure.KindNotFound || !strings.Contains(err.Error(), "its addresses are wan") {
		t.Error(err)
	}
}

// exampleFiles are the topologies in examples/.
func exampleFiles(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob("../../examples/topologies/*.yaml")
	cases, _ := filepath.Glob("../../examples/cases/*/topology.yaml")
	if len(files) < 1 || len(cases) < 5 {
		t.Fatalf("found %d topologies and %d of cases", len(files), len(cases))
	}
	return append(files, cases...)
}

func TestTheExamplesAreValid(t *testing.T) {
	names := map[string]string{}
	for _, f := range exampleFiles(t) {
		top, err := Load(f, os.ReadFile)
		if err != nil {
			t.Error(err)
			continue
		}
		if other := names[top.Name]; other != "" {
			t.Errorf("%s and %s are both lab %s", f, other, top.Name)
		}
		names[top.Name] = f
		for _, to := range top.Nodes {
			if !to.Server {
				continue
			}
			for _, a := range top.Addresses(to.Name) {
				if len(top.Clients(to.Name, a.Label)) == 0 {
					t.Errorf("%s: no host reaches %s %s", f, to.Name, a.Label)
				}
			}
		}
	}
}
