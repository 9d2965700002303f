package web_test

import (
	"html"
	"regexp"
	"testing"

	"soku/internal/hub"
	"soku/internal/hub/users"
	"soku/test/tier"
)

var planField = regexp.MustCompile(`(?s)<textarea id="plan"[^>]*>\n(.*?)</textarea>`)

// The form has a plan that can be started as it is, whatever agents call themselves.
func TestAPlanIsReadyToStartWhereTwoAgentsAreConnected(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	o := s.as(t, "o", users.Operator)
	example := func(all ...hub.Agent) string {
		s.agents.all = all
		found := planField.FindStringSubmatch(o.get("/").body)
		if found == nil {
			t.Fatal("the page has no form")
		}
		return html.UnescapeString(found[1])
	}
	agent := func(id, name string, state hub.State) hub.Agent { return hub.Agent{ID: id, Name: name, State: state} }
	if got := example(agent("UA", "a", hub.Connected), agent("UB", "b", hub.Away)); got != "" {
		t.Errorf("one agent is connected, and the plan is\n%s", got)
	}
	if got := example(agent("UA", "a", hub.Connected), agent("UB", "a", hub.Connected), agent("UC", "c", hub.Connected)); got != "" {
		t.Errorf("two agents have one name, and the plan is\n%s", got)
	}
	for _, name := range []string{"vm1", `<b>"a": {b}` + "\u202e", "# [x"} {
		got := example(agent("UA", name, hub.Connected), agent("UB", "vm2", hub.Away), agent("UC", "vm3", hub.Connected))
		o.submit("check", got).has(t, 200, "12", "vm3")
	}
}
