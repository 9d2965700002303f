package engine

import (
	"context"
	"time"

	"soku/internal/sock"
)

// Start is the moment at which a protocol starts the flows of a test. Begin is called at
// most once; Await is safe for concurrent use.
type Start struct {
	begun chan struct{}
	at    time.Time
}

// NewStart returns a Start that is still to come.
func NewStart() *Start { return &Start{begun: make(chan struct{})} }

// Begin starts the flows. Their clock starts at the given time.
func (s *Start) Begin(at time.Time) {
	s.at = at
	close(s.begun)
}

// Await waits for Begin and returns its time. If ctx ends first, it stops g with the cause
// and returns the zero time, as it does immediately for a nil Start.
func (s *Start) Await(ctx context.Context, g *sock.Group) time.Time {
	if s == nil {
		return time.Time{}
	}
	select {
	case <-s.begun:
		return s.at
	case <-ctx.Done():
		g.Stop(context.Cause(ctx))
		return time.Time{}
	}
}
