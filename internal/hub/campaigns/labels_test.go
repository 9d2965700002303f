package campaigns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/internal/hub/campaigns"
)

// labelled measures from the agents of a zone to a server.
func (f *fixture) byLabel() []byte {
	return fmt.Appendf(nil, "campaign: c\ngroups: {west: {agents: zone=west}}\npairs: {between: [[west], [server]]}\nendpoints: {server: {address: 127.0.0.1, port: %d}}\n"+
		"tests: {up: {test: tcp, duration: 100ms}}\nrounds: 1\ntrials_at_once: 1\n", f.port)
}

func TestLabelsMeanTheAgentsOfTheStartAlsoWhenTheCampaignGoesOn(t *testing.T) {
	f, pass := newFixture(t), make(chan struct{})
	f.labelled = map[string][]plan.LabelledAgent{"zone=west": {{Name: "vm1", ID: "UAAA"}, {Name: "vm2", ID: "UBBB"}}}
	c := f.hub(t, pass)
	r, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.byLabel()})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.State(); s.Total != 2 || !slices.Equal(s.Agents["zone=west"], []string{"vm1", "vm2"}) {
		t.Errorf("%+v", s)
	}
	pass <- struct{}{}
	until(t, r, func(s campaigns.State) bool { return s.Done == 1 })
	if err := c.Stop(r.State().Campaign, "mika"); err != nil {
		t.Fatal(err)
	}
	until(t, r, ended)
	close(pass)
	f.labelled = map[string][]plan.LabelledAgent{"zone=west": {{Name: "vm3", ID: "UCCC"}}}
	again, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.byLabel(), Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	s := until(t, again, ended)
	if s.Campaign != r.State().Campaign || s.Done != 2 || s.Error != nil || !slices.Equal(s.Agents["zone=west"], []string{"vm1", "vm2"}) {
		t.Errorf("%+v", s)
	}
	fresh, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.byLabel()})
	if err != nil {
		t.Fatal(err)
	}
	if s := until(t, fresh, ended); s.Total != 1 || !slices.Equal(s.Agents["zone=west"], []string{"vm3"}) {
		t.Errorf("another campaign: %+v", s)
	}
	f.labelled = nil
	if _, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.byLabel()}); err == nil || !strings.Contains(err.Error(), "groups.west.1") {
		t.Error(err)
	}
}
