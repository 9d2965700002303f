// Package fleet tests a hub with its agents: the programs as people run them, on loopback.
package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/hub/campaigns"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/internal/web"
	"soku/test/postgresql"
	"soku/test/tier"
)

// plan measures between the agents a and b: two patterns.
func (s *site) plan(rounds int) string {
	s.t.Helper()
	file := filepath.Join(s.folder, "plan.yaml")
	text := fmt.Sprintf(`campaign: west
from: one
to: two
endpoints: {one: {agent: a}, two: {agent: b}}
factors: {streams: {option: streams, levels: [1, 2]}}
tests: {up: {test: tcp, duration: 300ms}}
rounds: %d
`, rounds)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// results are those of a campaign by pattern and round. Late ones, which another trial has replaced, are counted apart.
func (s *site) results(campaign string) (byTrial map[string]int, late int) {
	s.t.Helper()
	st, err := sqlite.Open(s.t.Context(), filepath.Join(s.folder, "hub", "soku.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Close()
	byTrial = map[string]int{}
	for r, err := range st.Results(s.t.Context(), store.Query{Campaign: campaign}, store.Whole) {
		if err != nil {
			s.t.Fatal(err)
		}
		if len(r.Findings.With("arrived_late")) > 0 {
			late++
			continue
		}
		if r.Error != nil {
			s.t.Errorf("%s: %v", r.ID, r.Error)
		}
		byTrial[fmt.Sprintf("%s, round %d", r.Trial.Pattern, r.Trial.Round)]++
	}
	return byTrial, late
}

func ended(s campaigns.State) bool { return s.EndedAt != nil }

func TestACampaignRunsOnTheAgentsOfAHub(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.join("a", "b")
	var agents []web.Agent
	s.must(&agents, "agents", "zone=west", "--json")
	if len(agents) != 2 || agents[0].Name != "a" || agents[0].State != "connected" || agents[1].Labels["zone"] != "west" {
		t.Errorf("%+v", agents)
	}
	var state campaigns.State
	s.must(&state, "run", s.plan(2), "--json")
	if state.Done != 4 || state.Error != nil || state.EndedAt == nil {
		t.Fatalf("%+v", state)
	}
	byTrial, late := s.results(state.Campaign)
	if len(byTrial) != 4 || late > 0 || s.spooled() > 0 {
		t.Errorf("%v, %d late, %d spooled", byTrial, late, s.spooled())
	}
	report, err := s.ask("report", state.Campaign)
	if err != nil || !strings.Contains(report, "streams") {
		t.Errorf("%v: %s", err, report)
	}
	// A second process of the hub's folder is refused, and the first goes on.
	other := start(t, s.environment(), s.hubExe, "serve", "--listen", s.listen, "--listen-nats", s.nats)
	if code := other.status(); code != 5 || !strings.Contains(other.text(), "another hub runs") {
		t.Errorf("status %d: %s", code, other.text())
	}
	s.must(nil, "backup", filepath.Join(s.folder, "copy.db"))
	var all []store.Campaign
	out, err := s.ask("ls", "--campaigns", "--json", "--store", filepath.Join(s.folder, "copy.db"))
	if err != nil || json.Unmarshal([]byte(out), &all) != nil || len(all) != 1 || all[0].Done != 4 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestACampaignMeasuresBetweenTheAgentsWithALabel(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.join("a", "b")
	file := filepath.Join(s.folder, "plan.yaml")
	write := func(labels string) {
		t.Helper()
		text := "campaign: zones\npairs: {mesh: {agents: " + labels + "}}\ntests: {up: {test: tcp, duration: 300ms}}\nrounds: 1\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("zone=west")
	var planned struct {
		Patterns []struct {
			Name string `json:"name"`
		} `json:"patterns"`
		Estimate struct {
			Trials int `json:"trials"`
		} `json:"estimate"`
		Agents   map[string][]string `json:"agents"`
		Findings []measure.Error     `json:"findings"`
	}
	s.must(&planned, "plan", file, "--json")
	if len(planned.Patterns) != 1 || planned.Estimate.Trials != 2 || !slices.Equal(planned.Agents["zone=west"], []string{"a", "b"}) || len(planned.Findings) > 0 {
		t.Errorf("%+v", planned)
	}
	if out, err := s.ask("plan", file); err != nil || !strings.Contains(out, "agents with zone=west: a, b") || !strings.Contains(out, "each in an order drawn") || strings.Contains(out, "()") {
		t.Errorf("%s, %v", out, err)
	}
	run := start(t, s.environment(), s.hubExe, "run", file)
	if code := run.status(); code != 0 || !strings.Contains(run.text(), "agents with zone=west: a, b") || !strings.Contains(run.text(), "2 of 2 trials") {
		t.Errorf("status %d: %s", code, run.text())
	}
	write("zone=north")
	out, err := s.ask("run", file)
	if err == nil || !strings.Contains(err.Error(), "plan.yaml:2:15: pairs.mesh.1: no agent has zone=north; labels that agents have: zone=west") {
		t.Errorf("%s, %v", out, err)
	}
	out, err = s.ask("plan", file)
	if err == nil || !strings.Contains(err.Error(), "no agent has zone=north") {
		t.Errorf("%s, %v", out, err)
	}
	alone := start(t, s.environment(), s.programs, "plan", file)
	if code := alone.status(); code == 0 || !strings.Contains(alone.text(), "agents: zone=north needs a hub") {
		t.Errorf("without the hub: status %d: %s", code, alone.text())
	}
}

func TestNothingIsLostWhenTheHubOrAnAgentIsKilled(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.join("a", "b")
	var state campaigns.State
	s.must(&state, "run", s.plan(6), "--detach", "--json")
	for i, victim := range []string{"hub", "a", "hub", "b"} {
		s.state(state.Campaign, func(c campaigns.State) bool { return c.Done > 2*i })
		if victim == "hub" {
			s.hub.kill()
			s.startHub()
			continue
		}
		s.agents[victim].kill()
		s.startAgent(victim)
		s.agents[victim].await("connected to")
	}
	got := s.state(state.Campaign, ended)
	for id := range s.agents {
		s.agents[id].await("connected to")
	}
	for began := time.Now(); s.spooled() > 0 && time.Since(began) < time.Minute; {
		time.Sleep(50 * time.Millisecond) // the file of another process goes
	}
	byTrial, late := s.results(state.Campaign)
	if len(byTrial) != 12 || s.spooled() > 0 {
		t.Errorf("%d trials, %d late, %d spooled: %v", len(byTrial), late, s.spooled(), byTrial)
	}
	for trial, n := range byTrial {
		if n != 1 {
			t.Errorf("%s: %d results", trial, n)
		}
	}
	if got.Done != 12 || got.Skipped > 0 {
		t.Errorf("%+v", got)
	}
}

// A hub that is started again takes the trials that went on without it: one that still runs then, and one that has ended.
func TestWhatRanWhileTheHubWasGoneIsNotMeasuredAgain(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.join("a", "b")
	file := filepath.Join(s.folder, "long.yaml")
	text := "campaign: long\nfrom: one\nto: two\nendpoints: {one: {agent: a}, two: {agent: b}}\ntests: {up: {test: tcp, duration: 3s}}\nrounds: 2\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var state campaigns.State
	s.must(&state, "run", file, "--detach", "--json")
	var ran []string
	for i, ends := range []bool{false, true} {
		got := s.state(state.Campaign, func(c campaigns.State) bool { return c.Done == i && len(c.Running) == 1 && c.Running[0].Bps > 0 })
		ran = append(ran, got.Running[0].Result)
		s.hub.kill()
		for began := time.Now(); ends && s.spooled() == 0; {
			if time.Since(began) > time.Minute {
				t.Fatal("the trial has not ended without the hub")
			}
			time.Sleep(50 * time.Millisecond) // the file of another process comes
		}
		s.startHub()
	}
	s.state(state.Campaign, ended)
	byTrial, late := s.results(state.Campaign)
	if len(byTrial) != 2 || late > 0 {
		t.Errorf("%v, %d late", byTrial, late)
	}
	for _, id := range ran {
		if out, err := s.ask("show", id, "--json"); err != nil {
			t.Errorf("%s: %v\n%s", id, err, out)
		}
	}
}

func TestACampaignThatAPersonStopsIsAnErrorAndGoesOnLater(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.join("a", "b")
	run := start(t, s.environment(), s.hubExe, "run", s.plan(3), "--json")
	var all []campaigns.State
	for began := time.Now(); len(all) == 0 || all[0].Done == 0; s.must(&all, "campaigns", "--json") {
		if time.Since(began) > time.Minute {
			t.Fatalf("%+v: %s", all, run.text())
		}
	}
	if out, err := s.ask("campaigns"); err != nil || !strings.Contains(out, all[0].Campaign) || !strings.Contains(out, "running") {
		t.Errorf("%v: %q", err, out)
	}
	s.must(nil, "stop", all[0].Campaign, "--json")
	if code := run.status(); code != 130 || !strings.Contains(run.text(), `"campaign": "`+all[0].Campaign) {
		t.Errorf("status %d: %s", code, run.text())
	}
	var state campaigns.State
	s.must(&state, "run", s.plan(3), "--resume", "--json")
	if state.Campaign != all[0].Campaign || state.Done != 6 || state.Error != nil {
		t.Errorf("%+v", state)
	}
}

// The commands of a plan run on the agent that the plan names and whose owner allows it, and on no other host.
func TestCommandsOfAPlanRunOnTheAgentWhoseOwnerAllowsThem(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.join("a", "b")
	plan := s.plan(1)
	text, err := os.ReadFile(plan)
	if err == nil {
		err = os.WriteFile(plan, append(text, "commands_on: one\nbefore: |\n  echo set up\n  echo \"$SOKU_FACTOR_STREAMS\" >> "+filepath.Join(s.folder, "ran")+"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ask("run", plan, "--json"); err == nil || !strings.Contains(err.Error(), "does not allow commands") {
		t.Error(err)
	}
	s.agents["a"].kill()
	s.startAgent("a", "--allow-commands")
	s.agents["a"].await("connected to")
	var state campaigns.State
	s.must(&state, "run", plan, "--json")
	ran, err := os.ReadFile(filepath.Join(s.folder, "ran"))
	if lines := strings.Fields(string(ran)); err != nil || state.Done != 2 || state.Error != nil || !slices.Equal(slices.Sorted(slices.Values(lines)), []string{"1", "2"}) {
		t.Errorf("%+v, %q, %v", state, ran, err)
	}
}

func TestAnAgentThatIsRevokedIsCutOff(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.join("a")
	began := time.Now()
	s.must(nil, "revoke", "a", "--json")
	if code := s.agents["a"].status(); code != 5 {
		t.Errorf("status %d: %s", code, s.agents["a"].text())
	}
	t.Logf("cut off after %s", time.Since(began))
	s.startAgent("a")
	if code := s.agents["a"].status(); code != 5 {
		t.Errorf("again, status %d: %s", code, s.agents["a"].text())
	}
}

func TestAnAgentThatIsNotAdmittedSaysWhatToDo(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	var token web.Token
	s.must(&token, "join", "--json")
	words := strings.Fields(token.Command)[2:] // --hub URL --pin PIN --join TOKEN
	with := func(place int, word string) []string {
		out := append([]string(nil), words...)
		out[place] = word
		return out
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"pin":   {with(3, strings.Repeat("0", 64)), "another certificate"},
		"token": {with(5, "soku-join-"+strings.Repeat("a", 32)), "token"},
	} {
		s.startAgent(name, c.args...)
		p := s.agents[name]
		if code := p.status(); code != 5 || !strings.Contains(p.text(), c.want) || strings.Contains(p.text(), "goroutine") {
			t.Errorf("%s: status %d: %s", name, code, p.text())
		}
	}
}

func TestAHubThatIsNotThereIsSaidInOneSentence(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.hub.kill()
	out, err := s.ask("agents")
	if err == nil || out != "" || !strings.Contains(err.Error(), "does soku-hub serve run there?") || strings.Count(err.Error(), "\n") > 1 {
		t.Errorf("%s, %v", out, err)
	}
}

func TestAHubKeepsResultsInPostgreSQL(t *testing.T) {
	tier.SpendsSeconds(t)
	address := postgresql.Database(t)
	s := newSite(t, "--store", address)
	s.join("a", "b")
	var state campaigns.State
	s.must(&state, "run", s.plan(1), "--json")
	if state.Done != 2 || state.Error != nil {
		t.Fatalf("%+v", state)
	}
	var all []struct {
		ID   string       `json:"id"`
		Test measure.Test `json:"test"`
	}
	s.must(&all, "ls", "--store", address, "--json")
	if len(all) != 2 {
		t.Errorf("%+v", all)
	}
	s.must(nil, "backup", filepath.Join(s.folder, "copy.db"), "--store", address)
	s.must(&all, "ls", "--store", filepath.Join(s.folder, "copy.db"), "--json")
	if len(all) != 2 {
		t.Errorf("in the backup: %+v", all)
	}
}
