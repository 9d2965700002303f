package schedule

import (
	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

// Endpoints are the two ends of the job's trial.
func (j Job) Endpoints() EndpointPair {
	return EndpointPair{j.Client.Reference(), j.Server.Reference()}
}

// Key is the identity of the job's trial.
func (j Job) Key() plan.TrialKey {
	return plan.TrialKey{
		Pattern: j.Trial.Pattern, Levels: j.Trial.Levels, Client: j.Client.Reference(), Server: j.Server.Reference(),
		Label: j.Trial.Label, Round: j.Trial.Round, Repeat: j.Trial.Repeat,
	}
}

// Job is one trial to run.
type Job struct {
	Result  string // identity of the result, made before the trial starts; empty in a schedule
	Former  bool   // a run before this one began the trial, and its place may have its result
	Trial   measure.Trial
	Test    measure.Test
	Options measure.Options // as planned; not yet effective
	Client  plan.Target
	Server  plan.Target
}

// NeedsOwnServer reports whether the trial needs a server of soku at its far end.
func (j Job) NeedsOwnServer() bool { return plan.NeedsOwnServer(j.Test, j.Options) }
