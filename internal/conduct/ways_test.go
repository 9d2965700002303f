package conduct

import (
	"context"
	"slices"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/test/localagents"
)

// leftAgents are agents of which one may have a trial that another hub began.
type leftAgents struct {
	localagents.Agents
	t     *testing.T
	has   string
	asked *[]string // clients of the trials
}

type leftPlace struct {
	of     leftAgents
	client string
	former bool
}

func (a leftAgents) Place(client, _ string, _ time.Duration, former bool) agent.Place {
	return leftPlace{a, client, former}
}

// Serve fails: a former trial has its server, and a probe may disturb it.
func (a leftAgents) Serve(context.Context, string, endpoint.Server) (at endpoint.Listening, end func(), err error) {
	a.t.Error("a server was begun")
	return at, func() {}, nil
}

func (p leftPlace) Run(_ context.Context, s agent.Spec, _ agent.Hooks) *measure.Result {
	*p.of.asked = append(*p.of.asked, p.client)
	if !p.former {
		p.of.t.Error("a trial was begun")
	}
	if p.client != p.of.has {
		return s.NotRun(time.Now(), s.Dropped())
	}
	r := s.NotRun(time.Now(), measure.Fail(measure.KindInternal, "hub.defect", nil))
	r.Error = nil
	return r
}

func TestATrialThatAFormerHubBeganIsAwaitedWhereItRuns(t *testing.T) {
	target := func(name string) plan.Target {
		return plan.Target{Agent: name, Endpoint: measure.Endpoint{Name: name}}
	}
	for name, c := range map[string]struct {
		direction measure.Direction
		has       string
		asked     []string
		reversed  bool
		lost      string // the host of which the failure speaks; empty: it is not lost
	}{
		"at its client":                      {measure.Forward, "a", []string{"a"}, false, ""},
		"at its server":                      {measure.Forward, "b", []string{"a", "b"}, true, ""},
		"nowhere":                            {measure.Forward, "", []string{"a", "b"}, false, "a"},
		"one that cannot have been reversed": {measure.Bidirectional, "b", []string{"a"}, false, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			all := agents{leftAgents{t: t, has: c.has, asked: &asked}, &plan.Plan{}, time.Now, time.Minute, &ways{}}
			o := option.Defaults(measure.TestTCP)
			o.Direction = c.direction
			j := schedule.Job{Test: measure.TestTCP, Result: "r1", Former: true, Client: target("a"), Server: target("b"), Options: o}
			r := all.place(j, nil).Run(t.Context(), agent.Spec{Result: "r1", Test: j.Test, Options: j.Options, Client: j.Client.Endpoint, Server: j.Server.Endpoint}, agent.Hooks{})
			if !slices.Equal(asked, c.asked) || agent.Lost(r.Error) != (c.lost != "") || c.lost != "" && r.Error.Figures["host"] != c.lost || (len(r.Findings.With(finding.ConnectionReversed)) > 0) != c.reversed {
				t.Errorf("asked %q, %v, %v", asked, r.Error, r.Findings)
			}
		})
	}
}
