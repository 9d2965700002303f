package campaigns

import (
	"time"

	"soku/internal/campaign/journal"
)

// Ordered are the results of trials that campaigns begun since a time have started, and whose results no journal has,
// also of those that are repeated. A hub that starts asks for them: an agent may still have one.
func Ordered(in journal.Backend, since time.Time) (map[string]bool, error) {
	ids, err := in.IDs()
	if err != nil {
		return nil, err
	}
	started := map[string]bool{}
	for _, id := range ids {
		if id < since.UTC().Format("20060102-150405") { // with which the identity of a campaign begins
			continue
		}
		err := in.Read(id, func(r journal.Record) error {
			if r.Kind == journal.RecordTrialStarted {
				started[r.ResultID] = true
			}
			for _, finished := range append(r.Group, r) {
				if finished.Result != nil {
					delete(started, finished.Result.ID)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return started, nil
}
