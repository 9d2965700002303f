package campaign_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/campaign/journal"
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

const minimal = `campaign: one
endpoints: {vm: {address: 10.0.0.4}}
to: vm
tests: {throughput: {test: tcp, duration: 10s}}
`

func patternNames(p *plan.Plan) string {
	var names []string
	for _, pt := range p.AllPatterns() {
		names = append(names, pt.Name)
	}
	return strings.Join(names, "; ")
}

// bound are siblings whose servers go with a client.
var bound = strings.NewReplacer("to: t2", "to: t2, when: {client: tokyo}", "to: o2", "to: o2, when: {client: osaka}").Replace(siblings)

// siblings is a plan of three factors, to which tests add keys.
const siblings = `campaign: study
endpoints: {t1: {address: 10.0.0.1}, t2: {address: 10.0.0.2}, o1: {address: 10.0.0.3}, o2: {address: 10.0.0.4}}
factors:
  client: [{name: tokyo, from: t1}, {name: osaka, from: o1}]
  streams: [1, 16]
  server: [{name: T, to: t2}, {name: O, to: o2}]
tests: {up: {test: tcp}}
`

// manyHosts is a plan of n endpoints, without ends.
func manyHosts(n int) string {
	var b strings.Builder
	b.WriteString("campaign: many\ntests: {up: {test: tcp, duration: 1s}}\nendpoints:\n")
	for i := range n {
		fmt.Fprintf(&b, "  h%d: {address: h%d, command: [ssh, h%d, soku]}\n", i, i, i)
	}
	return b.String()
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

func identity(k plan.TrialKey) string { return fmt.Sprint(k, k.Client, k.Server) }

var update = flag.Bool("update", false, "write the generated files anew")

// places are what keeps journals; each has to do all that [journal.Backend] says.
func places(t *testing.T) map[string]journal.Backend {
	return map[string]journal.Backend{
		"folder": journal.Folder(filepath.Join(t.TempDir(), "campaigns")),
		"memory": new(journal.Memory),
	}
}
