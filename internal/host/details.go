package host

import (
	"context"
	"time"

	"soku/internal/measure"
)

// detailsTime bounds [Details].
const detailsTime = 250 * time.Millisecond

// Details reads what [Facts] leaves out because it takes longer: some milliseconds, and in
// a cloud the answer of its metadata service. facts are those of this host and the path. It
// is meant for the time when no packets are measured. The path itself is asked for by [RouteMTU].
//
// It never fails and takes less than 300 ms: a source that cannot be read, or does not
// answer in time, has no members. It starts goroutines, each of which ends with its read;
// one that hangs in the system stays until the system lets it go. They describe the
// interface in the network namespace of the process. It is safe for concurrent use.
func Details(ctx context.Context, facts measure.Facts) measure.Details {
	d := gather(ctx, detailsTime, append(detailSources(facts), cloudSource(facts)))
	if d.Cloud != nil && d.Cloud.Accelerated == nil {
		d.Cloud.Accelerated = accelerated(d.Cloud.Provider, facts.Driver, d.NIC)
	}
	return d
}

// detailSource reads some members. What it returns sets them, or is nil.
type detailSource func(context.Context) func(*measure.Details)

// gather asks all sources concurrently and returns what they report within most.
func gather(ctx context.Context, most time.Duration, sources []detailSource) measure.Details {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	answers := make(chan func(*measure.Details), len(sources))
	for _, read := range sources {
		go func() { answers <- read(ctx) }()
	}
	var d measure.Details
	for range sources {
		select {
		case set := <-answers:
			if set != nil {
				set(&d)
			}
		case <-ctx.Done():
			return d
		}
	}
	return d
}
