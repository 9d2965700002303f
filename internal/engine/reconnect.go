package engine

import (
	"context"
	"net"
	"time"
)

// Reconnect replaces data connections of a session that were cut. The client has Open, the
// server has Take and Finished. The protocol has proven that the client is the session's. All
// functions may be called from several goroutines.
type Reconnect struct {
	// Open makes one attempt to replace the connection of that index, from 0, and returns the
	// progress of the server's end. The session closes what it opens.
	Open func(ctx context.Context, index int, own Progress) (*net.TCPConn, Progress, error)
	// Take passes the connections that a client opens to take, until stop is called, which
	// waits for calls of take.
	Take func(take Take) (stop func())
	// Finished is closed when the client has finished: it has the last answer of this end, or
	// has given its own.
	Finished <-chan struct{}
}

// Take replaces the connection of that index by c. far is the progress of the client's end. It
// calls answer with the progress of this end before anything else is written to c. If it
// fails, the caller closes c.
type Take func(index int, c *net.TCPConn, far Progress, answer func(own Progress) error) error

// Progress is what the receiving end of a connection has when the connection is replaced. Of
// the sending end only Cut counts.
type Progress struct {
	Stages int           // stages that are complete: everything is written and flushed
	Items  int           // received in the next stage over connections of this index: whole files, and the end of the stage as one more
	Cut    time.Duration // since when this end has known of the cut
}

// ReconnectLimit is how long a client tries to replace a connection that was cut: gateways take
// up to a minute to fail over.
const ReconnectLimit = time.Minute

// Shortest and longest time between two attempts.
const (
	RetryAfter = 100 * time.Millisecond
	RetryMost  = time.Second
)

// RetryWait is the time to wait before the next attempt. last is the time that the client waited
// before the previous one.
func RetryWait(last time.Duration) time.Duration {
	return min(max(2*last, RetryAfter), RetryMost)
}
