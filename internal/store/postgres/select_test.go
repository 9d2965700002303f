package postgres_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
	"soku/test/postgresql"
	"soku/test/tier"
)

// many are results of 100 pairs, 4 tests and 20 campaigns.
const many = `INSERT INTO result SELECT 'r' || n, n, (ARRAY['tcp', 'udp', 'latency', 'ping'])[n / 100 % 4 + 1], 'c' || n % 10, 's' || n / 10 % 10, '', '', 1,
	'campaign' || n / 2000, '', '', 1, 1, 1, '', '', '{"goodput_bps": 1}' FROM generate_series(1, 40000) AS n`

// A page must not take longer the more results there are: an index gives its rows in order.
func TestPagesOfALargeStoreAreAnsweredByIndexes(t *testing.T) {
	tier.SpendsSeconds(t)
	db, _ := sqlstore.Of(open(t, postgresql.Database(t)))
	for _, step := range []string{many, `ANALYZE`} {
		if _, err := db.DB.ExecContext(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	cursor := store.CursorAt(time.Unix(0, 30_000), "r30000")
	list := func(q store.Query) sqlstore.Statement {
		q.Limit = 20
		st, err := db.Dialect.Series(q, []string{"goodput_bps"})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	newest := func(q store.PairQuery) sqlstore.Statement {
		q.Limit = 20
		st, err := db.Dialect.Newest(q)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	sorts := regexp.MustCompile(`\bSort\b`)
	for name, c := range map[string]struct {
		st    sqlstore.Statement
		index string
	}{
		"all":                     {list(store.Query{Since: time.Unix(0, 5)}), "result_by_start"},
		"next page of all":        {list(store.Query{After: cursor, OldestFirst: true}), "result_by_start"},
		"campaign and test":       {list(store.Query{Campaign: "campaign3", Test: measure.TestTCP}), "result_by_campaign"},
		"campaign":                {list(store.Query{Campaign: "campaign3"}), "result_by_campaign"},
		"next page of a campaign": {list(store.Query{Campaign: "campaign14", After: cursor}), "result_by_campaign"},
		"pair":                    {list(store.Query{Client: "c1", Server: "s2"}), "result_by_pair"},
		"next page of a pair":     {list(store.Query{Client: "c1", Server: "s2", After: cursor}), "result_by_pair"},
		"pair and test":           {list(store.Query{Client: "c1", Server: "s2", Test: measure.TestTCP, After: cursor}), "result_by_test_and_pair"},
		"newest":                  {newest(store.PairQuery{}), "result_by_pair"},
		"newest of a test":        {newest(store.PairQuery{Test: measure.TestTCP}), "result_by_test_and_pair"},
	} {
		rows, err := db.DB.QueryContext(t.Context(), "EXPLAIN "+db.Dialect.SQL(c.st.Text), c.st.Args...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		steps, err := sqlstore.Collect(rows, func(scan func(...any) error) (step string, err error) { return step, scan(&step) })
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(steps, "\n")
		if !strings.Contains(plan, c.index) || strings.Contains(plan, "Seq Scan on result") || !strings.HasPrefix(name, "newest") && sorts.MatchString(plan) {
			t.Errorf("%s is answered by\n%s", name, plan)
		}
	}
}
