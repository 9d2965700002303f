package campaign

import (
	"context"
	"fmt"
	"strings"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// connectEvery is the pause between two attempts to reach a server.
const connectEvery = time.Second

// runPatiently runs a trial. While its server cannot be reached, as during a restart, it
// runs again until [Executor.Patience] is over; the result says so. A server that did not
// come back is not waited for again until it has answered: the trials that are left fail
// immediately.
func (g *blockRun) runPatiently(ctx context.Context, a *attempt, hooks Hooks) *measure.Result {
	server := fmt.Sprintf("%s %d", a.job.Server.Machine(), a.job.Options.Port)
	begin := time.Now()
	var first *measure.Error // the failure that made it wait
	for attempts := 1; ; attempts++ {
		var r *measure.Result
		g.timed(a.job, func() { r = g.Runner.Run(ctx, a.job, hooks) })
		waits := g.Patience > 0 && unanswered(r.Error) && ctx.Err() == nil && !g.gaveUp(server)
		if waits && time.Since(begin) >= g.Patience {
			g.setGaveUp(server, true)
			waits = false
		}
		if waits {
			if first == nil {
				first = r.Error
				g.emit(Event{Kind: EventWaiting, Job: &a.job, Error: first, Wait: g.Patience})
			}
			pause(ctx, min(connectEvery, g.Patience))
			continue
		}
		if r.Error == nil {
			g.setGaveUp(server, false)
		}
		if first != nil {
			r.Findings.Add(finding.ServerAwaited, "", measure.Figures{
				"attempts": attempts, "waited_ns": time.Since(begin).Nanoseconds(), "cause": first.Message,
			})
		}
		return r
	}
}

// unanswered reports whether a trial failed because its connection was not accepted, or
// closed without an answer, as a server does that ends.
func unanswered(e *measure.Error) bool {
	return e != nil && e.Code == "native.closed" || e != nil && e.Kind == measure.KindUnreachable && (strings.HasPrefix(e.Code, "dial.") || strings.HasSuffix(e.Code, ".no_answer"))
}

// hostAway reports whether a trial was lost with its host, or could not begin because its host,
// which was prepared before, cannot be reached.
func hostAway(e *measure.Error) bool {
	return agent.Lost(e) || e != nil && e.Code == "ssh.unreachable"
}

// whyLost returns the host that was lost while a unit ran and why, or nil if none was. A host that
// was lost before and cannot be reached is still lost.
func (g *blockRun) whyLost(all []*attempt, before bool) (host string, why *measure.Error) {
	for _, a := range all {
		if e := a.result.Error; hostAway(e) || before && unanswered(e) {
			host = a.job.Client.Machine()
			if server := a.job.Server.Machine(); server != "" && e.Figures["host"] == server {
				host = server
			}
			return host, measure.Fail(measure.KindUnreachable, "campaign.host_gone", measure.Figures{"host": host, "cause": e})
		}
	}
	for _, a := range all {
		g.setGaveUp(lostHost(a.job.Client.Machine()), false)
		g.setGaveUp(lostHost(a.job.Server.Machine()), false)
	}
	return "", nil
}

// repeatLost records that a unit was lost and waits until it may run again. Once
// [Executor.Patience] has passed since the first loss, or where a unit before it waited for the
// host in vain, its trials count as not run.
func (g *blockRun) repeatLost(ctx context.Context, all []*attempt, host string, why *measure.Error, since time.Time) (again bool, err error) {
	if err := g.discard(all, why); err != nil {
		return false, err
	}
	again = time.Since(since) < g.Patience && !g.gaveUp(lostHost(host))
	g.emit(Event{Kind: EventHostGone, Host: host, Error: why})
	if again {
		pause(ctx, min(connectEvery, g.Patience))
	}
	if stop := g.stopped(); stop != nil {
		return false, stop
	}
	if again && ctx.Err() == nil {
		return true, nil
	}
	g.setGaveUp(lostHost(host), true)
	g.countSkipped(g.block, indices(all))
	return false, nil
}

// abandon records that a unit was lost whose trials do not run again in this run.
func (g *blockRun) abandon(all []*attempt, why *measure.Error) error {
	err := g.discard(all, why)
	if err == nil {
		g.countSkipped(g.block, indices(all))
	}
	return err
}

// discard records that the trials of a unit were lost, and takes their results from them.
func (g *blockRun) discard(all []*attempt, why *measure.Error) error {
	if err := g.drop(all, why); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range all {
		g.ended += a.bytes
		a.lost, a.result, a.bytes, a.meter, a.started = a.job.Result, nil, 0, meter{}, time.Time{}
	}
	return nil
}

// lostHost is the key of a host in run.silent.
func lostHost(name string) string { return "host " + name }

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (r *run) gaveUp(server string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.silent[server]
}

func (r *run) setGaveUp(server string, yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent[server] = yes
}

// timed runs a trial and counts the time it took.
func (g *blockRun) timed(j schedule.Job, run func()) {
	begin := g.Now()
	g.mu.Lock()
	g.clock.began(begin)
	g.mu.Unlock()
	run()
	end := g.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clock.ended(j, begin, end)
}
