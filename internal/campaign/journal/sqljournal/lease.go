package sqljournal

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/measure"
	"soku/internal/panics"
)

// held is a campaign that is held, and its journal.
type held struct {
	*Journals
	id    string
	fence int64

	stop func()
	runs panics.Group // says again that the campaign is held
	once sync.Once
}

// hold takes the lease of a campaign that has no holder, or one that was silent for too long.
func (j *Journals) hold(id string) (*held, error) {
	if err := journal.CheckIdentity(id, j.Name()); err != nil {
		return nil, err
	}
	h := &held{Journals: j, id: id}
	now := j.store.Dialect.Now
	err := j.store.DB.QueryRowContext(j.ctx, j.query(`UPDATE journal SET holder = ?, held_until = `+now+` + ?, fence = fence + 1
		WHERE campaign = ? AND (holder = '' OR held_until < `+now+`) RETURNING fence`), j.holder, j.lease.Milliseconds(), id).Scan(&h.fence)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, j.whyNotHeld(id)
	}
	if err != nil {
		return nil, j.fail("journal.lock", id, err)
	}
	ctx, stop := context.WithCancel(j.ctx)
	h.stop = stop
	h.runs.Go(func() { h.renew(ctx) })
	return h, nil
}

// Release ends all leases of this holder, so that they need not run out after a kill. Only the process that holds the lock of the
// holder's folder may call it, and before it holds a campaign: a living holder would lose its campaigns. What a holder appends
// after that is refused.
func (j *Journals) Release() error {
	_, err := j.store.DB.ExecContext(j.ctx, j.query(`UPDATE journal SET holder = '' WHERE holder = ?`), j.holder)
	if err != nil {
		return j.fail("journal.lock", j.Name(), err)
	}
	return nil
}

func (j *Journals) whyNotHeld(id string) error {
	var holder string
	err := j.store.DB.QueryRowContext(j.ctx, j.query(`SELECT holder FROM journal WHERE campaign = ?`), id).Scan(&holder)
	if errors.Is(err, sql.ErrNoRows) {
		return journal.UnknownCampaign(id, j.Name())
	}
	if err != nil {
		return j.fail("journal.lock", id, err)
	}
	return measure.Fail(measure.KindRefused, "campaign.held", measure.Figures{"holder": holder, "campaign": id})
}

// renew says again and again that the campaign is held, until the lock is released or lost. Where the
// database does not answer, it goes on: an append finds out.
func (h *held) renew(ctx context.Context) {
	tick := time.NewTicker(h.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		done, err := h.store.DB.ExecContext(ctx, h.query(`UPDATE journal SET held_until = `+h.store.Dialect.Now+` + ?
			WHERE campaign = ? AND fence = ? AND holder <> ''`), h.lease.Milliseconds(), h.id, h.fence)
		if err != nil {
			continue
		}
		if n, err := done.RowsAffected(); err == nil && n == 0 {
			return
		}
	}
}

// add counts records that are added, and returns how many there are. It fails unless the campaign is still held under this
// fence, which stays so to the end of the transaction.
func (h *held) add(tx *sql.Tx, added int) (records int64, err error) {
	err = tx.QueryRowContext(h.ctx, h.query(`UPDATE journal SET records = records + ?, held_until = `+h.store.Dialect.Now+` + ?
		WHERE campaign = ? AND fence = ? AND holder <> '' RETURNING records`), added, h.lease.Milliseconds(), h.id, h.fence).Scan(&records)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, measure.Fail(measure.KindRefused, "journal.lease_lost", measure.Figures{"campaign": h.id})
	}
	return records, err
}

// Append adds records and their results in one transaction.
func (h *held) Append(records ...journal.Record) error {
	if len(records) == 0 {
		return nil
	}
	err := h.store.Transact(h.ctx, func(tx *sql.Tx) error {
		last, err := h.add(tx, len(records))
		if err != nil {
			return err
		}
		return h.insert(tx, h.id, last-int64(len(records)), records...)
	})
	if err != nil {
		return h.fail("journal.write", h.id, err)
	}
	return nil
}

func (h *held) Read(visit func(journal.Record) error) error { return h.Journals.Read(h.id, visit) }

func (h *held) Name() string { return h.store.Place + " " + h.id }

func (h *held) Close() error { return nil }

// Release gives the campaign back.
func (h *held) Release() error {
	var err error
	h.once.Do(func() {
		h.stop()
		h.runs.Wait()
		_, err = h.store.DB.ExecContext(h.ctx, h.query(`UPDATE journal SET holder = '', held_until = 0 WHERE campaign = ? AND fence = ?`), h.id, h.fence)
	})
	if err != nil {
		return h.fail("journal.lock", h.id, err)
	}
	return nil
}
