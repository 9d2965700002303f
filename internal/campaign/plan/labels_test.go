package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
)

const labelledPlan = `campaign: zones
groups:
  west: {agents: "zone=west, os=linux"}
  east: [{agents: zone=east}, gw]
endpoints: {gw: {agent: gw1, address: 10.0.0.9}}
pairs: {between: [[west], [east]]}
tests: {up: {test: tcp}}
`

// agents are those of a hub by label.
func agents(_, labels string) ([]plan.LabelledAgent, error) {
	found := map[string][]plan.LabelledAgent{
		"zone=west,os=linux": {{Name: "vm1", ID: "UAAAAAAAAAAA1"}, {Name: "a.b c", ID: "UBBBBBBBBBBB1"}, {Name: "vm1", ID: "UCCCCCCCCCCC1"}},
		"zone=east":          {{Name: "vm1", ID: "UAAAAAAAAAAA1"}, {Name: "gw1", ID: "UDDDDDDDDDDD1"}, {Name: "..", ID: "UEEEEEEEEEEE1"}},
	}[labels]
	if found == nil {
		return nil, errors.New("no agent has " + labels)
	}
	return found, nil
}

func TestAgentsThatAPlanNamesByLabelsAreWrittenIntoIt(t *testing.T) {
	for name, text := range map[string]string{
		"block": labelledPlan, "block with a comment before": "# zones\n---\n" + labelledPlan,
		"indented": "  " + strings.ReplaceAll(strings.TrimSpace(labelledPlan), "\n", "\n  "), "with CRLF": strings.ReplaceAll(labelledPlan, "\n", "\r\n"),
		"in braces": `{campaign: zones, groups: {west: {agents: "zone=west,os=linux"}, east: [{agents: zone=east}, gw]}, endpoints: {gw: {agent: gw1, address: 10.0.0.9}}, pairs: {between: [[west], [east]]}, tests: {up: {test: tcp}}}`,
	} {
		bound, err := plan.BindLabels("plan.yaml", []byte(text), agents)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err := plan.ParseRecorded("plan.yaml", bound)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, bound)
		}
		pt := p.AllPatterns()[0]
		clients, servers := p.Ends(&pt, 100)
		var got []string
		for i := range clients {
			got = append(got, clients[i].Reference()+"="+clients[i].Agent+" to "+servers[i].Reference())
		}
		want := []string{
			"vm1=UAAAAAAAAAAA1 to gw", "vm1=UAAAAAAAAAAA1 to agent-ueeeeeeeeeee1",
			"a-b-c=UBBBBBBBBBBB1 to vm1", "a-b-c=UBBBBBBBBBBB1 to gw", "a-b-c=UBBBBBBBBBBB1 to agent-ueeeeeeeeeee1",
			"vm1-uccccccccccc=UCCCCCCCCCCC1 to vm1", "vm1-uccccccccccc=UCCCCCCCCCCC1 to gw", "vm1-uccccccccccc=UCCCCCCCCCCC1 to agent-ueeeeeeeeeee1",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\n%s", name, strings.Join(got, "\n"), bound)
		}
		if servers[0].Endpoint.Address != "10.0.0.9" {
			t.Errorf("%s: the endpoint of the plan is another: %+v", name, servers[0])
		}
		again, err := plan.BindLabels("plan.yaml", bound, func(_, labels string) ([]plan.LabelledAgent, error) {
			t.Errorf("%s: %s is asked for again", name, labels)
			return nil, nil
		})
		if err != nil || string(again) != string(bound) {
			t.Errorf("%s: %v\n%s", name, err, again)
		}
	}
}

func TestAPlanWithoutLabelsStaysAsItIs(t *testing.T) {
	text := []byte("campaign: a\ngroups: {g: [x, y]}\npairs: {mesh: [g]}\nendpoints: {x: {agent: x}, y: {agent: y}}\ntests: {up: {test: tcp}}\n")
	bound, err := plan.BindLabels("plan.yaml", text, nil)
	if err != nil || string(bound) != string(text) {
		t.Errorf("%v\n%s", err, bound)
	}
}

func TestLabelsAreInEveryListOfPairs(t *testing.T) {
	const rest = "\nendpoints: {gw: {agent: gw1}}\ntests: {up: {test: tcp}}\n"
	for pairs, want := range map[string]int{
		`{mesh: {agents: "zone=west,os=linux"}}`:                                          6,
		`{mesh: [{agents: "zone=west,os=linux"}, gw]}`:                                    12,
		`{between: [{agents: "zone=west,os=linux"}, [gw]], both: true}`:                   6,
		`{list: [[{agents: "zone=west,os=linux"}, gw]]}`:                                  3,
		`{mesh: ["*"], exclude: [[gw, {agents: "zone=west,os=linux"}]]}`:                  9,
		`{mesh: [{agents: "zone=west,os=linux"}], exclude: [[{agents: zone=east}, "*"]]}`: 4,
	} {
		bound, err := plan.BindLabels("plan.yaml", []byte("campaign: a\npairs: "+pairs+rest), agents)
		if err != nil {
			t.Errorf("%s: %v", pairs, err)
			continue
		}
		p, err := plan.Parse("plan.yaml", bound)
		if err != nil || p.PairCount() != want {
			t.Errorf("%s: %v, %d pairs\n%s", pairs, err, p.PairCount(), bound)
		}
	}
}

func TestMistakesInLabelsAreSaidWithTheirPlace(t *testing.T) {
	const head = "campaign: a\npairs: {mesh: ["
	for text, want := range map[string]string{
		"{agents: west}":       `plan.yaml:2:16: pairs.mesh.1: agents: "west" is no condition`,
		`{agents: "=west"}`:    "is no condition",
		"{agents: zone=north}": "plan.yaml:2:16: pairs.mesh.1: no agent has zone=north",
		"{agent: zone=west}":   `unknown key "agent"`,
	} {
		_, err := plan.BindLabels("plan.yaml", []byte(head+text+"]}\ntests: {up: {test: tcp}}\n"), agents)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := plan.Parse("plan.yaml", []byte(labelledPlan)); err == nil || !strings.Contains(err.Error(), "agents: zone=west,os=linux needs a hub, which knows the labels of its agents") {
		t.Error(err)
	}
	bound, err := plan.BindLabels("plan.yaml", []byte(labelledPlan), agents)
	if err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(string(bound), "[west], [east]", "[west], {agents: zone=north}", 1)
	if _, err := plan.BindLabels("plan.yaml", []byte(more), func(string, string) ([]plan.LabelledAgent, error) { return nil, nil }); err == nil || !strings.Contains(err.Error(), "leave agents_by_label out") && !strings.Contains(err.Error(), "has the key agents_by_label already") {
		t.Error(err)
	}
}
