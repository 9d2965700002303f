package cli

import (
	"context"
	"os/exec"
	"sync"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/measure"
)

func TestTrialsAtOnceHaveProcessesOfTheirOwn(t *testing.T) {
	addr := startServer(t, nil)
	sys, _, _ := fakeSystem(t)
	sys.Executable = func() (string, error) { return exec.LookPath("soku") }
	runner := (&place{}).runner(sys, agent.Access{}, 1)
	o := measure.Defaults(measure.TestTCP)
	o.Duration = measure.Duration(200 * time.Millisecond)
	job := campaign.Job{Test: measure.TestTCP, Options: o, Server: campaign.Target{Endpoint: measure.Endpoint{Address: addr}}}

	alone := runner.Run(t.Context(), job, campaign.Hooks{})
	if alone.Error != nil {
		t.Fatal(alone.Error)
	}
	// The server, too, is this process here, so the two share it.
	if c := alone.Hosts.Client.Counters; !c.Shared {
		t.Errorf("a trial alone ran in another process: %+v", c)
	}
	if r := (&place{}).runner(sys, agent.Access{}, 2).Run(t.Context(), job, campaign.Hooks{}); r.Error != nil || r.Hosts.Client.Counters.Shared {
		t.Errorf("one of two trials at once: %v, %+v", r.Error, r.Hosts.Client)
	}
	job.Trial.Group = &measure.Group{ID: "1", Trials: 2}
	var ready, all sync.WaitGroup
	ready.Add(2)
	for range 2 {
		all.Go(func() {
			arrived := sync.OnceFunc(ready.Done)
			defer arrived()
			r := runner.Run(t.Context(), job, campaign.Hooks{Ready: func(context.Context) error {
				arrived()
				ready.Wait()
				return nil
			}})
			if r.Error != nil {
				t.Error(r.Error)
			} else if c := r.Hosts.Client.Counters; c.Shared || c.CoresUsed <= 0 || c.CPUSecPerGB <= 0 {
				t.Errorf("a trial of a group: %+v", c)
			}
		})
	}
	all.Wait()
}
