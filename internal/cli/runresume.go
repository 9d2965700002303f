package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/text"
)

// left reports whether a campaign has trials to run, or rounds to add.
func left(c *campaign.Campaign, only campaign.Selection, f *runFlags) bool {
	done, failed := c.Done()
	return done < c.Trials() || f.retryFailed && failed > 0 || c.Unfinished(only)
}

// refill adds what a finished campaign's journal has, and the store does not. It is an error
// if nothing is missing, unless the campaign was named.
func refill(ctx context.Context, sys *System, st store.Store, c *campaign.Campaign, f *runFlags) error {
	added, err := c.Refill(ctx, st)
	switch {
	case err != nil:
		return err
	case added > 0:
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("run.refilled", text.Args{"Campaign": c.ID(), "Results": added}))
	case f.campaign == "":
		return measure.Fail(measure.KindNotFound, "cli.run.none_left", measure.Figures{"campaign": c.ID()})
	}
	return nil
}

// resumeCampaign finds the campaign to go on with: the one that is named, or the one
// of the plan's name that was begun last and has something left to do, or else that was begun last,
// which is also the one that gets more rounds.
func resumeCampaign(sys *System, p *campaign.Plan, f *runFlags) (*campaign.Campaign, error) {
	dir := campaignsDir(sys)
	var id string
	if f.campaign != "" {
		var err error
		if id, err = campaign.FindID(dir, f.campaign); err != nil {
			return nil, err
		}
	} else {
		all, err := campaign.Find(dir, p.Campaign)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, measure.Fail(measure.KindNotFound, "cli.run.none_begun", measure.Figures{"campaign": p.Campaign, "plan": p.File})
		}
		i := slices.IndexFunc(all, func(c campaign.Info) bool {
			return c.Open() || f.retryFailed && c.Failed > 0 || f.moreRounds != 0
		})
		id = all[max(i, 0)].Record.ID
		var others []string
		for j, c := range all {
			if j != i && c.Open() {
				others = append(others, c.Record.ID)
			}
		}
		if len(others) > 0 {
			fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("run.resumed", text.Args{"Campaign": id, "Others": others}))
		}
	}
	c, err := campaign.Resume(dir, id, p)
	if err != nil {
		return nil, err
	}
	if f.seedGiven && f.seed != c.Record.Seed {
		_ = c.Close()
		return nil, measure.Fail(measure.KindUsage, "cli.run.other_seed", measure.Figures{
			"campaign": id, "seed": fmt.Sprint(c.Record.Seed), "given": fmt.Sprint(f.seed), // a number of a figure has 53 bits
		})
	}
	if err := addRounds(c, f.moreRounds, sys.Now()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// addRounds adds the rounds that the plan has more than the campaign, and others.
func addRounds(c *campaign.Campaign, more int, now time.Time) error {
	if err := c.RaiseRounds(now); err != nil || more == 0 {
		return err
	}
	return c.AddRounds(more, now)
}
