package hub

import (
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// mostFindings bounds what is found about a plan.
const mostFindings = 50

// Check returns what keeps trials of a plan from running as its agents are now: those that are not known or away, and clients whose owners
// do not allow a test. Each is said once. Of more than 50 findings the others are left out.
func (c Campaigns) Check(p *plan.Plan) (findings []*measure.Error) {
	seen := map[string]bool{}
	add := func(e *measure.Error) {
		if !seen[e.Message] && len(findings) < mostFindings {
			seen[e.Message] = true
			findings = append(findings, e)
		}
	}
	find := func(t plan.Target) *Agent {
		if t.Agent == "" {
			return nil
		}
		a, err := c.hub.Agents.Find(t.Agent)
		switch {
		case err != nil:
			add(measure.AsError(err, measure.KindNotFound))
			return nil
		case a.State != Connected:
			add(measure.Fail(measure.KindUnreachable, "hub.plan.agent_away", measure.Figures{"agent": a.Name, "state": string(a.State)}))
		}
		return &a
	}
	patterns := p.AllPatterns()
	for i := range patterns {
		for _, server := range p.Servers(&patterns[i]) {
			find(server)
		}
		for _, client := range p.Clients(&patterns[i]) {
			a := find(client)
			if a == nil {
				continue
			}
			for _, t := range patterns[i].Tests {
				o, err := option.Effective(t.Options, t.Test)
				if err == nil {
					err = a.Hello.Policy.Check(t.Test, o)
				}
				if err != nil && a.Hello.Version > 0 {
					add(measure.Fail(measure.KindRefused, "hub.plan.not_allowed", measure.Figures{"agent": a.Name, "label": t.Label, "cause": err}))
				}
			}
		}
	}
	return findings
}
