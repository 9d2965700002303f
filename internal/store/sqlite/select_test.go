package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
)

// plan is how SQLite answers a statement, a line a step.
func plan(t *testing.T, s *sqlite, st sqlstore.Statement) string {
	t.Helper()
	rows, err := s.DB.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+st.Text, st.Args...)
	if err != nil {
		t.Fatalf("%s: %v", st.Text, err)
	}
	steps, err := sqlstore.Collect(rows, func(scan func(...any) error) (step string, err error) {
		var id, parent, unused int
		return step, scan(&id, &parent, &unused, &step)
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

// A list of the last results must not take longer the more results there are: an
// index gives them in order, so that nothing is sorted.
func TestQueriesAreAnsweredInTheOrderOfAnIndex(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "soku.db")).(*sqlite)
	level := []measure.Level{{Factor: "sku", Value: "ultra"}, {Factor: "zone", Value: "1"}}
	cursor := store.CursorAt(time.Unix(5, 0), "x")
	for _, c := range []struct {
		q     store.Query
		index string
	}{
		{store.Query{}, "result_by_start"},
		{store.Query{OldestFirst: true, After: cursor}, "result_by_start ((started_at,id)>(?,?))"},
		{store.Query{Since: time.Unix(1, 0), Until: time.Unix(9, 0)}, "result_by_start (started_at>? AND started_at<?)"},
		{store.Query{Test: measure.TestTCP}, "result_by_test (test=?)"},
		{store.Query{Test: measure.TestTCP, After: cursor}, "result_by_test (test=? AND (started_at,id)<(?,?))"},
		{store.Query{Campaign: "c"}, "result_by_campaign (campaign=?)"},
		{store.Query{Campaign: "c", Test: measure.TestTCP}, "result_by_campaign (campaign=?)"},
		{store.Query{Campaign: "c", Until: time.Unix(9, 0), After: cursor, OldestFirst: true}, "result_by_campaign (campaign=? AND (started_at,id)>(?,?) AND started_at<?)"},
		{store.Query{ByHand: true}, "result_by_campaign (campaign=?)"},
		{store.Query{Client: "a", Server: "b"}, "result_by_pair (client=? AND server=?)"},
		{store.Query{Client: "a", Server: "b", After: cursor}, "result_by_pair (client=? AND server=? AND (started_at,id)<(?,?))"},
		{store.Query{Client: "a", Server: "b", Test: measure.TestTCP, After: cursor}, "result_by_test_and_pair (test=? AND client=? AND server=? AND (started_at,id)<(?,?))"},
		{store.Query{Client: "a", Server: "b", Campaign: "c"}, "result_by_pair (client=? AND server=?)"},
		{store.Query{Endpoint: "vm"}, "t USING PRIMARY KEY (endpoint=?)"},
		{store.Query{Endpoint: "vm", After: cursor, Test: measure.TestTCP}, "t USING PRIMARY KEY (endpoint=? AND (started_at,result)<(?,?))"},
		{store.Query{Levels: level[:1]}, "t USING PRIMARY KEY (factor=? AND level=?)"},
		{store.Query{Levels: level, Campaign: "c", Since: time.Unix(1, 0)}, "t USING PRIMARY KEY (factor=? AND level=? AND started_at>?)"},
		{store.Query{Levels: level, Endpoint: "vm"}, "USING PRIMARY KEY (factor=? AND level=? AND started_at=? AND result=?)"},
	} {
		t.Run(fmt.Sprintf("%+v", c.q), func(t *testing.T) {
			c.q.Limit = 20
			st, err := dialect.List(c.q)
			if err != nil {
				t.Fatal(err)
			}
			steps := plan(t, s, st)
			whole := c.q.After == "" && c.index == "result_by_start"
			if st, err = dialect.Series(c.q, []string{"goodput_bps"}); err != nil || plan(t, s, st) != steps {
				t.Errorf("figures are answered by\n%s\n(%v), a list by\n%s", plan(t, s, st), err, steps)
			}
			if !strings.Contains(steps, c.index) || strings.Contains(steps, "TEMP B-TREE") || !whole && strings.Contains(steps, "SCAN") {
				t.Errorf("answered by\n%s\nwant %s", steps, c.index)
			}
		})
	}
	for q, index := range map[store.CampaignQuery]string{
		{}:                                 "campaign_by_start",
		{Name: "study"}:                    "campaign_by_name (name=?)",
		{Name: "study", After: cursor}:     "campaign_by_name (name=? AND (started_at,id)<(?,?))",
		{After: cursor}:                    "campaign_by_start ((started_at,id)<(?,?))",
		{IDPrefix: "2026-", Name: "study"}: "(",
	} {
		q.Limit = 20
		st, err := dialect.Campaigns(q)
		if err != nil {
			t.Fatal(err)
		}
		if steps := plan(t, s, st); !strings.Contains(steps, index) || q.IDPrefix == "" && strings.Contains(steps, "TEMP B-TREE") {
			t.Errorf("%+v is answered by\n%s\nwant %s", q, steps, index)
		}
	}
}

// The newest result of each pair must not take longer the more results a pair has.
func TestTheNewestOfEachPairAreFoundByIndexes(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "soku.db")).(*sqlite)
	after := store.Entry{Client: "a", Server: "b"}.PairCursor()
	for _, c := range []struct {
		q     store.PairQuery
		index string
	}{
		{store.PairQuery{}, "newest USING COVERING INDEX result_by_pair (client=? AND server=?)"},
		{store.PairQuery{After: after, Limit: 20}, "newest USING COVERING INDEX result_by_pair (client=? AND server=?)"},
		{store.PairQuery{Test: measure.TestTCP}, "newest USING COVERING INDEX result_by_test_and_pair (test=? AND client=? AND server=?)"},
	} {
		st, err := dialect.Newest(c.q)
		if err != nil {
			t.Fatal(err)
		}
		steps := plan(t, s, st)
		if !strings.Contains(steps, c.index) || strings.Contains(steps, "SCAN result") || strings.Count(steps, "TEMP B-TREE") != 1 || // of the pairs
			strings.Count(steps, "SEARCH result USING COVERING INDEX result_by_") != 2 || strings.Count(steps, "(client,server)>") != 2 { // the first pair and the next
			t.Errorf("%+v is answered by\n%s", c.q, steps)
		}
	}
}

// An abbreviation fits few results, which are sorted when they are found.
func TestAnAbbreviationIsFoundByTheIdentitysIndex(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "soku.db")).(*sqlite)
	for _, q := range []store.Query{{IDPrefix: "abcd", Limit: 4}, {IDPrefix: "abcd", OldestFirst: true}} {
		st, err := dialect.List(q)
		if err != nil {
			t.Fatal(err)
		}
		if steps := plan(t, s, st); !strings.Contains(steps, "PRIMARY KEY (id>? AND id<?)") {
			t.Errorf("%+v is answered by\n%s", q, steps)
		}
	}
}

// Columns of figures are for users who open the file with other tools.
func TestFiguresAreColumns(t *testing.T) {
	path, _ := schema1(t, 0)
	s := opened(t, path).(*sqlite)
	for column, test := range map[string]measure.Test{
		"goodput_bps": measure.TestTCP, "loss_ratio": measure.TestUDP, "rtt_p50_ns": measure.TestLatency, "rtt_p99_ns": measure.TestPing,
		"connections_per_second": measure.TestConnect, "path_mtu_bytes": measure.TestMTU, "hops": measure.TestTrace,
	} {
		page, err := s.List(t.Context(), store.Query{Test: test})
		if err != nil {
			t.Fatal(err)
		}
		want, found := 0.0, 0
		for _, e := range page.Items {
			if v, ok := e.Figures[column]; ok {
				want, found = want+v, found+1
			}
		}
		var sum float64
		var n int
		if err := s.DB.QueryRowContext(t.Context(), `SELECT total(`+column+`), count(`+column+`) FROM result WHERE test = ?`, test).Scan(&sum, &n); err != nil {
			t.Fatal(err)
		}
		if found == 0 || n != found || sum < want*0.999999 || sum > want*1.000001 {
			t.Errorf("%s of %s: %d values, in all %g; entries have %d, %g", column, test, n, sum, found, want)
		}
	}
}
