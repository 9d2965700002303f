// Package plans has the plans that the tests of campaigns share.
package plans

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
)

// Parse returns a plan without mistakes.
func Parse(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse("plan.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Minimal has one pattern of one test.
const Minimal = `campaign: one
endpoints: {vm: {address: 10.0.0.4}}
to: vm
tests: {throughput: {test: tcp, duration: 10s}}
`

// Full has every key.
const Full = `# every key
campaign: gateway-sku
title: "Which gateway carries most? 何が速い"
endpoints:
  onprem: {command: [ssh, onprem, soku], addresses: {lan: 192.168.0.9}}
  vm:
    address: 10.0.1.2
    port: 9000
    addresses: {vlan: 10.1.0.2, public: 203.0.113.2}
from: onprem
to: vm
factors:
  gateway:
    - standard
    - {name: ultra, to: vm.public, options: {window: 4Mi}, before: ./switch.sh ultra, after: ./back.sh}
  streams: [1, 16]
  congestion:
    option: congestion
    levels: [cubic, {name: modern, options: {congestion: bbr, mss: 1200}, after: ./cc.sh}]
exclude:
  - {gateway: standard, streams: 16}
  - {streams: [1], congestion: [modern]}
tests:
  throughput: {test: tcp, duration: 10s, rate: 80M}
  up: {test: tcp, bytes: 10MB, direction: bidirectional, port: 7000}
  rtt: {test: ping, count: 100, size: 56}
repeats: 2
rounds: 4
seed: 42
before: |
  echo begin
  true
after: echo end
shell: [bash, -c]
command_timeout: 5m
only: {gateway: [ultra]}
pause: 1s
budget: {bytes: 50G, egress_price_per_gb: 0.08}
practical: 3%
limits: {goodput: 12 Gbit/s, source: contract}
control: {gateway: [standard]}
`

// Study is a plan of 2 levels x 2 tests x 2 repeats x 2 rounds: 16 trials.
const Study = `campaign: study
endpoints: {vm: {address: 10.0.0.4}}
to: vm
factors: {sku: [small, {name: large, options: {dscp: 8}}]}
tests:
  up: {test: tcp, duration: 1s, rate: 8M}
  rtt: {test: ping, count: 10}
repeats: 2
rounds: 2
`

// Siblings is a plan of three factors, to which tests add keys.
const Siblings = `campaign: study
endpoints: {t1: {address: 10.0.0.1}, t2: {address: 10.0.0.2}, o1: {address: 10.0.0.3}, o2: {address: 10.0.0.4}}
factors:
  client: [{name: tokyo, from: t1}, {name: osaka, from: o1}]
  streams: [1, 16]
  server: [{name: T, to: t2}, {name: O, to: o2}]
tests: {up: {test: tcp}}
`

// Bound are [Siblings] whose servers go with a client.
var Bound = strings.NewReplacer("to: t2", "to: t2, when: {client: tokyo}", "to: o2", "to: o2, when: {client: osaka}").Replace(Siblings)

// Hosts is a plan of six endpoints, some with labelled addresses, without ends.
const Hosts = `campaign: pairs
endpoints:
  a: {address: 10.0.0.1, command: [ssh, a, soku], addresses: {vlan: 10.1.0.1, vpc: 10.2.0.1}}
  b: {address: 10.0.0.2, command: [ssh, b, soku], addresses: {vlan: 10.1.0.2, vpc: 10.2.0.2}}
  c: {address: 10.0.0.3, command: [ssh, c, soku], addresses: {vlan: 10.1.0.3}}
  d: {address: 10.0.0.4, command: [ssh, d, soku], port: 9000}
  e: {address: 10.0.0.5, command: [ssh, e, soku]}
  f: {address: 10.0.0.6, command: [ssh, f, soku]}
groups: {tokyo: [a, b], osaka: [d, e], mixed: [a.vlan, f]}
tests: {up: {test: tcp, duration: 1s}}
seed: 1
`

// WithPairs is the plan of six endpoints with pairs.
func WithPairs(pairs string) string {
	return Hosts + "pairs: " + pairs + "\n"
}

// ManyHosts is a plan of n endpoints, without ends.
func ManyHosts(n int) string {
	var b strings.Builder
	b.WriteString("campaign: many\ntests: {up: {test: tcp, duration: 1s}}\nendpoints:\n")
	for i := range n {
		fmt.Fprintf(&b, "  h%d: {address: h%d, command: [ssh, h%d, soku]}\n", i, i, i)
	}
	return b.String()
}

// PatternNames lists the patterns of a plan.
func PatternNames(p *plan.Plan) string {
	var names []string
	for _, pt := range p.AllPatterns() {
		names = append(names, pt.Name)
	}
	return strings.Join(names, "; ")
}
