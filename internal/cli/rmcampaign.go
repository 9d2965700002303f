package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"soku/internal/archive"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/text"
)

// mostNamedCampaigns is how many campaigns a question names.
const mostNamedCampaigns = 5

// campaignArgs are the figures of messages about campaigns and the number of their results.
func campaignArgs(campaigns []store.Campaign, results int) text.Args {
	var ids []string
	open := 0
	for i, c := range campaigns {
		if i < mostNamedCampaigns {
			ids = append(ids, c.ID)
		}
		if c.FinishedAt.IsZero() {
			open++
		}
	}
	return text.Args{"Campaigns": len(campaigns), "Results": results, "Open": open, "IDs": ids, "More": max(len(campaigns)-len(ids), 0)}
}

// agreedToCampaigns asks whether campaigns may be deleted, unless yes was given.
func agreedToCampaigns(ctx context.Context, sys *System, a archive.Archive, campaigns []store.Campaign, yes bool) (bool, error) {
	results, err := a.Results(ctx, campaigns)
	if err != nil {
		return false, err
	}
	return agreedTo(ctx, sys, yes, sys.Catalogue.Sentence("rm.ask", campaignArgs(campaigns, results)), results)
}

// deleteCampaigns deletes campaigns and prints how many. It is an error if one is running.
func deleteCampaigns(ctx context.Context, sys *System, a archive.Archive, campaigns []store.Campaign) error {
	d, err := a.Delete(ctx, campaigns, func(running *measure.Error) { printError(sys.Catalogue, sys.Stderr, running) })
	if err != nil {
		return err
	}
	if d.Campaigns > 0 {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("deleted.campaigns", text.Args{"Campaigns": d.Campaigns, "Results": d.Results}))
	}
	if kept := len(campaigns) - d.Campaigns; kept > 0 {
		return measure.Fail(measure.KindRefused, "cli.rm.kept", measure.Figures{"campaigns": kept})
	}
	return nil
}

// pruneCampaigns deletes the campaigns that started before a time.
func pruneCampaigns(cmd *cobra.Command, sys *System, st store.Store, f pruneFlags) error {
	before, err := when(sys.Now(), "older-than", f.olderThan)
	if err != nil {
		return err
	}
	a := archiveOf(sys, st, f.store)
	old, err := a.StartedBefore(cmd.Context(), before)
	if err != nil {
		return err
	}
	results, err := a.Results(cmd.Context(), old)
	if err != nil {
		return err
	}
	if len(old) == 0 || f.dryRun {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("rm.would", campaignArgs(old, results)))
		return nil
	}
	if agreed, err := agreedToCampaigns(cmd.Context(), sys, a, old, f.yes); err != nil || !agreed {
		return err
	}
	return deleteCampaigns(cmd.Context(), sys, a, old)
}
