package campaign

import (
	"context"
	"time"

	"soku/internal/measure"
)

// trial runs one trial and keeps its result. An error means that the campaign
// cannot go on; a failed trial is none.
func (r *run) trial(ctx context.Context, j Job) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	if err := r.mayMove(j); err != nil {
		return err
	}
	key := j.Key()
	if err := r.c.write(Record{Kind: RecordTrialStarted, At: r.Now().UTC(), Trial: &key, Order: j.Trial.Order}); err != nil {
		return err
	}
	r.tell(Event{Kind: EventTrial, Job: &j})
	begin := r.Now()
	trialCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var m meter
	res := r.Runner.Run(trialCtx, j, Hooks{Progress: func(p measure.Progress) {
		m.add(p)
		if limit := int64(r.c.Plan.MaxBytes); limit > 0 && r.c.moved()+m.bytes() > limit {
			cancel(r.capReached())
		}
		r.tell(Event{Kind: EventProgress, Job: &j, Progress: &p})
	}})
	r.clock.ran(j, r.Now().Sub(begin))
	bytes := max(m.bytes(), moved(res))
	if res.Error != nil && trialCtx.Err() != nil {
		err := measure.AsError(context.Cause(trialCtx), measure.KindInterrupted)
		if ctx.Err() != nil {
			err = r.interrupted(ctx)
		}
		if werr := r.c.write(Record{Kind: RecordTrialDropped, At: r.Now().UTC(), Trial: &key, Order: j.Trial.Order, Bytes: bytes, Reason: err.Message}); werr != nil {
			return werr
		}
		return err
	}
	return r.keep(ctx, j, res, bytes)
}

// keep makes a result last: first in the journal, then in the store. A trial
// that is over is kept even if ctx has just ended.
func (r *run) keep(ctx context.Context, j Job, res *measure.Result, bytes int64) error {
	key := j.Key()
	previous, again := r.c.outcome(key)
	if again {
		res.Findings.Add(measure.CodeReplacesResult, "", measure.Figures{"result": previous.result})
	}
	err := r.c.write(Record{Kind: RecordTrialFinished, At: r.Now().UTC(), Trial: &key, Order: j.Trial.Order, Bytes: bytes, Result: NewDocument(res)})
	if err != nil {
		return err
	}
	r.out.Ran++
	if again {
		r.out.Failed--
	} else {
		r.out.Done++
	}
	if res.Error != nil {
		r.out.Failed++
	}
	ctx = context.WithoutCancel(ctx)
	if err := r.Store.Put(ctx, res); err != nil {
		return err
	}
	if err := r.Store.PutCampaign(ctx, r.c.Entry()); err != nil {
		return err
	}
	r.tell(Event{Kind: EventResult, Job: &j, Result: res})
	return nil
}

// wait is the plan's pause, before every trial of a run but its first.
func (r *run) wait(ctx context.Context) error {
	if ctx.Err() == nil && r.out.Ran > 0 && r.c.Plan.Pause > 0 {
		t := time.NewTimer(r.c.Plan.Pause.Std())
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	return nil
}

func (r *run) interrupted(ctx context.Context) *measure.Error {
	e := measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	return measure.Errorf(measure.KindInterrupted, "campaign %s: %s after %d of %d trials", r.c.ID(), e.Message, r.out.Done, r.out.Total).
		WithHint("go on with: soku run %s --resume", r.c.Plan.File)
}

// mayMove refuses a trial that is known to break the plan's cap on bytes. One
// that goes as fast as it can is watched while it runs.
func (r *run) mayMove(j Job) error {
	payload, _ := trialBytes(j.Test, j.Options)
	if limit := int64(r.c.Plan.MaxBytes); limit > 0 && r.c.moved()+payload >= limit+min(payload, 1) {
		return r.capReached()
	}
	return nil
}

func (r *run) capReached() *measure.Error {
	return measure.Errorf(measure.KindRefused, "campaign %s stops at its max_bytes of %s after %d of %d trials", r.c.ID(), r.c.Plan.MaxBytes, r.out.Done, r.out.Total).
		WithHint("raise max_bytes in %s and go on with: soku run %s --resume", r.c.Plan.File, r.c.Plan.File)
}

// meter adds up the payload of a running trial from its live intervals. Both
// ends may report the same direction: the larger count is the payload.
type meter struct{ sums map[meterKey]int64 }

type meterKey struct {
	direction measure.Direction
	role      measure.Role
}

func (m *meter) add(p measure.Progress) {
	if m.sums == nil {
		m.sums = map[meterKey]int64{}
	}
	m.sums[meterKey{p.Direction, p.Role}] += p.Bytes
}

func (m *meter) bytes() int64 {
	most := map[measure.Direction]int64{}
	for k, n := range m.sums {
		most[k.direction] = max(most[k.direction], n)
	}
	var total int64
	for _, n := range most {
		total += n
	}
	return total
}
