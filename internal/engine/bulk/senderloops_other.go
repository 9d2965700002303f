//go:build !linux

package bulk

import (
	"context"
	"sync"
)

func (s *Source) senderLoops(ctx context.Context, all *sync.WaitGroup) { s.write(ctx, all) }
