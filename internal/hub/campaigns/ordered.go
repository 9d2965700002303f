package campaigns

import (
	"strings"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
)

// Ordered are the results of trials that campaigns begun since a time have started, and whose results no journal has,
// also of those that are repeated, each with the agents of its client and its server as the plan names them: either
// runs the trial, whichever can open the connection. A hub that starts asks for them: an
// agent may still have one.
func Ordered(in journal.Backend, since time.Time) (map[string][]string, error) {
	ids, err := in.IDs()
	if err != nil {
		return nil, err
	}
	started := map[string][]string{}
	for _, id := range ids {
		if id < since.UTC().Format("20060102-150405") { // with which the identity of a campaign begins
			continue
		}
		var agents map[string]string // by endpoint
		err := in.Read(id, func(r journal.Record) error {
			if r.Plan != nil {
				agents = agentsOf(r.Plan)
			}
			if r.Kind == journal.RecordTrialStarted && r.Trial != nil {
				for _, end := range []string{r.Trial.Client, r.Trial.Server} {
					endpoint, _, _ := strings.Cut(end, ".") // a label may follow
					if agent := agents[endpoint]; agent != "" {
						started[r.ResultID] = append(started[r.ResultID], agent)
					}
				}
			}
			for _, finished := range append(r.Group, r) {
				if finished.Result != nil {
					delete(started, finished.Result.ID)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return started, nil
}

// agentsOf are the agents that the endpoints of a recorded plan name. A plan that this version cannot read has none.
func agentsOf(r *journal.PlanRecord) map[string]string {
	p, err := plan.ParseRecorded(r.File, []byte(r.Text))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, e := range p.Endpoints {
		out[e.Name] = e.Value.Agent
	}
	return out
}
