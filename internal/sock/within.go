package sock

import (
	"context"
	"time"
)

// Within sets a deadline by set, a SetDeadline method of a connection whose reads and writes also
// end with ctx. What ends them when ctx ends runs once, and a deadline that is set after that would
// make them wait again; so after the end of ctx the deadline is one that has passed.
func Within(ctx context.Context, set func(time.Time) error, deadline time.Time) {
	_ = set(deadline)
	if ctx.Err() != nil {
		_ = set(past)
	}
}
