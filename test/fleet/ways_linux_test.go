package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/hub/campaigns"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/internal/web"
	"soku/test/tier"
)

// oneWay is a network in which no host can connect to b and c, and a sends 40 Mbit/s and receives 10.
const oneWay = `lab: fleetways
hosts:
  hub:
  a:
  b: {firewall: {block: [tcp/7658]}}
  c: {firewall: {block: [tcp/7658]}}
routers: {net: }
links:
  - {from: hub, to: net}
  - {from: a, to: net, rate: 40M, reverse: {rate: 10M}}
  - {from: b, to: net}
  - {from: c, to: net}
`

func TestTheEndThatCanConnectDoesAndTheBytesGoAsPlanned(t *testing.T) {
	tier.SpendsSeconds(t)
	tier.NeedsRoot(t, "network namespaces")
	s := newSiteIn(t, labOf(t, "lab.yaml", oneWay))
	s.join("a", "b", "c")
	file := filepath.Join(s.folder, "plan.yaml")
	text := `campaign: ways
endpoints: {a: {agent: a}, b: {agent: b}, c: {agent: c}}
pairs: {list: [[a, b], [b, a], [b, c]]}
tests: {up: {test: tcp, duration: 2s}, rtt: {test: latency, count: 5}, conn: {test: connect, duration: 1s}}
rounds: 1
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := startCommand(t, s.environment(), s.command(t.Context(), "hub", s.hubExe, "run", file))
	if code := run.status(); code == 0 || !strings.Contains(run.text(), "b → c: neither opens a connection to the other") ||
		!strings.Contains(run.text(), "a → b: only b can open the connection, and then test connect does not measure this way") {
		t.Errorf("status %d: %s", code, run.text())
	}
	var all []campaigns.State
	s.must(&all, "campaigns", "--json")
	if len(all) != 1 || all[0].Done != 6 || all[0].Failed != 1 || all[0].Skipped != 3 {
		t.Fatalf("%+v", all)
	}
	st, err := sqlite.Open(t.Context(), filepath.Join(s.folder, "hub", "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	got := map[string]bool{}
	for r, err := range st.Results(t.Context(), store.Query{}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Test == measure.TestConnect && r.Trial.Pair.Client.Name == "a" {
			if r.Error == nil || r.Error.Code != "campaign.one_way" {
				t.Errorf("connections from a to b: %v", r.Error)
			}
			continue
		}
		pair, connected, rate := r.Trial.Pair.Client.Name+" to "+r.Trial.Pair.Server.Name, r.Path.Client.Name, r.Summary.GoodputBps/1e6
		got[pair+" "+string(r.Test)] = true
		reversed := len(r.Findings.With("connection_reversed")) == 1
		if connected != "b" || reversed != (pair == "a to b") || r.Error != nil {
			t.Errorf("%s of %s: %s opened the connection, finding %v, %v", r.Test, pair, connected, reversed, r.Error)
		}
		if r.Test != measure.TestTCP {
			continue
		}
		low, high, direction := 7.0, 10.0, measure.Forward
		if pair == "a to b" {
			low, high, direction = 33, 40, measure.Reverse
		}
		if rate < low || rate > high || r.Path.Direction != direction {
			t.Errorf("%s: %.2f Mbit/s %s", pair, rate, r.Path.Direction)
		}
	}
	if len(got) != 5 {
		t.Errorf("%v", got)
	}
}

// One pair that cannot be opened either way does not keep the others from their measurement.
func TestAGroupStartsWithoutThePairThatNobodyCanOpen(t *testing.T) {
	tier.SpendsSeconds(t)
	tier.NeedsRoot(t, "network namespaces")
	s := newSiteIn(t, labOf(t, "lab.yaml", oneWay))
	s.join("a", "b", "c")
	file := filepath.Join(s.folder, "plan.yaml")
	text := `campaign: together
endpoints: {a: {agent: a}, b: {agent: b}, c: {agent: c}}
pairs: {list: [[a, b], [b, c], [c, a]]}
tests: {up: {test: tcp, duration: 1s}}
contention: together
rounds: 2
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := startCommand(t, s.environment(), s.command(t.Context(), "hub", s.hubExe, "run", file))
	if code := run.status(); code == 0 || !strings.Contains(run.text(), "b → c: neither opens a connection to the other") {
		t.Errorf("status %d: %s", code, run.text())
	}
	var all []campaigns.State
	s.must(&all, "campaigns", "--json")
	if len(all) != 1 || all[0].Done != 4 || all[0].Failed != 0 || all[0].Skipped != 2 {
		t.Fatalf("%+v", all)
	}
	st, err := sqlite.Open(t.Context(), filepath.Join(s.folder, "hub", "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for r, err := range st.Results(t.Context(), store.Query{}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		if g := r.Trial.Group; r.Error != nil || g == nil || g.Trials != 2 || g.StartSkewNs == nil {
			t.Errorf("%s to %s: %v, group %+v", r.Trial.Pair.Client.Name, r.Trial.Pair.Server.Name, r.Error, g)
		}
	}
}

// An address that its owner announces may lead nowhere for some of the others.
func TestAnotherAddressIsUsedWhereTheFirstDoesNotAnswer(t *testing.T) {
	tier.SpendsSeconds(t)
	tier.NeedsRoot(t, "network namespaces")
	s := newSiteIn(t, labOf(t, "lab.yaml", oneWay))
	s.join("b")
	var token web.Token
	s.must(&token, "join", "--json")
	s.startAgent("a", append(strings.Fields(token.Command)[2:], "--address", "public=192.0.2.9")...)
	s.agents["a"].await("connected to")
	for name, c := range map[string]struct {
		endpoint string
		runs     bool
	}{"open": {"{agent: a}", true}, "named": {"{agent: a, address: 192.0.2.9}", false}} {
		file := filepath.Join(s.folder, name+".yaml")
		// No host can open a connection to b.
		text := "campaign: " + name + "\nfrom: b\nto: a\nendpoints: {a: " + c.endpoint + ", b: {agent: b}}\ntests: {up: {test: tcp, duration: 1s}}\nrounds: 1\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run := startCommand(t, s.environment(), s.command(t.Context(), "hub", s.hubExe, "run", file))
		if code := run.status(); (code == 0) != c.runs || strings.Contains(run.text(), "another address is used: b → a uses") != c.runs {
			t.Errorf("%s: status %d: %s", name, code, run.text())
		}
	}
	st, err := sqlite.Open(t.Context(), filepath.Join(s.folder, "hub", "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	results := 0
	for r, err := range st.Results(t.Context(), store.Query{}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		results++
		if found := r.Findings.With("other_address"); r.Error != nil || len(found) != 1 || found[0].Figures["first"] != "192.0.2.9" || found[0].Figures["address"] != r.Path.Server.Address {
			t.Errorf("%v, %v, reached %+v", r.Error, r.Findings, r.Path.Server)
		}
	}
	if results != 1 {
		t.Errorf("%d results", results)
	}
}
