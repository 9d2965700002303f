package campaign

import (
	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// wentAway is the error of a trial whose host went away.
func wentAway(h HostChange) *measure.Error {
	return measure.Fail(measure.KindUnreachable, "campaign.host_gone", measure.Figures{"host": h.Host, "cause": h.Gone})
}

// hostChanged takes note of a host. Trials that run on one that went away are
// stopped, and those that wait for it are skipped: they count as not run.
func (g *blockRun) hostChanged(h HostChange) error {
	at := -1
	for i, name := range g.block.Hosts {
		if name == h.Host {
			at = i
		}
	}
	if h.Gone == nil {
		delete(g.gone, h.Host)
		if at >= 0 {
			g.queue.Restore(at)
		}
		return nil
	}
	why := wentAway(h)
	g.gone[h.Host] = why
	g.emit(Event{Kind: EventHostGone, Host: h.Host, Error: why})
	if at < 0 {
		return nil
	}
	for o := range g.ongoing {
		if o.unit.Occupies(at) {
			o.cancel(why)
		}
	}
	return g.lose(at, why)
}

// lose skips what waits for a host that is gone.
func (g *blockRun) lose(host int, why *measure.Error) error {
	lost := g.queue.Lose(host)
	if g.deferred != nil && g.deferred.Occupies(host) {
		for i := range g.deferred.Count {
			lost = append(lost, g.deferred.First+i)
		}
		g.queue.Release(*g.deferred)
		g.deferred = nil
	}
	return g.skip(g.block, lost, why)
}

// loseGone skips what waits for hosts that went away before the block's turn.
func (g *blockRun) loseGone() error {
	for i, name := range g.block.Hosts {
		if why := g.gone[name]; why != nil {
			if err := g.lose(i, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// skip records trials that do not run in this run of the campaign.
func (r *run) skip(b schedule.Block, trials []int, why *measure.Error) error {
	if len(trials) == 0 {
		return nil
	}
	records := make([]journal.Record, len(trials))
	for n, i := range trials {
		j := b.Job(i)
		records[n] = r.dropped(j, 0, why)
	}
	records[0].Error = why
	if err := r.c.write(records...); err != nil {
		return err
	}
	r.countSkipped(b, trials)
	return nil
}

// countSkipped takes trials as not run in this run.
func (r *run) countSkipped(b schedule.Block, trials []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Skipped += len(trials)
	for _, i := range trials {
		j := b.Job(i)
		length, _ := schedule.TrialTime(j.Test, j.Options)
		r.clock.planned -= length
	}
}
