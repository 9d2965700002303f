package advice_test

import (
	"testing"

	"soku/internal/campaign/plan"
)

func parse(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse("plan.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// withPairs is the plan of six endpoints with pairs.
func withPairs(pairs string) string {
	return hosts + "pairs: " + pairs + "\n"
}

// study is a plan of 2 levels x 2 tests x 2 repeats x 2 rounds: 16 trials.
const study = `campaign: study
endpoints: {vm: {address: 10.0.0.4}}
to: vm
factors: {sku: [small, {name: large, options: {dscp: 8}}]}
tests:
  up: {test: tcp, duration: 1s, rate: 8M}
  rtt: {test: ping, count: 10}
repeats: 2
rounds: 2
`

// hosts is a plan of six endpoints, some with labelled addresses, without ends.
const hosts = `campaign: pairs
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
