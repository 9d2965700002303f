package server

import (
	"time"

	"soku/internal/measure"
)

// leastOvertime is how long a test of any length may be served beyond the server's limit:
// a client that asks for all of it begins a round trip after its server, and what it sent
// last is still in the queues of the path.
const leastOvertime = time.Second

// LongestServed is how long a test may be served where limit is the longest that a client
// may ask for: a twentieth longer, and at least a second. 0 is no limit, for both.
func LongestServed(limit measure.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return limit.Std() + max(leastOvertime, limit.Std()/20)
}
