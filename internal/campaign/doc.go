// Package campaign runs a plan through a [Runner] and keeps every result: first in a journal
// that survives a kill at any moment, then in the store.
//
//	p, err := plan.Load("plan.yaml", os.ReadFile)
//	c, err := campaign.Create(journal.Folder("campaigns"), p, schedule.DrawSeed(), version, time.Now())
//	defer c.Close()
//	e := campaign.Executor{Runner: runner, Store: results, Now: time.Now}
//	outcome, err := e.Run(ctx, c)
//
// [Resume] goes on with a campaign that was stopped: trials with a result do not run again. What
// happens to a block of the schedule, [Campaign.Blocks]:
//
//	before commands, or a person's change
//	     │
//	 ┌─ Queue: a unit whose hosts are all free ◄────────────┐
//	 │   │ unit: one trial, or a group at one barrier       │
//	 │   ▼                                                  │ hosts come free
//	 │ journal: trial_started ─► Runner ─► journal: trial_finished ─► Store
//	 │
//	 └─ none waits or runs: after commands, next block
//
// With find or until what follows also depends on the results so far, and on them alone.
//
// Package plan reads the plan, schedule makes the trials and their order, journal keeps the
// records, advice says before the run what a plan takes and can show. This package measures
// nothing itself and knows no network: a Runner does, in this process or in another, see
// [Places].
//
// Goroutines: [Executor.Run] starts one for each trial that runs and waits for
// all. Everything else runs on the caller's.
//
// docs/reference/plan.md specifies the plan, its patterns, the order of trials
// and the journal.
package campaign
