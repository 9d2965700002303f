package filecopy

import (
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// cuts are the cuts of all connections of an end.
type cuts struct {
	mu    sync.Mutex
	stage string
	start time.Time // of the stage
	n     int       // connections that were replaced
	list  []measure.CopyCut
}

func newCuts() *cuts { return &cuts{start: sock.Now()} }

// begin says which stage runs from now on.
func (c *cuts) begin(stage string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage, c.start = stage, sock.Now()
}

// count counts a connection that is replaced, and fails if there were too many.
func (c *cuts) count(peer string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n >= measure.MostCopyCuts {
		return measure.Fail(measure.KindBroken, "copy.cuts", measure.Figures{"peer": peer, "most": measure.MostCopyCuts})
	}
	c.n++
	return nil
}

// add adds a cut that ends now. The source sends resent bytes of contents twice.
func (c *cuts) add(stream int, lasted time.Duration, resent int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, measure.CopyCut{
		Stage: c.stage, Stream: stream, StartNs: max(0, int64(sock.Since(c.start)-lasted)), DurationNs: int64(lasted), ResentBytes: resent,
	})
}

// all are the cuts until now.
func (c *cuts) all() []measure.CopyCut {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]measure.CopyCut(nil), c.list...)
}
