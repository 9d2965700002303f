package store

import (
	"context"
	"iter"
)

// pageItems is how many entries [Entries] has in memory at a time.
const pageItems = 1000

// Entries returns the entries of what the query selects, one after another; it
// reads them page by page. An error is the last element.
func Entries(ctx context.Context, s Store, q Query) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		left := q.Limit
		for {
			q.Limit = pageItems
			if left > 0 {
				q.Limit = min(left, pageItems)
			}
			page, err := s.List(ctx, q)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range page.Items {
				if !yield(e, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == "" || left == len(page.Items) {
				return
			}
			left = max(left-len(page.Items), 0)
		}
	}
}

// IDs returns the identities of what the query selects, in its order.
func IDs(ctx context.Context, s Store, q Query) (ids []string, err error) {
	for e, err := range Entries(ctx, s, q) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, e.ID)
	}
	return ids, nil
}
