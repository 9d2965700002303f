package sqlstore

import (
	"context"
	"database/sql"
	"math"
	"strings"

	"soku/internal/measure"
	"soku/internal/store"
)

// Series is the statement of [store.Store].Series, with the limit of [Dialect.List].
func (d Dialect) Series(q store.Query, keys []string) (Statement, error) {
	sel, err := d.selectResults(q)
	st := sel.statement(`r.id, r.started_at`+strings.Repeat(`, r.figures ->> CAST(? AS text)`, len(keys)), more(q.Limit))
	args := make([]any, len(keys), len(keys)+len(st.Args))
	for i, k := range keys {
		args[i] = d.text(k)
	}
	st.Args = append(args, st.Args...)
	return st, err
}

// Series returns a page of figures of what the query selects.
func (s *Store) Series(ctx context.Context, q store.Query, keys ...string) (store.Page[store.Point], error) {
	st, err := s.Dialect.Series(q, keys)
	if err != nil {
		return store.Page[store.Point]{}, err
	}
	points, err := query(ctx, s, st, func(scan func(...any) error) (store.Point, error) {
		var p store.Point
		var started int64
		values := make([]sql.NullFloat64, len(keys))
		to := []any{&p.ID, &started}
		for i := range values {
			to = append(to, &values[i])
		}
		err := scan(to...)
		s.Dialect.plain(&p.ID)
		p.StartedAt, p.Values = store.Moment(started), make([]float64, len(keys))
		for i, v := range values {
			if p.Values[i] = v.Float64; !v.Valid {
				p.Values[i] = math.NaN()
			}
		}
		return p, err
	})
	if err != nil {
		return store.Page[store.Point]{}, s.Fail(ctx, "store.list_results", measure.Figures{"store": s.Place, "cause": err})
	}
	return store.PageOf(points, q.Limit, store.Point.Cursor), nil
}
