package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"soku/internal/campaign/advice"
	"soku/internal/conduct"
	"soku/internal/text"
)

const designPlan = `campaign: gateways
endpoints: {a: {address: 10.0.0.1}}
to: a
factors: {streams: [1, 4], congestion: [cubic, bbr]}
tests: {throughput: {test: tcp}}
rounds: 12
`

func planDesign(t *testing.T, text string, args ...string) (out designOutline, said string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	form := func(more ...string) string {
		printed, errs, code := soku(t, append(append([]string{"plan", file}, args...), more...)...)
		if code != 0 {
			t.Fatalf("plan: %d %s", code, errs)
		}
		return printed
	}
	var doc struct{ Design designOutline }
	if err := json.Unmarshal([]byte(form("--json")), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Design, strings.Join(strings.Fields(form()), " ")
}

func TestPlanShowsTheSmallestDifferenceWithTheNoiseThatIsGiven(t *testing.T) {
	got, said := planDesign(t, designPlan+"noise: 2%\npractical: 1%\n")
	if len(got.Tests) != 1 || got.Tests[0].Noise != 0.02 || got.Tests[0].Smallest == nil || got.Practical != 0.01 {
		t.Fatalf("%+v", got)
	}
	want := fmt.Sprintf("throughput: a difference of %.3g %% between two of 4 patterns; on average between two levels of streams", *got.Tests[0].Smallest*100)
	for _, want := range []string{want, "in 12 rounds with noise of 2 %)", fmt.Sprintf("%d rounds would show 1 %%", got.Tests[0].Needed)} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
}

func TestServersOnOneHostWithoutPortsOfTheirOwnAreAWarning(t *testing.T) {
	const plan = `campaign: disks
endpoints: {hdd: {ssh: vm2, copy_root: /hdd%s}, ssd: {ssh: vm2, copy_root: /ssd%s}, other: {ssh: vm3}}
factors: {disk: [{name: a, to: hdd}, {name: b, to: ssd}, {name: c, to: other}]}
tests: {up: {test: tcp, duration: 1s}}
`
	for ports, want := range map[[2]string]string{
		{}:                               "hdd and ssd are one host by ssh with one port: one server has a random port, which a firewall may block",
		{", port: 9000", ", port: 9000"}: "hdd and ssd are one host by ssh with one port: port 9000 can have one server only",
		{", port: 9000", ""}:             "",
	} {
		got, said := planDesign(t, fmt.Sprintf(plan, ports[0], ports[1]))
		warned := slices.ContainsFunc(got.Weak, func(w advice.DesignWarning) bool { return w.Code == advice.WarnSharedPort })
		if warned != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%q: %+v\n%s", ports, got.Weak, said)
		}
	}
}

func TestAHostWithARandomPortIsAWarning(t *testing.T) {
	var b strings.Builder
	p := &progress{w: &b, catalogue: text.English()}
	p.Begun(conduct.Beginning{Step: conduct.StepHost, Host: conduct.Prepared{Name: "vm2", Port: 40123, PortTaken: 7658}})
	if want := "warning: port 7658 of vm2 is taken: its server listens on the random port 40123, which a firewall may block"; !strings.Contains(b.String(), want) {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	p.Begun(conduct.Beginning{Step: conduct.StepHost, Host: conduct.Prepared{Name: "vm2", Port: 7658}})
	if strings.Contains(b.String(), "warning") {
		t.Errorf("%s", b.String())
	}
}

// earlierCampaign is a store with a campaign gateways, whose rows are streams, round and Mbit/s.
func earlierCampaign(t *testing.T, rows string) (store string) {
	t.Helper()
	dir := t.TempDir()
	store, table, mapping := filepath.Join(dir, "soku.db"), filepath.Join(dir, "t.csv"), filepath.Join(dir, "m.yaml")
	for file, text := range map[string]string{table: "streams,round,mbps\n" + rows, mapping: `campaign: gateways
factors: {streams: {column: streams}}
round: {column: round}
results: [{label: throughput, test: tcp, figures: {goodput: {column: mbps, unit: Mbit/s}}}]
`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, code := soku(t, "ingest", "--store", store, "--map", mapping, table); code != 0 {
		t.Fatal(errs)
	}
	return store
}

// The noise of an earlier campaign is the variation of its patterns without what all have in common.
func TestPlanTakesTheNoiseOfTheNewestCampaignOfItsName(t *testing.T) {
	var rows strings.Builder
	for round := 1; round <= 8; round++ {
		drift := 1 + 0.3*float64(round%3) // of all patterns
		for i, streams := range []int{1, 4} {
			own := 1 + 0.02*float64(1-2*(round%2))*float64(1-2*i)
			fmt.Fprintf(&rows, "%d,%d,%f\n", streams, round, 1000*float64(streams)*drift*own)
		}
	}
	if got, said := planDesign(t, designPlan, "--store", filepath.Join(t.TempDir(), "soku.db")); len(got.Tests) != 0 || !strings.Contains(said, "unknown without the noise") {
		t.Errorf("without an earlier campaign: %+v %s", got, said)
	}
	store := earlierCampaign(t, rows.String())
	got, said := planDesign(t, designPlan, "--store", store)
	if len(got.Tests) != 1 || got.Tests[0].Noise < 0.019 || got.Tests[0].Noise > 0.031 || !strings.Contains(got.NoiseOf, "gateways") {
		t.Fatalf("%+v, want a noise of 2 to 3 %% from the earlier campaign", got)
	}
	if !strings.Contains(said, "as in "+got.NoiseOf) {
		t.Errorf("%s does not name the campaign", said)
	}
	if got, _ := planDesign(t, designPlan+"noise: 5%\n", "--store", store); got.NoiseOf != "" || got.Tests[0].Noise != 0.05 {
		t.Errorf("%+v, want the noise of the plan", got)
	}
}

func TestTheNoiseOfAStoreIsTheSameEachTime(t *testing.T) {
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "%d,%d,%d\n", i%10+1, i/10+1, 900+i*i%71)
	}
	store := earlierCampaign(t, rows.String())
	first, _ := planDesign(t, designPlan, "--store", store)
	for range 10 {
		if again, _ := planDesign(t, designPlan, "--store", store); again.Tests[0].Noise != first.Tests[0].Noise {
			t.Errorf("the noise is %v, and was %v", again.Tests[0].Noise, first.Tests[0].Noise)
		}
	}
}
