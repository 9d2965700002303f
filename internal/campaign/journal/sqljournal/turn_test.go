package sqljournal

import (
	"context"
	"testing"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
	"soku/test/databases"
)

// awaited is a turn that another goroutine waits for, once it is known whom it waits for.
func awaited(t *testing.T, j *Journals, before string) <-chan *Turn {
	t.Helper()
	got, waits := make(chan *Turn, 1), make(chan Holder, 1)
	go func() {
		turn, err := j.AwaitTurn(context.WithoutCancel(t.Context()), "", func(h Holder) {
			select {
			case waits <- h:
			default: // it is known
			}
		})
		if err != nil {
			t.Error(err)
		}
		got <- turn
	}()
	if holder := <-waits; holder.Name != before || holder.URL != "https://"+before || time.Until(holder.Until) > TurnLease+time.Minute {
		t.Errorf("it waits for %+v, want %q", holder, before)
	}
	return got
}

func TestAHubServesWhenTheOneBeforeReleasesItsTurn(t *testing.T) {
	databases.Each(t, func(t *testing.T, _ store.Store, db *sqlstore.Store) {
		one, two := journals(t, db, "one", Lease), journals(t, db, "two", Lease)
		first, err := one.AwaitTurn(t.Context(), "https://one", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := awaited(t, two, "one")
		if err := first.Release(); err != nil {
			t.Fatal(err)
		}
		second := <-got
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		if _, err := one.AwaitTurn(ctx, "", func(Holder) {}); measure.KindOf(err) != measure.KindInterrupted && ctx.Err() == nil {
			t.Error(err)
		}
		if err := second.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestAHubTakesTheTurnAndTheCampaignsOfOneThatIsSilent(t *testing.T) {
	databases.Each(t, func(t *testing.T, _ store.Store, db *sqlstore.Store) {
		one, two := journals(t, db, "one", Lease), journals(t, db, "two", Lease)
		one.turnLease, two.turnLease = time.Second, 100*time.Millisecond
		first, err := one.AwaitTurn(t.Context(), "https://one", nil)
		if err != nil {
			t.Fatal(err)
		}
		if !first.Holds() {
			t.Error("a holder does not know that it serves")
		}
		h := begun(t, one, "c1")
		got := awaited(t, two, "one")
		first.stop() // it is silent, as a process that is suspended
		first.renews.Wait()
		second := <-got
		if first.Holds() {
			t.Error("the former holder takes itself as the one that serves")
		}
		taken, lock, err := two.Open("c1", func(journal.Record) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		record := journal.Record{Kind: journal.RecordEnded, At: time.Unix(1, 0)}
		if err := taken.Append(record); err != nil {
			t.Error(err)
		}
		if e := measure.AsError(h.Append(record), ""); e == nil || e.Code != "journal.lease_lost" {
			t.Errorf("the former holder appends: %v", e)
		}
		if !first.renew(t.Context()) {
			t.Error("the former holder does not find out")
		}
		_ = lock.Release()
		if err := second.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestAHubThatIsSuspendedLearnsThatAnotherServes(t *testing.T) {
	databases.Each(t, func(t *testing.T, _ store.Store, db *sqlstore.Store) {
		one, two := journals(t, db, "one", Lease), journals(t, db, "two", Lease)
		one.turnLease = 300 * time.Millisecond
		first, err := one.AwaitTurn(t.Context(), "https://one", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.DB.ExecContext(t.Context(), `UPDATE hub_turn SET held_until = 0`); err != nil { // its lease is over
			t.Fatal(err)
		}
		second, err := two.AwaitTurn(t.Context(), "", func(Holder) {})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-first.Lost():
		case <-time.After(30 * time.Second):
			t.Error("it does not learn it")
		}
		_, _ = first.Release(), second.Release()
	})
}
