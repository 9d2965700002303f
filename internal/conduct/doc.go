// Package conduct takes a plan to its outcome: it checks the plan against its network and
// hosts, prepares them, asks a person where the plan needs one, creates or resumes the
// campaign, runs its trials and removes what it prepared. It prints nothing. The caller gets
// everything that happens through an [Observer] of four methods, and answers through
// [Questions].
//
//	plan, topology, err := conduct.Load("plan.yaml", os.ReadFile, limits)
//	...
//	c := conduct.Conductor{
//		Host: conduct.ThisHost(), Store: results, Journals: journal.Folder("campaigns"), Observer: mine,
//	}
//	outcome, err := c.Run(ctx, conduct.Order{Plan: plan, Topology: topology})
//
// [Conductor.Open] and [Session.Run] are the two halves of Run, for a caller that needs the
// campaign before its first trial or shows results before the hosts are released.
//
// Goroutines: preparing hosts by ssh takes one for each, up to eight, and removing one for
// each; trials have those of [campaign.Executor]. All have ended when the method that began
// them returns. The context of Open and of Run stops both; Close removes a lab and what is on
// hosts also after that. Errors are a [measure.Error].
//
// The package keeps no results (package store) and makes no report (package publish). The
// plan is specified in docs/reference/plan.md.
package conduct
