package scale_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/test/databases"
	"soku/test/postgresql"
	"soku/test/storetest"
	"soku/test/tier"
)

const (
	storeCallers = 4      // that put documents at the same time
	madeAtOnce   = 20_000 // documents that are in memory
	shownOnPage  = 100    // results
	askedTimes   = 20     // of each query, each time for another campaign or pair
)

func TestAStoreOfManyResultsAnswersPages(t *testing.T) {
	tier.SpendsSeconds(t)
	n := many(t, "SOKU_SCALE_RESULTS", 2000, 10_000_000)
	for kind, place := range places {
		t.Run(kind, func(t *testing.T) {
			if kind == "PostgreSQL" && postgresql.Missing() {
				t.Skip(postgresql.ErrMissing)
			}
			note := newTable(t, fmt.Sprintf("%d documents in %s", n, kind))
			s, trials := databases.Open(t, place(t)), storetest.NewTrials(t)
			fill(t, s, kind, trials, n, note)
			askPages(t, s, trials, n, note)
			deleteOldest(t, s, trials, n, note)
		})
	}
}

// places are where an empty store of each kind of database is made.
var places = map[string]func(t *testing.T) string{
	"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "soku.db") },
	"PostgreSQL": func(t *testing.T) string { return postgresql.Database(t) },
}

// work is the processor time of this process, and of PostgreSQL.
func work(t *testing.T, kind string) (own, server time.Duration) {
	if kind == "PostgreSQL" {
		server = family(t, postgresql.Process().Pid)
	}
	return processor(t, os.Getpid()), server
}

// fill stores n documents. The time in which they are made does not count.
func fill(t *testing.T, s store.Store, kind string, trials *storetest.Trials, n int, note noteFunc) {
	t.Helper()
	var passed, own, server time.Duration
	size := 0
	for from := 0; from < n; from += madeAtOnce {
		documents := make([]store.Document, min(madeAtOnce, n-from))
		for i := range documents {
			documents[i] = trials.Prepared(from + i)
			size += len(documents[i])
		}
		began := time.Now()
		ownBefore, serverBefore := work(t, kind)
		storetest.PutAll(t, s, storeCallers, documents)
		took := time.Since(began)
		ownAfter, serverAfter := work(t, kind)
		passed, own, server = passed+took, own+ownAfter-ownBefore, server+serverAfter-serverBefore
		if t.Failed() {
			t.FailNow()
		}
		t.Logf("%d documents: the last %d at %.0f a second", from+len(documents), len(documents), float64(len(documents))/took.Seconds())
	}
	if stored, err := s.Count(t.Context(), store.Query{}); stored != n || err != nil {
		t.Fatal(stored, err)
	}
	each := func(d time.Duration) float64 { return ms(d) / float64(n) }
	note("bytes of a document, compressed", "%d", size/n)
	note("documents a second", "%.0f", float64(n)/passed.Seconds())
	note("processor time of the program", "%.3f ms a document", each(own))
	if server > 0 {
		note("processor time of PostgreSQL", "%.3f ms a document", each(server))
	}
}

// askPages asks what pages of a campaign and of a pair show.
func askPages(t *testing.T, s store.Store, trials *storetest.Trials, n int, note noteFunc) {
	t.Helper()
	for i := 0; i < n; i += storetest.TrialsOfOne {
		c := store.Campaign{ID: trials.Campaign(i), Name: "study", StartedAt: trials.StartedAt(i), Trials: storetest.TrialsOfOne, Done: storetest.TrialsOfOne}
		if err := s.PutCampaign(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	pairs := storetest.TrialHosts * storetest.TrialHosts
	for _, page := range []struct {
		what string
		want int // rows
		ask  func(i int) (rows int, err error)
	}{
		{"the newest campaigns", min(shownOnPage, (n+storetest.TrialsOfOne-1)/storetest.TrialsOfOne), func(int) (int, error) {
			p, err := s.Campaigns(t.Context(), store.CampaignQuery{Limit: shownOnPage})
			return len(p.Items), err
		}},
		{"a campaign", 1, func(i int) (int, error) {
			_, err := s.Campaign(t.Context(), trials.Campaign(i))
			return 1, err
		}},
		{"results of a campaign", shownOnPage, func(i int) (int, error) {
			p, err := s.List(t.Context(), store.Query{Campaign: trials.Campaign(i), Limit: shownOnPage})
			return len(p.Items), err
		}},
		{"how many results a campaign has", min(n, storetest.TrialsOfOne), func(i int) (int, error) {
			return s.Count(t.Context(), store.Query{Campaign: trials.Campaign(i)})
		}},
		{"the newest result of each pair", min(shownOnPage, pairs), func(int) (int, error) {
			p, err := s.Newest(t.Context(), store.PairQuery{Test: measure.TestTCP, Limit: shownOnPage})
			return len(p.Items), err
		}},
		{"results of a pair", min(shownOnPage, n/pairs), func(i int) (int, error) {
			p, err := s.List(t.Context(), store.Query{Client: trials.Client(i), Server: trials.Server(i), Test: measure.TestTCP, Limit: shownOnPage})
			return len(p.Items), err
		}},
		{"1,000 figures of a pair", min(1000, n/pairs), func(i int) (int, error) {
			p, err := s.Series(t.Context(), store.Query{Client: trials.Client(i), Server: trials.Server(i), Test: measure.TestTCP, Limit: 1000}, "goodput_bps")
			return len(p.Items), err
		}},
	} {
		var took []time.Duration
		for k := range askedTimes {
			began := time.Now()
			rows, err := page.ask(k * n / askedTimes)
			took = append(took, time.Since(began))
			if rows != page.want || err != nil {
				t.Errorf("%s: %d rows, want %d; %v", page.what, rows, page.want, err)
			}
		}
		first := took[0]
		slices.Sort(took)
		note(page.what, "%.1f ms (the first %.1f, the slowest %.1f)", ms(took[askedTimes/2]), ms(first), ms(took[askedTimes-1]))
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// deleteOldest deletes a tenth.
func deleteOldest(t *testing.T, s store.Store, trials *storetest.Trials, n int, note noteFunc) {
	t.Helper()
	began := time.Now()
	deleted, err := s.DeleteBefore(t.Context(), trials.StartedAt(n/10))
	if deleted != n/10 || err != nil {
		t.Fatal(deleted, err)
	}
	note(fmt.Sprintf("%d old results are deleted in", deleted), "%.1f s", time.Since(began).Seconds())
	if left, err := s.Count(t.Context(), store.Query{}); left != n-deleted || err != nil {
		t.Error(left, err)
	}
}
