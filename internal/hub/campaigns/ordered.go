package campaigns

import (
	"strings"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
)

// Former is the result of a trial that a campaign has started, and that no journal has.
type Former struct {
	Agents   []string // of the trial's client and server, as the plan names them: either runs it, whichever can open the connection
	Campaign string
	Left     bool // the trial has no end: the campaign takes it over when it goes on
}

// Ordered are the results of trials that campaigns begun since a time have started, and whose results no journal has, also of
// those that are repeated. A hub that starts asks for them: an agent may still have one.
func Ordered(in journal.Backend, since time.Time) (map[string]Former, error) {
	ids, err := in.IDs()
	if err != nil {
		return nil, err
	}
	started := map[string]Former{}
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
				former := Former{Campaign: id, Left: true}
				for _, end := range []string{r.Trial.Client, r.Trial.Server} {
					endpoint, _, _ := strings.Cut(end, ".") // a label may follow
					if agent := agents[endpoint]; agent != "" {
						former.Agents = append(former.Agents, agent)
					}
				}
				if len(former.Agents) > 0 {
					started[r.ResultID] = former
				}
			}
			if former, known := started[r.ResultID]; known && r.Kind == journal.RecordTrialDropped {
				former.Left = false
				started[r.ResultID] = former
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

// Claims reports whether the campaign of a result is going to take it over, or may: it has not ended.
func (c *Campaigns) Claims(f Former) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, settled := c.settled[f.Campaign]
	return f.Left && !settled
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
