package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"soku/internal/measure"
	"soku/internal/store"
)

// Newest is the statement of [store.Store].Newest, whose limit is one more to find out whether a page follows. It steps
// from a pair to the next in an index, so that it reads as many rows as there are pairs, not results. SQLite compares only
// the first column of two by an index where the others are columns, too: so these are made expressions.
func (d Dialect) Newest(q store.PairQuery) (Statement, error) {
	if err := store.CheckLimit(q.Limit); err != nil {
		return Statement{}, err
	}
	client, server, err := q.After.Pair()
	if err != nil {
		return Statement{}, err
	}
	of, is := ``, []any{} // the test
	if q.Test != "" {
		of, is = `test = ? AND `, []any{string(q.Test)}
	}
	beyond, page := `>`, ``
	if q.After == "" {
		beyond = `>=` // a pair may have two empty names
	}
	if q.Limit > 0 {
		page = fmt.Sprintf(` WHERE pair.place < %d`, more(q.Limit))
	}
	return Statement{`WITH RECURSIVE pair (id, place) AS (
		SELECT (SELECT id FROM result WHERE ` + of + `(client, server) ` + beyond + ` (?, ?) ORDER BY client, server LIMIT 1), 1
		UNION ALL
		SELECT (SELECT id FROM result WHERE ` + of + `(client, server) > (before.client || '', before.server || '') ORDER BY client, server LIMIT 1), pair.place + 1
			FROM pair JOIN result AS before ON before.id = pair.id` + page + `)
		SELECT ` + entryColumns + ` FROM pair JOIN result AS p ON p.id = pair.id JOIN result AS r ON r.id = (
			SELECT newest.id FROM result AS newest WHERE ` + of + `newest.client = p.client AND newest.server = p.server
			ORDER BY newest.started_at DESC, newest.id DESC LIMIT 1)
		ORDER BY pair.place`, slices.Concat(is, []any{d.text(client), d.text(server)}, is, is)}, nil
}

// Newest returns a page of the newest results of pairs.
func (s *Store) Newest(ctx context.Context, q store.PairQuery) (store.Page[store.Entry], error) {
	st, err := s.Dialect.Newest(q)
	if err != nil {
		return store.Page[store.Entry]{}, err
	}
	entries, err := query(ctx, s, st, s.Dialect.scanEntry)
	if err != nil {
		return store.Page[store.Entry]{}, s.Fail(ctx, "store.list_results", measure.Figures{"store": s.Place, "cause": err})
	}
	return store.PageOf(entries, q.Limit, store.Entry.PairCursor), nil
}
