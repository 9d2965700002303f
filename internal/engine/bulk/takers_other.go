//go:build !linux

package bulk

import (
	"context"
	"sync"
)

func (s *Sink) takers(ctx context.Context, all *sync.WaitGroup) []taker {
	return []taker{&readers{Sink: s, ctx: ctx, all: all}}
}
