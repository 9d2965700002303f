package agent_test

import (
	"context"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
)

// places are those of this machine, and a process whose clock is not known.
func places() map[string]agent.Place {
	same, unknown := child(measures), child(measures)
	same.Clock = agent.SameClock
	return map[string]agent.Place{"a process": same, "a process that may be anywhere": unknown, "this process": agent.Local{Version: "test"}}
}

func TestATrialStartsAtTheAgreedInstant(t *testing.T) {
	s := aSpec()
	s.Host, s.Access = startServer(t), agent.Access{}
	s.Options.Duration = measure.Duration(100 * time.Millisecond)
	for name, place := range places() {
		var instant, started time.Time
		var within time.Duration
		r := place.Run(t.Context(), s, agent.Hooks{
			Ready: func(_ context.Context, lead time.Duration) (time.Time, error) {
				instant = time.Now().Add(max(lead, 100*time.Millisecond))
				return instant, nil
			},
			Started: func(at time.Time, uncertainty time.Duration) { started, within = at, uncertainty },
		})
		ended := time.Now()
		if r.Error != nil || r.Hosts.Client == nil {
			t.Errorf("%s: %v", name, r.Error)
			continue
		}
		if started.Add(within).Before(instant.Round(0)) || started.After(ended) {
			t.Errorf("%s started %s after the instant ± %s", name, started.Sub(instant), within)
		}
		// The trial may have read the counters of its host a little before the instant, and not when it was ready.
		if wall := time.Duration(r.Hosts.Client.Counters.WallNs); wall > ended.Sub(instant)+100*time.Millisecond {
			t.Errorf("%s: the counters are of %s", name, wall)
		}
	}
}

func TestATrialThatHearsOfTheInstantTooLateFails(t *testing.T) {
	s := aSpec()
	s.Host, s.Access = startServer(t), agent.Access{}
	for name, place := range places() {
		r := place.Run(t.Context(), s, agent.Hooks{
			Ready:   func(context.Context, time.Duration) (time.Time, error) { return time.Now().Add(-time.Second), nil },
			Started: func(time.Time, time.Duration) { t.Errorf("%s started", name) },
		})
		if !agent.Late(r.Error) || agent.Lost(r.Error) || r.Summary.SentBytes != 0 {
			t.Errorf("%s: %v", name, r.Error)
		}
	}
}
