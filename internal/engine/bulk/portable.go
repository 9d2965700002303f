//go:build !linux

package bulk

import (
	"context"
	"sync"
)

func (s *Sink) receivers(ctx context.Context, all *sync.WaitGroup) []receiver {
	return []receiver{&readers{Sink: s, ctx: ctx, all: all}}
}

func (s *Source) senderLoops(ctx context.Context, all *sync.WaitGroup) { s.write(ctx, all) }
