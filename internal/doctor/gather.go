package doctor

import (
	"context"
	"time"
)

// source reads some members of an [Extra]. What it returns sets them.
type source func() func(*Extra)

// extraTime bounds [gather]: a table of a large firewall takes a tenth of a second.
const extraTime = time.Second

// gather asks all sources concurrently and returns what they report before ctx ends. A source
// that hangs in a system call keeps its goroutine until the call returns.
func gather(ctx context.Context, sources []source) *Extra {
	ctx, cancel := context.WithTimeout(ctx, extraTime)
	defer cancel()
	answers := make(chan func(*Extra), len(sources))
	for _, read := range sources {
		go func() { answers <- read() }()
	}
	all := &Extra{FirewallNot: Unreadable}
	for range sources {
		select {
		case set := <-answers:
			set(all)
		case <-ctx.Done():
			return all
		}
	}
	return all
}
