// Package memory is the store (package store) in the memory of this process. It
// is for tests, and for whatever needs a store that ends with the process.
//
// The package starts no goroutines.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
)

// memory is a [store.Store]. It keeps documents as their JSON, so that a caller
// cannot change a stored result through a pointer.
type memory struct {
	mu        sync.Mutex
	closed    bool
	results   map[string]store.Row
	campaigns map[string]store.Campaign
}

// New returns an empty store.
func New() store.Store {
	return &memory{results: map[string]store.Row{}, campaigns: map[string]store.Campaign{}}
}

func (*memory) Name() string { return "in memory" }

// locked runs work if the store is open and ctx has not ended.
func (m *memory) locked(ctx context.Context, work func() error) error {
	if ctx.Err() != nil {
		return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return measure.Fail(measure.KindStore, "store.closed", measure.Figures{"store": m.Name()})
	}
	return work()
}

func (m *memory) Put(ctx context.Context, results ...*measure.Result) error {
	rows, err := store.RowsOf(m.Name(), results)
	if err != nil {
		return err
	}
	return m.put(ctx, rows)
}

func (m *memory) PutDocuments(ctx context.Context, documents ...store.Document) error {
	rows, err := store.DocumentRows(ctx, documents)
	if err != nil {
		return err
	}
	return m.put(ctx, rows)
}

func (m *memory) put(ctx context.Context, rows []store.Row) error {
	return m.locked(ctx, func() error {
		fresh := map[string]store.Row{}
		for _, r := range rows {
			there, known := m.results[r.ID]
			if !known {
				there, known = fresh[r.ID]
			}
			if !known {
				r.Levels, r.Document = slices.Clone(r.Levels), bytes.Clone(r.Document)
				fresh[r.ID] = r
			} else if err := store.Conflict(m.Name(), r.ID, r.Document, there.Document); err != nil {
				return err
			}
		}
		maps.Copy(m.results, fresh)
		return nil
	})
}

func (m *memory) Get(ctx context.Context, id string) (r *measure.Result, err error) {
	err = m.locked(ctx, func() error {
		k, there := m.results[id]
		if !there {
			return store.NoResult(m.Name(), id)
		}
		r, err = decode(k, store.Whole)
		return err
	})
	return r, err
}

func decode(k store.Row, detail store.Detail) (*measure.Result, error) {
	document, err := k.Document.JSON()
	if err != nil {
		return nil, err
	}
	return detail.Decode(document)
}

func (m *memory) Delete(ctx context.Context, ids []string) (deleted int, err error) {
	err = m.locked(ctx, func() error {
		before := len(m.results)
		for _, id := range ids {
			delete(m.results, id)
		}
		deleted = before - len(m.results)
		return nil
	})
	return deleted, err
}

func (m *memory) DeleteBefore(ctx context.Context, t time.Time) (deleted int, err error) {
	err = m.locked(ctx, func() error {
		before := len(m.results)
		maps.DeleteFunc(m.results, func(_ string, k store.Row) bool { return store.Nanos(k.StartedAt) < store.Nanos(t) })
		deleted = before - len(m.results)
		return nil
	})
	return deleted, err
}

func (m *memory) Missing(ctx context.Context, ids []string) (missing []string, err error) {
	err = m.locked(ctx, func() error {
		for _, id := range ids {
			if _, there := m.results[id]; !there {
				missing = append(missing, id)
			}
		}
		return nil
	})
	return missing, err
}

// chosen is what the query selects, in its order.
func (m *memory) chosen(ctx context.Context, q store.Query) (out []store.Row, err error) {
	if err := store.CheckLimit(q.Limit); err != nil {
		return nil, err
	}
	start, id, err := position(q.After)
	if err != nil {
		return nil, err
	}
	turn := -1 // the latest first
	if q.OldestFirst {
		turn = 1
	}
	order := func(k store.Row, start int64, id string) int {
		return turn * cmp.Or(cmp.Compare(store.Nanos(k.StartedAt), start), strings.Compare(k.ID, id))
	}
	err = m.locked(ctx, func() error {
		for _, k := range m.results {
			if matches(k, q) && (q.After == "" || order(k, start, id) > 0) {
				out = append(out, k)
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b store.Row) int { return order(a, store.Nanos(b.StartedAt), b.ID) })
	return out, err
}

func position(c store.Cursor) (start int64, id string, err error) {
	if c == "" {
		return 0, "", nil
	}
	return c.Position()
}

func matches(k store.Row, q store.Query) bool {
	e := k.Entry
	start := store.Nanos(e.StartedAt)
	for _, l := range q.Levels {
		if !slices.Contains(k.Levels, l) {
			return false
		}
	}
	return strings.HasPrefix(e.ID, q.IDPrefix) &&
		(q.Client == "" || e.Client == q.Client) &&
		(q.Server == "" || e.Server == q.Server) &&
		(q.Campaign == "" || e.Campaign == q.Campaign) &&
		(!q.ByHand || e.Campaign == "") &&
		(q.Test == "" || e.Test == q.Test) &&
		(q.Endpoint == "" || slices.Contains(k.Endpoints, q.Endpoint)) &&
		(q.Since.IsZero() || start >= store.Nanos(q.Since)) &&
		(q.Until.IsZero() || start < store.Nanos(q.Until))
}

func (m *memory) List(ctx context.Context, q store.Query) (store.Page[store.Entry], error) {
	chosen, err := m.chosen(ctx, q)
	if err != nil {
		return store.Page[store.Entry]{}, err
	}
	entries := make([]store.Entry, len(chosen))
	for i, k := range chosen {
		entries[i] = k.Entry
		entries[i].Figures = maps.Clone(k.Figures)
	}
	return store.PageOf(entries, q.Limit, store.Entry.Cursor), nil
}

func (m *memory) Series(ctx context.Context, q store.Query, keys ...string) (store.Page[store.Point], error) {
	chosen, err := m.chosen(ctx, q)
	if err != nil {
		return store.Page[store.Point]{}, err
	}
	points := make([]store.Point, len(chosen))
	for i, k := range chosen {
		points[i] = store.Point{ID: k.ID, StartedAt: k.StartedAt, Values: make([]float64, len(keys))}
		for n, key := range keys {
			var found bool
			if points[i].Values[n], found = k.Figures[key]; !found {
				points[i].Values[n] = math.NaN()
			}
		}
	}
	return store.PageOf(points, q.Limit, store.Point.Cursor), nil
}

func (m *memory) Newest(ctx context.Context, q store.PairQuery) (store.Page[store.Entry], error) {
	none := store.Page[store.Entry]{}
	if err := store.CheckLimit(q.Limit); err != nil {
		return none, err
	}
	client, server, err := q.After.Pair()
	if err != nil {
		return none, err
	}
	after := [2]string{client, server}
	all, err := m.List(ctx, store.Query{Test: q.Test})
	if err != nil {
		return none, err
	}
	seen := map[[2]string]bool{}
	newest := slices.DeleteFunc(all.Items, func(e store.Entry) bool {
		pair := [2]string{e.Client, e.Server}
		drop := seen[pair] || q.After != "" && slices.Compare(pair[:], after[:]) <= 0
		seen[pair] = true
		return drop
	})
	slices.SortFunc(newest, func(a, b store.Entry) int {
		return cmp.Or(strings.Compare(a.Client, b.Client), strings.Compare(a.Server, b.Server))
	})
	return store.PageOf(newest, q.Limit, store.Entry.PairCursor), nil
}

func (m *memory) Count(ctx context.Context, q store.Query) (int, error) {
	q.After = ""
	chosen, err := m.chosen(ctx, q)
	return len(chosen), err
}

func (m *memory) Results(ctx context.Context, q store.Query, detail store.Detail) iter.Seq2[*measure.Result, error] {
	return func(yield func(*measure.Result, error) bool) {
		chosen, err := m.chosen(ctx, q)
		if err != nil {
			yield(nil, err)
			return
		}
		for i, k := range chosen {
			if q.Limit > 0 && i == q.Limit {
				return
			}
			var r *measure.Result
			err := m.locked(ctx, func() (err error) {
				r, err = decode(k, detail)
				return err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (m *memory) PutCampaign(ctx context.Context, c store.Campaign) error {
	if err := store.CheckCampaign(c); err != nil {
		return err
	}
	c.StartedAt, c.FinishedAt = store.Moment(store.Nanos(c.StartedAt)), store.Moment(store.Nanos(c.FinishedAt))
	return m.locked(ctx, func() error {
		m.campaigns[c.ID] = c
		return nil
	})
}

func (m *memory) Campaign(ctx context.Context, id string) (c store.Campaign, err error) {
	err = m.locked(ctx, func() error {
		var there bool
		if c, there = m.campaigns[id]; !there {
			return store.NoCampaign(m.Name(), id)
		}
		return nil
	})
	return c, err
}

func (m *memory) DeleteCampaign(ctx context.Context, id string) (results int, err error) {
	err = m.locked(ctx, func() error {
		before := len(m.results)
		maps.DeleteFunc(m.results, func(_ string, k store.Row) bool { return id != "" && k.Campaign == id })
		delete(m.campaigns, id)
		results = before - len(m.results)
		return nil
	})
	return results, err
}

func (m *memory) Campaigns(ctx context.Context, q store.CampaignQuery) (store.Page[store.Campaign], error) {
	none := store.Page[store.Campaign]{}
	if err := store.CheckLimit(q.Limit); err != nil {
		return none, err
	}
	start, id, err := position(q.After)
	if err != nil {
		return none, err
	}
	order := func(c store.Campaign, start int64, id string) int {
		return -cmp.Or(cmp.Compare(store.Nanos(c.StartedAt), start), strings.Compare(c.ID, id))
	}
	chosen := []store.Campaign{}
	err = m.locked(ctx, func() error {
		for _, c := range m.campaigns {
			if strings.HasPrefix(c.ID, q.IDPrefix) && (q.Name == "" || c.Name == q.Name) && (q.After == "" || order(c, start, id) > 0) {
				chosen = append(chosen, c)
			}
		}
		return nil
	})
	if err != nil {
		return none, err
	}
	slices.SortStableFunc(chosen, func(a, b store.Campaign) int { return order(a, store.Nanos(b.StartedAt), b.ID) })
	return store.PageOf(chosen, q.Limit, store.Campaign.Cursor), nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
