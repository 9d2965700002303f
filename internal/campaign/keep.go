package campaign

import (
	"context"

	"soku/internal/measure"
	"soku/internal/store"
)

// Refill adds the journal's results that are missing from the store, and returns how many
// it added: soku may have been killed between writing to the one and to the other, or it is
// a new store.
func (c *Campaign) Refill(ctx context.Context, s store.Store) (added int, err error) {
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
	err = c.documents(ids, func(res *measure.Result) error {
		added++
		return s.Put(ctx, res)
	})
	return added, err
}

// keep makes the results of a unit last: first in the journal, those of a group
// in one record, so that a kill leaves all of them or none; then in the store.
// Trials that are over are kept even if ctx has just ended.
func (r *run) keep(ctx context.Context, all []*attempt) error {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	records := make([]Record, len(all))
	var done, failed int
	for i, a := range all {
		key := a.job.Key()
		previous, again := r.c.outcome(key)
		switch {
		case !again:
			done++
		case previous.failed:
			failed--
			a.result.Findings.Add(measure.CodeReplacesResult, "", measure.Figures{"result": previous.result})
		default:
			a.result.Findings.Add(measure.CodeReplacesGroup, "", measure.Figures{"result": previous.result})
		}
		if a.result.Error != nil {
			failed++
		}
		records[i] = Record{Kind: RecordTrialFinished, At: r.Now().UTC(), Trial: &key, Order: a.job.Trial.Order, Bytes: a.bytes, Result: NewDocument(a.result)}
	}
	rec := records[0]
	if len(records) > 1 {
		rec = Record{Kind: RecordGroupFinished, At: rec.At, Group: records}
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
		if err := r.Store.Put(ctx, a.result); err != nil {
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

// drop records that trials were stopped: they count as not run. What they moved
// counts.
func (r *run) drop(all []*attempt, why *measure.Error) error {
	records := make([]Record, len(all))
	for i, a := range all {
		records[i] = r.dropped(a.job, a.bytes, why)
	}
	return r.c.write(records...)
}

func (r *run) dropped(j Job, bytes int64, why *measure.Error) Record {
	key := j.Key()
	return Record{Kind: RecordTrialDropped, At: r.Now().UTC(), Trial: &key, Order: j.Trial.Order, Bytes: bytes, Reason: why.Message, Code: why.Code}
}
