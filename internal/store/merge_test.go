package store_test

import (
	"context"
	"fmt"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"
	"soku/test/storetest"
)

// putting is a store that counts what is put together.
type putting struct {
	store.Store
	results []int
}

func (p *putting) Put(ctx context.Context, results ...*measure.Result) error {
	p.results = append(p.results, len(results))
	return p.Store.Put(ctx, results...)
}

// A merge holds few results of long tests with many streams at a time, and many of others.
func TestAMergeHoldsResultsByTheirSamples(t *testing.T) {
	for _, c := range []struct{ samples, results, puts int }{{0, 150, 2}, {150_000, 6, 3}} {
		to := &putting{Store: memory.New()}
		m := store.NewMerger(to, false)
		for i := range c.results {
			r := storetest.Result(fmt.Sprintf("r%03d", i), i)
			r.Trial, r.Flows = nil, []measure.Flow{{Streams: []measure.Stream{{Samples: make([]measure.Sample, c.samples)}}}}
			if err := m.Result(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(t.Context()); err != nil || len(to.results) != c.puts || m.Results.New != c.results {
			t.Errorf("%d results of %d samples: put as %v, %d new, %v", c.results, c.samples, to.results, m.Results.New, err)
		}
	}
}
