package engine

import (
	"context"
	"net"
	"time"
)

// Reconnect opens data connections of a session again after they were cut. Of its functions
// the client has Open and Watch, and the server Take and Lost. The protocol
// has proven that the client is the session's. All may be called from several goroutines.
type Reconnect struct {
	// Open makes one attempt to replace the connection of that index, from 0, and returns
	// the state of the server's end. What it opens is closed with the session.
	Open func(ctx context.Context, index int, own Progress) (*net.TCPConn, Progress, error)
	// Watch makes lost receive the connections that the server has found to be cut, until
	// stop is called, which waits for calls of lost.
	Watch func(lost func(index int)) (stop func())
	// Lost tells the client that a connection is cut. It does not wait.
	Lost func(index int)
	// Finished of a server is closed when the client has finished: it has the last answer of
	// this end, or has given its own. nil: nothing tells.
	Finished <-chan struct{}
	// Take makes take receive the connections that a client opened again, with the state of
	// the client's end. take must call answer with the state of this end before it lets
	// anybody write to c, and leaves c to the caller if it fails. stop waits for calls of
	// take and ends them.
	Take func(take func(index int, c *net.TCPConn, far Progress, answer func(own Progress) error) error) (stop func())
}

// ReopenLimit is how long a client tries to open a connection again that was cut: gateways take
// up to a minute to fail over.
const ReopenLimit = time.Minute

// Shortest and longest time between two attempts.
const (
	ReopenAfter = 100 * time.Millisecond
	ReopenMost  = time.Second
)

// ReopenWait is how long to wait for the next attempt after one before which a client waited for
// last.
func ReopenWait(last time.Duration) time.Duration {
	return min(max(2*last, ReopenAfter), ReopenMost)
}

// Progress is where one end of a connection is when it is opened again.
type Progress struct {
	// Received are all bytes that this end has read from the connection and from those
	// that it replaces.
	Received int64
	// Cut is for how long this end has known that the connection is cut.
	Cut time.Duration
}
