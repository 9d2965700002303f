package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/text"
)

// wholeCampaigns are campaigns to delete with their results and journals.
type wholeCampaigns []store.Campaign

// findCampaigns are those that a person means by texts; with begun also those that only
// have a journal.
func findCampaigns(ctx context.Context, sys *System, st store.Store, texts []string, begun bool) (out wholeCampaigns, err error) {
	for _, text := range texts {
		c, err := findCampaign(ctx, sys, st, text)
		if measure.KindOf(err) == measure.KindNotFound && begun {
			var id string
			if id, err = campaign.FindID(campaignsDir(sys), text); err == nil {
				c = store.Campaign{ID: id}
			}
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(o store.Campaign) bool { return o.ID == c.ID }) {
			out = append(out, c)
		}
	}
	return out, nil
}

// results is how many results the campaigns have.
func (w wholeCampaigns) results(ctx context.Context, st store.Store) (results int, err error) {
	for _, c := range w {
		n, err := st.Count(ctx, store.Query{Campaign: c.ID})
		if err != nil {
			return 0, err
		}
		results += n
	}
	return results, nil
}

// mostNamedCampaigns is how many campaigns a question names.
const mostNamedCampaigns = 5

// args are what messages say of the campaigns.
func (w wholeCampaigns) args(results int) text.Args {
	var ids []string
	open := 0
	for i, c := range w {
		if i < mostNamedCampaigns {
			ids = append(ids, c.ID)
		}
		if c.FinishedAt.IsZero() {
			open++
		}
	}
	return text.Args{"Campaigns": len(w), "Results": results, "Open": open, "IDs": ids, "More": max(len(w)-len(ids), 0)}
}

// agreed asks whether the campaigns may be deleted, unless yes was given.
func (w wholeCampaigns) agreed(ctx context.Context, sys *System, st store.Store, yes bool) (bool, error) {
	results, err := w.results(ctx, st)
	if err != nil {
		return false, err
	}
	return agreedTo(ctx, sys, yes, sys.Catalogue.Sentence("rm.ask", w.args(results)), results)
}

// delete deletes the campaigns, with journals those too. One that is running stays; it is an
// error if there is one, after the others are deleted.
func (w wholeCampaigns) delete(ctx context.Context, sys *System, st store.Store, journals bool) error {
	var running error
	deleted, results := 0, 0
	for _, c := range w {
		if journals { // first: it is the journal that says whether the campaign is running
			err := campaignsDir(sys).Remove(c.ID)
			if measure.KindOf(err) == measure.KindRefused {
				running = measure.Fail(measure.KindRefused, "cli.rm.running", measure.Figures{"campaign": c.ID, "cause": err})
				printError(sys.Catalogue, sys.Stderr, running)
				continue
			}
			if err != nil && measure.KindOf(err) != measure.KindNotFound {
				return err
			}
		}
		n, err := st.DeleteCampaign(ctx, c.ID)
		if err != nil {
			return err
		}
		deleted, results = deleted+1, results+n
	}
	if deleted > 0 {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("deleted.campaigns", text.Args{"Campaigns": deleted, "Results": results}))
	}
	if running != nil {
		return measure.Fail(measure.KindRefused, "cli.rm.kept", measure.Figures{"campaigns": len(w) - deleted})
	}
	return nil
}

// pruneCampaigns deletes the campaigns that started before a time.
func pruneCampaigns(cmd *cobra.Command, sys *System, st store.Store, f pruneFlags) error {
	before, err := when(sys.Now(), "older-than", f.olderThan)
	if err != nil {
		return err
	}
	page, err := st.Campaigns(cmd.Context(), store.CampaignQuery{})
	if err != nil {
		return err
	}
	all := page.Items
	if f.store == "" {
		if all, err = withJournals(sys, all); err != nil {
			return err
		}
	}
	old := wholeCampaigns(slices.DeleteFunc(all, func(c store.Campaign) bool { return !c.StartedAt.Before(before) }))
	results, err := old.results(cmd.Context(), st)
	if err != nil {
		return err
	}
	if len(old) == 0 || f.dryRun {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("rm.would", old.args(results)))
		return nil
	}
	if agreed, err := old.agreed(cmd.Context(), sys, st, f.yes); err != nil || !agreed {
		return err
	}
	return old.delete(cmd.Context(), sys, st, f.store == "")
}

// withJournals adds to the campaigns of a store those that only have a journal.
func withJournals(sys *System, all []store.Campaign) ([]store.Campaign, error) {
	kept, err := campaign.Kept(campaignsDir(sys))
	for _, k := range kept {
		if !slices.ContainsFunc(all, func(c store.Campaign) bool { return c.ID == k.ID }) {
			all = append(all, k)
		}
	}
	return all, err
}
