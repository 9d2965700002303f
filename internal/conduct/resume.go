package conduct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/measure"
)

// left reports whether the campaign has trials to run, or rounds to add.
func (s *Session) left() bool {
	done, failed := s.Campaign.Done()
	return done < s.Campaign.Trials() || s.order.RetryFailed && failed > 0 || s.Campaign.Unfinished(s.order.Only)
}

// refill adds to the store what only the journal of a finished campaign has. It is an error
// if nothing is missing, unless the campaign was named.
func (s *Session) refill(ctx context.Context) error {
	added, err := s.Campaign.Refill(ctx, s.conductor.Store, func(e *measure.Error) {
		s.conductor.watch(campaign.Event{Kind: campaign.EventConflict, Error: e})
	})
	switch {
	case err != nil:
		return err
	case added > 0:
		s.conductor.begun(Beginning{Step: StepRefilled, Campaign: s.Campaign.ID(), Results: added})
	case s.order.Campaign == "":
		return measure.Fail(measure.KindNotFound, "cli.run.none_left", measure.Figures{"campaign": s.Campaign.ID()})
	}
	return nil
}

// resume opens the campaign to go on with: the one that the order names, or of those with the
// plan's name the newest that has something left to do. If none has, or rounds are added, it
// is the newest.
func (s *Session) resume() (*campaign.Campaign, error) {
	o, p, in := s.order, s.order.Plan, s.conductor.Journals
	var id string
	if o.Campaign != "" {
		var err error
		if id, err = campaign.FindID(in, o.Campaign); err != nil {
			return nil, err
		}
	} else {
		found, others, err := ToResume(in, o)
		if err != nil {
			return nil, err
		}
		if id = found.Record.ID; len(others) > 0 {
			s.conductor.begun(Beginning{Step: StepResumed, Campaign: id, Others: others})
		}
	}
	c, err := campaign.Resume(in, id, p)
	if err != nil {
		return nil, err
	}
	if o.Seed != nil && *o.Seed != c.Record.Seed {
		_ = c.Close()
		return nil, measure.Fail(measure.KindUsage, "cli.run.other_seed", measure.Figures{
			"campaign": id, "seed": fmt.Sprint(c.Record.Seed), "given": fmt.Sprint(*o.Seed), // a number of a figure has 53 bits
		})
	}
	if err := addRounds(c, o.MoreRounds, s.conductor.Host.Now()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// ToResume is the campaign that an order goes on with which names none, and the others of its plan that have trials left. Of
// the plan only name and file are read.
func ToResume(in journal.Backend, o Order) (c campaign.Info, others []string, err error) {
	p := o.Plan
	all, err := campaign.Find(in, p.Campaign)
	if err != nil {
		return c, nil, err
	}
	if len(all) == 0 {
		named := func(id string) bool { return measure.CampaignName(id) == p.Campaign }
		return c, nil, cmp.Or(campaign.Unreadable(in, named), error(measure.Fail(measure.KindNotFound, "cli.run.none_begun", measure.Figures{"campaign": p.Campaign, "plan": p.File})))
	}
	i := slices.IndexFunc(all, func(c campaign.Info) bool {
		return c.Open() || o.RetryFailed && c.Failed > 0 || o.MoreRounds != 0
	})
	for j, c := range all {
		if j != i && c.Open() {
			others = append(others, c.Record.ID)
		}
	}
	return all[max(i, 0)], others, nil
}

// addRounds adds the rounds that the plan has more than the campaign, and others. Rounds whose times
// have passed are left out.
func addRounds(c *campaign.Campaign, more int, now time.Time) error {
	if err := c.RaiseRounds(now); err != nil {
		return err
	}
	if more != 0 {
		if err := c.AddRounds(more, now); err != nil {
			return err
		}
	}
	return c.MissRounds(now)
}
