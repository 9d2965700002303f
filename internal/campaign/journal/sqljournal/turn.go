package sqljournal

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"soku/internal/panics"
)

// TurnLease is how long a holder serves without a word of it.
const TurnLease = 15 * time.Second

// Turn is the right of one process to serve, of several that share a database and the agents.
type Turn struct {
	journals *Journals
	fence    int64
	lost     chan struct{}
	stop     context.CancelFunc
	renews   panics.Group
}

// AwaitTurn waits until no other holder serves, or its lease is over, and ends that holder's leases of campaigns: what it appends
// afterwards is refused. waits is called when there is another holder to wait for. Only one process may use a holder's name. The
// caller releases the turn. An error is that of the database at the first attempt, or the cause of ctx.
func (j *Journals) AwaitTurn(ctx context.Context, waits func(holder string)) (*Turn, error) {
	tick := time.NewTicker(j.turnLease / 15)
	defer tick.Stop()
	for before := ""; ; {
		holder, fence, err := j.takeTurn(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && before == "":
			return nil, j.fail("journal.lock", "", err)
		case err == nil && fence > 0:
			return j.keepTurn(fence), nil
		case err == nil && holder != before:
			before = holder
			waits(holder)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// takeTurn returns the new fence, or who serves.
func (j *Journals) takeTurn(ctx context.Context) (holder string, fence int64, err error) {
	err = j.store.Transact(ctx, func(tx *sql.Tx) error {
		now := j.store.Dialect.Now
		if err := tx.QueryRowContext(ctx, `SELECT holder FROM hub_turn WHERE only_row = 1`).Scan(&holder); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, j.query(`UPDATE hub_turn SET holder = ?, held_until = `+now+` + ?, fence = fence + 1
			WHERE only_row = 1 AND holder = ? AND (holder = '' OR holder = ? OR held_until < `+now+`) RETURNING fence`),
			j.holder, j.turnLease.Milliseconds(), holder, j.holder).Scan(&fence)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, j.query(`UPDATE journal SET holder = '' WHERE holder = ?`), holder)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return holder, 0, nil
	}
	return holder, fence, err
}

func (j *Journals) keepTurn(fence int64) *Turn {
	ctx, stop := context.WithCancel(j.ctx)
	t := &Turn{journals: j, fence: fence, lost: make(chan struct{}), stop: stop}
	t.renews.Go(func() {
		tick := time.NewTicker(j.turnLease / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if t.renew(ctx) {
				close(t.lost)
				return
			}
		}
	})
	return t
}

// renew reports whether another holder serves now. A database that does not answer leaves the turn as it is.
func (t *Turn) renew(ctx context.Context) (lost bool) {
	j := t.journals
	ctx, cancel := context.WithTimeout(ctx, j.turnLease/3)
	defer cancel()
	done, err := j.store.DB.ExecContext(ctx, j.query(`UPDATE hub_turn SET held_until = `+j.store.Dialect.Now+` + ? WHERE only_row = 1 AND fence = ?`),
		j.turnLease.Milliseconds(), t.fence)
	if err != nil {
		return false
	}
	n, err := done.RowsAffected()
	return err == nil && n == 0
}

// Lost is closed when another holder serves: this one was suspended or cut off from the database for longer than the lease.
func (t *Turn) Lost() <-chan struct{} { return t.lost }

// Release lets another holder serve.
func (t *Turn) Release() error {
	t.stop()
	t.renews.Wait()
	j := t.journals
	_, err := j.store.DB.ExecContext(j.ctx, j.query(`UPDATE hub_turn SET holder = '', held_until = 0 WHERE only_row = 1 AND fence = ?`), t.fence)
	if err != nil {
		return j.fail("journal.lock", "", err)
	}
	return nil
}
