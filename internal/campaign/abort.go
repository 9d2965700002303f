package campaign

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// rowsOf are the ends whose failures in a row a trial counts in: its own, and with pairs
// each of the two with whatever other.
func rowsOf(p *plan.Plan, e schedule.EndpointPair) []schedule.EndpointPair {
	if !p.HasPairs() {
		return []schedule.EndpointPair{e}
	}
	return []schedule.EndpointPair{e, {Client: schedule.AnyEndpoint, Server: e.Server}, {Client: e.Client, Server: schedule.AnyEndpoint}}
}

// countFailure takes note of how a trial went. After as many identical failures in a row
// as the plan allows, the trials that are left between its ends do not run in this run.
// Failures of one pattern show nothing about the others of its ends, as after a command
// that broke the path: they go on until another pattern fails, too. With pairs the
// failures of several pairs of one endpoint end all its trials on that side.
func (g *blockRun) countFailure(a *attempt) error {
	for _, of := range rowsOf(g.c.Plan, a.job.Endpoints()) {
		if err := g.countFailureOf(of, a); err != nil {
			return err
		}
	}
	return nil
}

func (g *blockRun) countFailureOf(of schedule.EndpointPair, a *attempt) error {
	most := g.c.Plan.AbortAfter
	if most == 0 || !ofTheEnds(a.result.Error) {
		delete(g.rows, of)
		return nil
	}
	row, pattern, pair := g.rows[of], a.job.Trial.Pattern, a.job.Endpoints()
	if failure := sameness(a.result.Error); row.failure != failure {
		row = failureRow{failure: failure, pattern: pattern, pair: pair}
	}
	row.trials++
	row.several = row.several || row.pattern != pattern
	row.pairs = row.pairs || row.pair != pair
	g.rows[of] = row
	switch {
	case row.trials < most, g.aborted[of], !row.pairs && of != pair, !row.several && g.hasOtherPatterns(of, pattern):
		return nil
	}
	return g.abort(of, row.trials, a.result.Error)
}

// abort records that the trials between two ends do not run any more.
func (g *blockRun) abort(pair schedule.EndpointPair, failures int, cause *measure.Error) error {
	g.aborted[pair] = true
	why := measure.Fail(cause.Kind, "campaign.aborted", measure.Figures{"client": pair.Client, "server": pair.Server, "failures": failures, "cause": cause})
	g.emit(Event{Kind: EventAborted, Error: why})
	return g.c.write(journal.Record{Kind: journal.RecordAborted, At: g.Now().UTC(), Reason: why.Message, Code: why.Code, Error: why,
		Abort: &journal.AbortRecord{Client: pair.Client, Server: pair.Server, Failures: failures}})
}

// leaveBlocked records that the trials of pairs whose ends do not reach each other do not run.
func (r *run) leaveBlocked() error {
	for pair, why := range r.Blocked {
		r.aborted[pair] = true
		r.emit(Event{Kind: EventAborted, Error: why})
		err := r.c.write(journal.Record{Kind: journal.RecordAborted, At: r.Now().UTC(), Reason: why.Message, Code: why.Code, Error: why,
			Abort: &journal.AbortRecord{Client: pair.Client, Server: pair.Server}})
		if err != nil {
			return err
		}
	}
	return nil
}

// ofTheEnds reports whether other trials between the same ends are likely to fail as a
// trial did: not for what its options ask for, and not for what other trials use up.
func ofTheEnds(e *measure.Error) bool {
	switch {
	case e == nil, strings.HasPrefix(e.Code, "campaign."):
		return false
	case e.Kind == measure.KindRefused:
		return !strings.HasPrefix(e.Code, "server.max_") && !strings.HasPrefix(e.Code, "server.busy.")
	}
	return e.Kind == measure.KindUnreachable || e.Kind == measure.KindBroken
}

// sameness is what identical failures have in common: the codes of the failure and of its
// causes. A failure that has none is known by its sentence.
func sameness(e *measure.Error) string {
	text := string(e.Kind)
	for ; e != nil; e = e.Cause {
		text += " " + cmp.Or(e.Code, e.Message)
	}
	return text
}

// hasOtherPatterns reports whether the run has another pattern between two ends.
func (r *run) hasOtherPatterns(pair schedule.EndpointPair, pattern string) bool {
	return slices.ContainsFunc(r.c.Plan.AllPatterns(), func(pt plan.Pattern) bool {
		if pt.Name == pattern || !r.Only.Matches(pt.Levels) {
			return false
		}
		if pair.Client == schedule.AnyEndpoint || pair.Server == schedule.AnyEndpoint {
			return true // all patterns have the same pairs
		}
		s := r.c.Plan.EndpointSets(&pt)
		return s.Has(pair.Client, pair.Server)
	})
}

// isAborted reports whether nothing of the unit is to run: a trial is between ends whose trials do not run any more. The trials
// of a group whose ends do not reach each other are left out; the others start without them.
func (r *run) isAborted(b schedule.Block, u schedule.Unit) bool {
	if len(r.aborted) == 0 {
		return false
	}
	runs := false
	for i := range u.Count {
		j := b.Job(u.First + i)
		if r.Blocked[j.Endpoints()] != nil {
			continue
		}
		if slices.ContainsFunc(rowsOf(r.c.Plan, j.Endpoints()), func(e schedule.EndpointPair) bool { return r.aborted[e] }) {
			return true
		}
		runs = runs || r.isDue(j)
	}
	return !runs
}

// leave takes the trials of a unit that have no result as not run in this run.
func (r *run) leave(b schedule.Block, u schedule.Unit) {
	r.leaveOf(b, u, func(schedule.Job) bool { return true })
}

// leaveOut is leave for the trials whose ends do not reach each other.
func (r *run) leaveOut(b schedule.Block, u schedule.Unit) {
	r.leaveOf(b, u, func(j schedule.Job) bool { return r.Blocked[j.Endpoints()] != nil })
}

func (r *run) leaveOf(b schedule.Block, u schedule.Unit, which func(schedule.Job) bool) {
	var trials []int
	for i := range u.Count {
		if j := b.Job(u.First + i); which(j) && r.isDue(j) {
			trials = append(trials, u.First+i)
		}
	}
	r.countSkipped(b, trials)
}

// abortedPairs are the pairs whose trials do not run any more, in alphabetical order.
func (r *run) abortedPairs() []string {
	var out []string
	for pair := range r.aborted {
		out = append(out, pair.String())
	}
	slices.Sort(out)
	return out
}
