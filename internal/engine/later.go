package engine

import (
	"context"

	"soku/internal/panics"
)

// Background returns a function for [Flow.Later] and one that ends what it runs and waits for it,
// which may be called again.
func Background(ctx context.Context) (later func(func(context.Context)), end func()) {
	ctx, cancel := context.WithCancel(ctx)
	all := panics.Group{Stop: cancel}
	return func(work func(context.Context)) { all.Go(func() { work(ctx) }) }, func() {
		cancel()
		all.Wait()
	}
}
