package sqlstore

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"soku/internal/measure"
	"soku/internal/store"
)

// Results decodes documents on all processors, which takes most of the time, and yields them
// in order. Its goroutines have ended when it returns.
func (s *Store) Results(ctx context.Context, q store.Query, detail store.Detail) iter.Seq2[*measure.Result, error] {
	return func(yield func(*measure.Result, error) bool) {
		sel, err := s.Dialect.selectResults(q)
		if err != nil {
			yield(nil, err)
			return
		}
		sel.joins += " JOIN document AS d ON d.id = r.id"
		st := sel.statement(`r.id, `+s.Dialect.Document, q.Limit)
		rows, err := s.DB.QueryContext(ctx, s.Dialect.SQL(st.Text), st.Args...)
		if err != nil {
			yield(nil, s.Fail(ctx, "store.read_results", measure.Figures{"store": s.Place, "cause": err}))
			return
		}
		defer rows.Close()
		var ahead []*decoding // in the order of the query
		var working sync.WaitGroup
		defer working.Wait()
		first := func() bool {
			d := ahead[0]
			ahead = ahead[1:]
			<-d.done
			if d.err != nil {
				yield(nil, s.unreadable(d.id, d.err))
				return false
			}
			return yield(d.result, nil)
		}
		var broken error
		for rows.Next() {
			d := &decoding{done: make(chan struct{})}
			if err := rows.Scan(&d.id, &d.column); err != nil {
				broken = s.Fail(ctx, "store.read_result", measure.Figures{"result": d.id, "store": s.Place, "cause": err})
				break
			}
			ahead = append(ahead, d)
			working.Go(func() { d.decode(s, detail) })
			if len(ahead) > runtime.GOMAXPROCS(0) && !first() {
				return
			}
		}
		for len(ahead) > 0 {
			if !first() {
				return
			}
		}
		if err := rows.Err(); broken == nil && err != nil {
			broken = s.Fail(ctx, "store.read_results", measure.Figures{"store": s.Place, "cause": err})
		}
		if broken != nil {
			yield(nil, broken)
		}
	}
}

// decoding is a document that is being decoded.
type decoding struct {
	id     string
	column []byte
	done   chan struct{} // closed when the following are set
	result *measure.Result
	err    error
}

func (d *decoding) decode(s *Store, detail store.Detail) {
	defer close(d.done)
	d.result, d.err = s.decode(d.column, detail)
	d.column = nil
}
