package campaign

import "soku/internal/measure"

// admit counts the trials of a unit as running, unless they are known to break
// the plan's cap on bytes together with those that run, or to end after the plan's time:
// then it returns the failure. A trial that goes as fast as it can is watched while it runs.
func (r *run) admit(all []*attempt) *measure.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.takesTooLong(all) {
		return r.timeSpent()
	}
	sum, payload := r.ended, int64(0)
	for a := range r.running {
		sum += max(a.planned, a.meter.bytes())
	}
	for _, a := range all {
		payload += a.planned
	}
	if limit, _ := r.c.Plan.MostBytes(); limit > 0 && sum+payload >= limit+min(payload, 1) {
		return r.capReached()
	}
	for _, a := range all {
		r.running[a] = true
	}
	return nil
}

// settle takes trials out of those that run, if they are not yet.
func (r *run) settle(all []*attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range all {
		if r.running[a] {
			delete(r.running, a)
			r.ended += a.bytes
		}
	}
}

// progress takes a live interval of a trial into account, and stops the block
// when the campaign has moved more than it may.
func (g *blockRun) progress(a *attempt, p measure.Progress) {
	g.mu.Lock()
	a.meter.add(p)
	sum := g.ended
	for o := range g.running {
		sum += o.meter.bytes()
	}
	g.report(Event{Kind: EventProgress, Job: &a.job, Progress: &p})
	defer g.mu.Unlock()
	if limit, _ := g.c.Plan.MostBytes(); limit > 0 && sum > limit {
		g.stop(g.capReached())
	}
}

// capReached is the failure of a campaign that has moved what it may, under r.mu.
func (r *run) capReached() *measure.Error {
	limit, key := r.c.Plan.MostBytes()
	return measure.Fail(measure.KindRefused, "campaign.byte_cap", measure.Figures{
		"campaign": r.c.ID(), "key": key, "limit_bytes": limit, "done": r.out.Done, "trials": r.out.Total, "file": r.c.Plan.File,
	})
}

// payload is what a finished trial carried, as far as its ends counted it.
func payload(r *measure.Result) int64 {
	var n int64
	for _, f := range r.Flows {
		n += max(f.Summary.SentBytes, f.Summary.ReceivedBytes)
	}
	if l := r.Latency; l != nil {
		n += (l.Sent + l.Received) * int64(r.Options.Size)
	}
	return n
}
