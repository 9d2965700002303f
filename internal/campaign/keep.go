package campaign

import (
	"cmp"
	"context"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/store"
)

// Refill adds the journal's results that are missing from the store, and returns how many
// it added: soku may have been killed between writing to the one and to the other, or it is
// a new store. A result whose identity another one in the store has stays in the journal alone;
// the conflict is recorded there and given to conflict.
func (c *Campaign) Refill(ctx context.Context, s store.Store, conflict func(*measure.Error)) (added int, err error) {
	if err := s.PutCampaign(ctx, c.Entry()); err != nil {
		return 0, err
	}
	missing, err := s.Missing(ctx, c.resultIDs())
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	ids := make(map[string]bool, len(missing))
	for _, id := range missing {
		ids[id] = true
	}
	var conflicts []*measure.Error
	err = c.documents(ids, func(res *measure.Result) error {
		err := s.Put(ctx, res)
		switch {
		case err == nil:
			added++
		case store.IsConflict(err):
			conflicts = append(conflicts, measure.AsError(err, measure.KindRefused))
			return nil
		}
		return err
	})
	for _, e := range conflicts {
		err = cmp.Or(err, c.conflicts(e, time.Now(), conflict))
	}
	return added, err
}

// conflicts records that the store has another result with the identity of one in the journal.
func (c *Campaign) conflicts(e *measure.Error, now time.Time, report func(*measure.Error)) error {
	id, _ := e.Figures["result"].(string)
	report(e)
	return c.write(journal.Record{Kind: journal.RecordConflict, At: now.UTC(), ResultID: id, Reason: e.Message, Code: e.Code, Error: e})
}

// keep makes the results of a unit last: first in the journal, those of a group
// in one record, so that a kill leaves all of them or none; then in the store.
// Trials that are over are kept even if ctx has just ended.
func (r *run) keep(ctx context.Context, all []*attempt) error {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	records := make([]journal.Record, len(all))
	var done, failed int
	for i, a := range all {
		key := a.job.Key()
		previous, again := r.c.outcome(key)
		switch {
		case !again:
			done++
		case previous.failed:
			failed--
			a.result.Findings.Add(finding.ReplacesResult, "", measure.Figures{"result": previous.result})
		default:
			a.result.Findings.Add(finding.ReplacesGroup, "", measure.Figures{"result": previous.result})
		}
		if a.lost != "" {
			a.result.Findings.Add(finding.RepeatsLost, "", measure.Figures{"result": a.lost})
		}
		if a.result.Error != nil {
			failed++
		}
		records[i] = journal.Record{Kind: journal.RecordTrialFinished, At: r.Now().UTC(), Trial: &key, Order: a.job.Trial.Order, Bytes: a.bytes, Result: journal.NewDocument(a.result)}
	}
	rec := records[0]
	if len(records) > 1 {
		rec = journal.Record{Kind: journal.RecordGroupFinished, At: rec.At, Group: records}
	}
	if err := r.c.write(rec); err != nil {
		return err
	}
	r.settle(all)
	r.mu.Lock()
	r.out.Ran += len(all)
	r.out.Done += done
	r.out.Failed += failed
	r.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	for _, a := range all {
		err := r.Store.Put(ctx, a.result)
		if store.IsConflict(err) {
			err = r.c.conflicts(measure.AsError(err, measure.KindRefused), r.Now(), r.conflict)
		}
		if err != nil {
			return err
		}
	}
	if err := r.Store.PutCampaign(ctx, r.c.Entry()); err != nil {
		return err
	}
	for _, a := range all {
		r.emit(Event{Kind: EventResult, Job: &a.job, Result: a.result})
	}
	return nil
}

// conflict reports that the store has another result with the identity of one in the journal.
func (r *run) conflict(e *measure.Error) { r.emit(Event{Kind: EventConflict, Error: e}) }

// drop records that trials were stopped: they count as not run. What they moved
// counts.
func (r *run) drop(all []*attempt, why *measure.Error) error {
	records := make([]journal.Record, len(all))
	for i, a := range all {
		records[i] = r.dropped(a.job, a.bytes, why)
	}
	records[0].Error = why
	return r.c.write(records...)
}

func (r *run) dropped(j schedule.Job, bytes int64, why *measure.Error) journal.Record {
	key := j.Key()
	return journal.Record{Kind: journal.RecordTrialDropped, At: r.Now().UTC(), Trial: &key, Order: j.Trial.Order, ResultID: j.Result, Bytes: bytes, Reason: why.Message, Code: why.Code}
}
