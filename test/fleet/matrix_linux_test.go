package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"soku/internal/hub/campaigns"
	"soku/internal/lab"
	"soku/internal/report"
	"soku/internal/stats"
	"soku/test/tier"
)

// The study interface-matrix on an emulated network whose hosts are agents of a hub. SOKU_SCALE runs all of it: 18 hosts.
func TestTheInterfaceMatrixIsMeasuredByAHub(t *testing.T) {
	tier.SpendsSeconds(t)
	tier.NeedsRoot(t, "an emulated network")
	left := regexp.MustCompile(`^$`) // lines of the study that are left out
	rounds, whole := "6", os.Getenv("SOKU_SCALE") != ""
	if !whole {
		left, rounds = regexp.MustCompile(`\b(16|32|64|96|128|256|512)gb-|name: VPC|label: vpc|^  ping:`), "3"
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "cases", "interface-matrix", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(line string) bool { return left.MatchString(strings.TrimSuffix(line, "\n")) && line != "\n" })
		return strings.Join(lines, "")
	}
	plan := read("plan.yaml")
	endpoint := regexp.MustCompile(`\{host: ([a-z0-9-]+)`)
	var names []string
	for _, m := range endpoint.FindAllStringSubmatch(plan, -1) {
		names = append(names, m[1])
	}
	l := matrixLab(t, read("topology.yaml"), names)
	plan = endpoint.ReplaceAllStringFunc(plan, func(text string) string {
		name := endpoint.FindStringSubmatch(text)[1]
		var addresses []string
		for _, a := range l.Topology.Addresses(name) {
			if a.Label == "public" || a.Label == "vlan" || a.Label == "vpc" {
				addresses = append(addresses, fmt.Sprintf("%s: %s", a.Label, a.Addr))
			}
		}
		return fmt.Sprintf("{agent: %s, addresses: {%s}", name, strings.Join(addresses, ", "))
	})
	plan = strings.NewReplacer("lab: topology.yaml\n", "", "rounds: 6", "rounds: "+rounds).Replace(plan)
	s := newSiteIn(t, l)
	s.join(names...)
	file := filepath.Join(s.folder, "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	var state campaigns.State
	s.must(&state, "run", file, "--json")
	if state.Error != nil || state.Failed > 0 {
		t.Errorf("%+v", state)
	}
	var doc report.Report
	s.must(&doc, "report", state.Campaign, "--format", "json")
	checkMatrix(t, &doc, whole)
}

// matrixLab has the network of the study, and a hub that all hosts reach.
func matrixLab(t *testing.T, text string, names []string) *lab.Lab {
	t.Helper()
	text = strings.ReplaceAll(text, " {server: true}", "")
	text = strings.Replace(text, "hosts:\n", "hosts:\n  hub:\n", 1)
	text = strings.Replace(text, "links:\n", "routers:\n  net:\nlinks:\n", 1)
	text = strings.Replace(text, "lab: interface-matrix", "lab: hub-matrix", 1)
	for _, name := range append([]string{"hub"}, names...) {
		text += fmt.Sprintf("  - {from: %s, to: net}\n", name)
	}
	return labOf(t, "topology.yaml", text)
}

// checkMatrix compares a report with what docs/samples concludes from the same network. On a busy machine a few rounds may
// not be enough to show that the interfaces are alike, but must not show that they differ.
func checkMatrix(t *testing.T, doc *report.Report, whole bool) {
	t.Helper()
	at := slices.IndexFunc(doc.Tests, func(test report.Test) bool { return test.Label == "throughput" })
	if at < 0 {
		t.Fatalf("%d tests", len(doc.Tests))
	}
	decided := map[string]int{}
	for _, e := range doc.Tests[at].Effects {
		if e.Ratio == nil {
			t.Errorf("no ratio of %s: %s and %s", e.Factor, e.A, e.B)
			continue
		}
		decided[e.Factor]++
		t.Logf("%s: %s and %s: %.4f (%.4f to %.4f), %s", e.Factor, e.A, e.B, *e.Ratio, known(e.Low), known(e.High), e.Decision)
		if same := e.Decision == stats.Same || !whole && e.Decision == stats.NotShown; e.Factor != "pair" && !same {
			t.Errorf("%s: %s and %s are %s", e.Factor, e.A, e.B, e.Decision)
		}
		if e.Factor == "pair" && *e.Ratio > 0.97 && *e.Ratio < 1.03 {
			t.Errorf("pairs of different limits, %s and %s, have the same goodput", e.A, e.B)
		}
	}
	if decided["interface"] == 0 || decided["contention"] == 0 || decided["pair"] == 0 {
		t.Errorf("effects %v", doc.Tests[at].Effects)
	}
	pairs := doc.Tests[at].Pairs
	if pairs == nil || pairs.Contention == nil || pairs.Start == nil || pairs.Start.Groups == 0 {
		t.Fatalf("pairs %+v", pairs)
	}
	text, _ := json.Marshal(pairs.Contention)
	t.Logf("contention: %.300s; start skew %+v", text, *pairs.Start)
}

// known is a figure, or not a number.
func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
