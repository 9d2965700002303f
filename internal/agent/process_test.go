package agent_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
)

func TestAChildRunsTheTrialAndReportsIt(t *testing.T) {
	s := aSpec()
	var bytes []int64
	r := child("").Run(t.Context(), s, agent.Hooks{Progress: func(p measure.Progress) { bytes = append(bytes, p.Bytes) }})
	if r.Error != nil {
		t.Fatal(r.Error)
	}
	if fmt.Sprint(bytes) != "[0 1 2]" || r.ID != "child" || r.Test != s.Test || r.Options != s.Options {
		t.Errorf("progress %v, result %+v", bytes, r)
	}
	if r.Trial == nil || r.Trial.Order != s.Trial.Order || r.Path.Client.Name != "onprem" {
		t.Errorf("identity %+v, path %+v", r.Trial, r.Path)
	}
	if want := measure.OfSentences([]string{s.Host, "secret", s.Trial.Pattern}); !slices.EqualFunc(r.Findings, want, measure.Finding.Equal) {
		t.Errorf("the child got %+v", r.Findings)
	}
}

func TestAChildThatDiesLeavesAResultWithItsLastLine(t *testing.T) {
	for how, want := range map[string]string{
		crashes: "fatal error: out of luck", greets: "Welcome to vm1, last login", isSilent: "it wrote nothing",
	} {
		r := child(how).Run(t.Context(), aSpec(), agent.Hooks{})
		if r.Error == nil || r.Error.Kind != measure.KindBroken || !strings.Contains(r.Error.Message, want) || !strings.Contains(r.Error.Message, "onprem") {
			t.Errorf("%s: error is %v", how, r.Error)
		}
		if r.ID == "" || r.Trial == nil || r.Schema != measure.Schema {
			t.Errorf("%s: result is %+v", how, r)
		}
	}
}

// The size of a report is limited by the options of the trial and the time since its start.
func TestAChildThatReportsMoreThanATrialHasIsAFailedTrial(t *testing.T) {
	r := child(floods).Run(t.Context(), aSpec(), agent.Hooks{})
	if r.Error == nil || r.Error.Kind != measure.KindBroken || !strings.Contains(r.Error.Message, "more values") {
		t.Errorf("error is %v, %d flows", r.Error, len(r.Flows))
	}
}

// A command of an endpoint may be any program: one that writes for ever does not hold the
// campaign, whatever it does with the end of its output.
func TestAChildThatWritesForEverIsKilled(t *testing.T) {
	for how, want := range map[string]string{chatters: "no reports", unending: "too long", lingers: ""} {
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		r := child(how).Run(ctx, aSpec(), agent.Hooks{})
		if ctx.Err() != nil || (r.Error != nil) != (want != "") || r.Error != nil && (r.Error.Kind != measure.KindBroken || agent.Lost(r.Error) || !strings.Contains(r.Error.Message, want)) {
			t.Errorf("%s: %v, error is %v", how, ctx.Err(), r.Error)
		}
		cancel()
	}
}

func TestAChildThatCannotStartIsAFailedTrial(t *testing.T) {
	p := agent.Process{Now: time.Now, Command: func(ctx context.Context) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, "soku-test-no-such-program"), nil
	}}
	r := p.Run(t.Context(), aSpec(), agent.Hooks{})
	if r.Error == nil || r.Error.Kind != measure.KindBroken || !strings.Contains(r.Error.Message, "soku-test-no-such-program") {
		t.Errorf("error is %v", r.Error)
	}
}

func TestEndingTheContextEndsTheChild(t *testing.T) {
	for _, how := range []string{never, ignores} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var ended time.Time
		r := child(how).Run(ctx, aSpec(), agent.Hooks{Progress: func(p measure.Progress) {
			if p.Bytes == 2 {
				ended = time.Now()
				cancel(measure.TextError(measure.KindInterrupted, "interrupted", ""))
			}
		}})
		took := time.Since(ended)
		// The child may have had the time to report, or was killed.
		if r.Error == nil && r.ID != "child" || r.Error != nil && r.Error.Kind != measure.KindInterrupted {
			t.Errorf("%s: error is %v", how, r.Error)
		}
		if took > 5*100*time.Millisecond { // five times what is promised: the machine may be busy
			t.Errorf("%s: the trial ended after %s", how, took)
		}
	}
}

// The times of a process are of all of it: only a separate process shows what a
// trial cost.
func TestTwoTrialsAtOnceHaveTheirOwnCost(t *testing.T) {
	addr := startServer(t)
	s := aSpec()
	s.Host, s.Access = addr, agent.Access{}
	s.Options.Duration = measure.Duration(300 * time.Millisecond)
	for _, c := range []struct {
		name   string
		place  agent.Place
		shared bool
	}{{"in processes of their own", child(measures), false}, {"in this process", agent.Local{Version: "test"}, true}} {
		results := together(t, c.place, s, s)
		for i, r := range results {
			if r.Error != nil {
				t.Fatal(r.Error)
			}
			n := r.Hosts.Client.Counters
			if n.Shared != c.shared || n.CoresUsed <= 0 || (n.CPUSecPerGB > 0) == c.shared {
				t.Errorf("%s, trial %d: shared %v, %g cores used, %g s of processor time per GB", c.name, i, n.Shared, n.CoresUsed, n.CPUSecPerGB)
			}
			if work := n.ProcessUserNs + n.ProcessSysNs; work <= 0 || !c.shared && n.CoresUsed > 2 {
				t.Errorf("%s, trial %d: %d ns of processor time, %g cores used", c.name, i, work, n.CoresUsed)
			}
		}
	}
}

// together runs trials at one start barrier.
func together(t *testing.T, place agent.Place, specs ...agent.Spec) []*measure.Result {
	t.Helper()
	results := make([]*measure.Result, len(specs))
	var ready, all sync.WaitGroup
	ready.Add(len(specs))
	for i, s := range specs {
		all.Go(func() {
			arrived := sync.OnceFunc(ready.Done)
			defer arrived() // also where it fails before
			results[i] = place.Run(t.Context(), s, agent.Hooks{Ready: func(context.Context, time.Duration) (time.Time, error) {
				arrived()
				ready.Wait()
				return time.Time{}, nil
			}})
		})
	}
	all.Wait()
	return results
}
