package plan_test

import (
	"testing"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
)

// BenchmarkPlanAThousandPatterns reads a plan of 1,000 patterns, draws its rounds and
// estimates it.
func BenchmarkPlanAThousandPatterns(b *testing.B) {
	text := []byte(interfacesOf1000)
	for b.Loop() {
		p, err := plan.Parse("plan.yaml", text)
		if err != nil || len(p.AllPatterns()) != 1000 {
			b.Fatalf("%d patterns, error %v", len(p.AllPatterns()), err)
		}
		trials := 0
		for block := range schedule.Blocks(p, "c", 1) {
			trials += block.Len
		}
		if trials != p.Trials() || advice.EstimateOf(p, nil).Trials != trials {
			b.Fatal(trials)
		}
	}
}

// interfacesOf1000 has 10 × 10 × 10 patterns of two tests, and 10 that do not exist.
const interfacesOf1000 = `campaign: thousand
endpoints: {a: {address: 10.0.0.1, addresses: {vlan: 10.1.0.1, vpc: 10.2.0.1}}, b: {address: 10.0.0.2, addresses: {vlan: 10.1.0.2, vpc: 10.2.0.2}}}
factors:
  streams: {from: 1, to: 512, scale: log2}
  request_rate: {from: 100, to: 1000, step: 100}
  path:
    - {name: 1, to: a}
    - {name: 2, to: b}
    - {name: 3, to: a, to_label: vlan}
    - {name: 4, to: b, to_label: vlan}
    - {name: 5, to: a, to_label: vpc}
    - {name: 6, to: b, to_label: vpc}
    - {name: 7, to: a, options: {dscp: 8}}
    - {name: 8, to: b, options: {dscp: 8}}
    - {name: 9, to: a, options: {dscp: 10}}
    - {name: 10, to: b, options: {dscp: 10}}
    - {name: 11, to: b, options: {dscp: 46}, when: {streams: 1, request_rate: 100}}
exclude: [{path: 11}]
tests: {up: {test: tcp, duration: 1s}, rtt: {test: latency, duration: 1s}}
`
