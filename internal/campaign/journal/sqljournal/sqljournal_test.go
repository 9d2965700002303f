package sqljournal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
	_ "soku/internal/tests" // registers the tests whose options and metrics are used here
	"soku/test/databases"
	"soku/test/postgresql"
	"soku/test/storetest"
)

func TestMain(m *testing.M) { postgresql.Main(m) }

func journals(t *testing.T, db *sqlstore.Store, holder string, lease time.Duration) *Journals {
	t.Helper()
	j, err := Open(t.Context(), db, holder)
	if err != nil {
		t.Fatal(err)
	}
	j.lease = lease
	return j
}

func begun(t *testing.T, j *Journals, id string) *held {
	t.Helper()
	h, _, err := j.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.(*held).Release() })
	return h.(*held)
}

func finished(r *measure.Result) journal.Record {
	return journal.Record{Kind: journal.RecordTrialFinished, At: time.Unix(1, 0), Trial: &plan.TrialKey{}, Result: journal.NewDocument(r)}
}

func document(t *testing.T, r *measure.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestARecordRefersToTheResultThatTheStoreHas(t *testing.T) {
	databases.Each(t, func(t *testing.T, s store.Store, db *sqlstore.Store) {
		h := begun(t, journals(t, db, "one", Lease), "c1")
		alone, other, failed := storetest.Result("alone", 1), storetest.Result("other", 2), storetest.Result("failed", 3)
		failed.Error = measure.TextError(measure.KindRefused, "refused", "")
		group := journal.Record{Kind: journal.RecordGroupFinished, At: time.Unix(1, 0), Group: []journal.Record{finished(other), finished(failed)}}
		if err := h.Append(finished(alone), group); err != nil {
			t.Fatal(err)
		}
		var size int
		if err := db.DB.QueryRowContext(t.Context(), `SELECT sum(length(record)) FROM journal_record`).Scan(&size); err != nil || size > 2000 {
			t.Errorf("the records have %d characters (%v)", size, err)
		}
		var got []*journal.Document
		if err := h.Read(func(r journal.Record) error {
			if r.Result != nil {
				got = append(got, r.Result)
			}
			for _, member := range r.Group {
				got = append(got, member.Result)
			}
			return nil
		}); err != nil || len(got) != 3 {
			t.Fatalf("%d results, %v", len(got), err)
		}
		for i, want := range []*measure.Result{alone, other, failed} {
			r, err := got[i].Result()
			if err != nil || document(t, r) != document(t, want) || got[i].ID != want.ID || (got[i].Error != nil) != (want.Error != nil) {
				t.Errorf("%s: %+v, %v", want.ID, got[i], err)
			}
			if _, err := s.Get(t.Context(), want.ID); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestARecordKeepsAResultThatTheStoreHasOtherwise(t *testing.T) {
	databases.Each(t, func(t *testing.T, s store.Store, db *sqlstore.Store) {
		if err := s.Put(t.Context(), storetest.Result("r", 1)); err != nil {
			t.Fatal(err)
		}
		h, mine := begun(t, journals(t, db, "one", Lease), "c1"), storetest.Result("r", 2)
		if err := h.Append(finished(mine)); err != nil {
			t.Fatal(err)
		}
		if err := h.Read(func(r journal.Record) error {
			if got, err := r.Result.Result(); err != nil || document(t, got) != document(t, mine) {
				t.Errorf("the record has %+v (%v)", got, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestOfAGroupOnlyTheResultThatTheStoreHasOtherwiseStaysInTheRecord(t *testing.T) {
	databases.Each(t, func(t *testing.T, s store.Store, db *sqlstore.Store) {
		if err := s.Put(t.Context(), storetest.Result("b", 1)); err != nil {
			t.Fatal(err)
		}
		h := begun(t, journals(t, db, "one", Lease), "c1")
		want := []*measure.Result{storetest.Result("c", 3), storetest.Result("b", 2), storetest.Result("a", 4)}
		group := journal.Record{Kind: journal.RecordGroupFinished, At: time.Unix(1, 0)}
		for _, r := range want {
			group.Group = append(group.Group, finished(r))
		}
		if err := h.Append(group); err != nil {
			t.Fatal(err)
		}
		if err := h.Read(func(r journal.Record) error {
			for i, member := range r.Group {
				if got, err := member.Result.Result(); err != nil || document(t, got) != document(t, want[i]) {
					t.Errorf("%s came back as %+v (%v)", want[i].ID, got, err)
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if missing, err := s.Missing(t.Context(), []string{"a", "b", "c"}); err != nil || len(missing) != 0 {
			t.Errorf("the store lacks %v (%v)", missing, err)
		}
	})
}

// Two transactions that write the same results wait for each other; neither fails, whatever the order in a record is.
func TestResultsOfAGroupMayArriveWhileTheyAreWritten(t *testing.T) {
	databases.Each(t, func(t *testing.T, s store.Store, db *sqlstore.Store) {
		h := begun(t, journals(t, db, "one", Lease), "c1")
		for i := range 30 {
			var members []journal.Record
			var results []*measure.Result
			for n := range 4 {
				r := storetest.Result(fmt.Sprint("r", i, "-", 9-n), i)
				results, members = append(results, r), append(members, finished(r))
			}
			arrived := make(chan error)
			go func() { arrived <- s.Put(t.Context(), results...) }()
			err := h.Append(journal.Record{Kind: journal.RecordGroupFinished, At: time.Unix(1, 0), Group: members})
			if err := errors.Join(err, <-arrived); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestOfRecordsThatCannotAllBeWrittenNoneIs(t *testing.T) {
	databases.Each(t, func(t *testing.T, s store.Store, db *sqlstore.Store) {
		h := begun(t, journals(t, db, "one", Lease), "c1")
		if err := h.Append(finished(storetest.Result("good", 1)), finished(storetest.Result("", 2))); err == nil {
			t.Fatal("a result without an identity was written")
		}
		if n, err := s.Count(t.Context(), store.Query{}); n != 0 || err != nil {
			t.Errorf("the store has %d results (%v)", n, err)
		}
		if err := h.Read(func(r journal.Record) error { t.Errorf("%+v", r); return nil }); err != nil {
			t.Error(err)
		}
	})
}

// A holder that was suspended wakes up after its campaign was taken over: nothing that it writes counts.
func TestWhatIsWrittenAfterALeaseEndedIsRefused(t *testing.T) {
	databases.Each(t, func(t *testing.T, s store.Store, db *sqlstore.Store) {
		first := begun(t, journals(t, db, "one", 50*time.Millisecond), "c1")
		first.stop() // it says no more that it holds the campaign
		first.runs.Wait()
		other := journals(t, db, "two", Lease)
		nothing := func(journal.Record) error { return nil }
		var second journal.Journal
		for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			j, lock, err := other.Open("c1", nothing)
			if err == nil {
				second = j
				t.Cleanup(func() { _ = lock.Release() })
				break
			}
			if measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "one") || time.Since(begin) > 10*time.Second {
				t.Fatal(err)
			}
		}
		for range 17 {
			if err := first.Append(finished(storetest.Result("late", 1))); measure.KindOf(err) != measure.KindRefused {
				t.Errorf("written after the lease ended: %v", err)
			}
		}
		if err := second.Append(finished(storetest.Result("r", 2))); err != nil {
			t.Error(err)
		}
		if err := first.Release(); err != nil {
			t.Error(err)
		}
		if err := second.Append(finished(storetest.Result("r2", 3))); err != nil {
			t.Errorf("the first took the lock of the second with it: %v", err)
		}
		if n, err := s.Count(t.Context(), store.Query{}); n != 2 || err != nil {
			t.Errorf("the store has %d results (%v)", n, err)
		}
	})
}

// A hub that was killed comes back with the same name: it need not wait until its leases have run out.
func TestWhatAFormerHolderWritesAfterItsLeasesWereReleasedIsRefused(t *testing.T) {
	databases.Each(t, func(t *testing.T, s store.Store, db *sqlstore.Store) {
		former, other := begun(t, journals(t, db, "hub", Lease), "c1"), begun(t, journals(t, db, "another hub", Lease), "c2")
		again := journals(t, db, "hub", Lease)
		refused := func() {
			t.Helper()
			err := former.Append(finished(storetest.Result("late", 1)))
			if e := measure.AsError(err, ""); e == nil || e.Code != "journal.lease_lost" {
				t.Errorf("a former holder wrote: %v", err)
			}
		}
		nothing := func(journal.Record) error { return nil }
		if _, _, err := again.Open("c1", nothing); measure.KindOf(err) != measure.KindRefused {
			t.Fatalf("a campaign that is held was opened: %v", err)
		}
		if err := again.Release(); err != nil {
			t.Fatal(err)
		}
		refused()
		second, lock, err := again.Open("c1", nothing)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lock.Release() })
		refused()
		for _, j := range []journal.Journal{second, other} {
			if err := j.Append(finished(storetest.Result("r", 2))); err != nil {
				t.Error(err)
			}
		}
		if n, err := s.Count(t.Context(), store.Query{}); n != 1 || err != nil {
			t.Errorf("the store has %d results (%v)", n, err)
		}
	})
}

func TestAHolderKeepsItsCampaignAsLongAsItLives(t *testing.T) {
	databases.Each(t, func(t *testing.T, _ store.Store, db *sqlstore.Store) {
		h := begun(t, journals(t, db, "one", 150*time.Millisecond), "c1")
		var from, until int64
		read := func(to *int64) {
			if err := db.DB.QueryRowContext(t.Context(), `SELECT held_until FROM journal`).Scan(to); err != nil {
				t.Fatal(err)
			}
		}
		read(&from)
		for begin := time.Now(); until < from+300; time.Sleep(10 * time.Millisecond) {
			if read(&until); time.Since(begin) > 10*time.Second {
				t.Fatalf("held until %d, then %d", from, until)
			}
		}
		if err := h.Append(finished(storetest.Result("r", 1))); err != nil {
			t.Error(err)
		}
	})
}
