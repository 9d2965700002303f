package sqljournal

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
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
	began    time.Time
	held     atomic.Int64 // until when after began no other holder can have the turn, ns
	stop     context.CancelFunc
	renews   panics.Group
}

// Holder is who serves.
type Holder struct {
	Name  string
	URL   string    // by which it is reached; empty: not known
	Until time.Time // when its lease is over, by the clock of the database
}

// AwaitTurn waits until no other holder serves, or its lease is over, and ends that holder's leases of campaigns: what it appends
// afterwards is refused. url is by which this one is reached when it serves. waits is called again and again while there is another
// holder to wait for, with a later time where it still serves. Only one process may use a holder's name. The
// caller releases the turn. An error is that of the database at the first attempt, or the cause of ctx.
func (j *Journals) AwaitTurn(ctx context.Context, url string, waits func(Holder)) (*Turn, error) {
	tick := time.NewTicker(j.turnLease / 15)
	defer tick.Stop()
	for first := true; ; {
		asked := time.Now()
		holder, fence, err := j.takeTurn(ctx, url)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && first:
			return nil, j.fail("journal.lock", "", err)
		case err == nil && fence > 0:
			return j.keepTurn(fence, asked), nil
		case err == nil:
			first = false
			waits(holder)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// takeTurn returns the new fence, or who serves.
func (j *Journals) takeTurn(ctx context.Context, url string) (holder Holder, fence int64, err error) {
	until := int64(0)
	err = j.store.Transact(ctx, func(tx *sql.Tx) error {
		now := j.store.Dialect.Now
		if err := tx.QueryRowContext(ctx, `SELECT holder, url, held_until FROM hub_turn WHERE only_row = 1`).Scan(&holder.Name, &holder.URL, &until); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, j.query(`UPDATE hub_turn SET holder = ?, url = ?, held_until = `+now+` + ?, fence = fence + 1
			WHERE only_row = 1 AND holder = ? AND (holder = '' OR holder = ? OR held_until < `+now+`) RETURNING fence`),
			j.holder, url, j.turnLease.Milliseconds(), holder.Name, j.holder).Scan(&fence)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, j.query(`UPDATE journal SET holder = '' WHERE holder = ?`), holder.Name)
		return err
	})
	holder.Until = time.UnixMilli(until)
	if errors.Is(err, sql.ErrNoRows) {
		return holder, 0, nil
	}
	return holder, fence, err
}

// keepTurn renews a turn that was taken after asked.
func (j *Journals) keepTurn(fence int64, asked time.Time) *Turn {
	ctx, stop := context.WithCancel(j.ctx)
	t := &Turn{journals: j, fence: fence, lost: make(chan struct{}), began: asked, stop: stop}
	t.held.Store(int64(j.turnLease))
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
	asked := time.Since(t.began)
	done, err := j.store.DB.ExecContext(ctx, j.query(`UPDATE hub_turn SET held_until = `+j.store.Dialect.Now+` + ? WHERE only_row = 1 AND fence = ?`),
		j.turnLease.Milliseconds(), t.fence)
	if err != nil {
		return false
	}
	n, err := done.RowsAffected()
	if err == nil && n > 0 {
		t.held.Store(int64(asked + j.turnLease))
	}
	return err == nil && n == 0
}

// Holds reports whether no other holder can serve now. After a time in which this process was suspended or the database did not
// answer, that is not known until the turn was renewed.
func (t *Turn) Holds() bool { return int64(time.Since(t.began)) < t.held.Load() }

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
