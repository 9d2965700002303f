package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"soku/internal/archive"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/text"
)

func newRmCommand(sys *System) *cobra.Command {
	var file string
	var campaigns []string
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm RESULT...",
		Short: "Delete results or campaigns",
		Long: `Deletes results from the store after a question; --yes asks none. RESULT is an
identity, the beginning of one (4 characters), or last. A campaign that is
resumed puts its results back from its journal. --campaign deletes a whole
campaign: its results and its journal. One that is running is not deleted.`,
		Annotations: storesResults,
		Example: `  soku rm 01a2123790b8
  soku rm last
  soku rm --campaign 20261125-101500-gateways-3f9a1c`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(campaigns) > 0 {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			st, err := openStore(cmd.Context(), sys, file)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, st.Close()) }()
			var ids, named []string
			for _, arg := range args { // all are found before one is deleted
				r, err := store.FindResult(cmd.Context(), st, arg)
				if err != nil {
					return err
				}
				if slices.Contains(ids, r.ID) {
					continue
				}
				if ids = append(ids, r.ID); len(ids) <= mostNamed {
					named = append(named, nameOfResult(sys.Catalogue, store.EntryOf(r)))
				}
			}
			a := archiveOf(sys, st, file)
			whole, err := a.FindAll(cmd.Context(), campaigns)
			if err != nil {
				return err
			}
			if len(whole) > 0 {
				if agreed, err := agreedToCampaigns(cmd.Context(), sys, a, whole, yes); err != nil || !agreed {
					return err
				}
			}
			if len(ids) > 0 {
				question := sys.Catalogue.Sentence("rm.ask.results", text.Args{"Results": len(ids), "Named": named, "More": len(ids) - len(named)})
				if agreed, err := agreedTo(cmd.Context(), sys, yes, question, len(ids)); err != nil || !agreed {
					return err
				}
				n, err := st.Delete(cmd.Context(), ids)
				if err != nil {
					return err
				}
				fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("deleted.results", text.Args{"N": n}))
			}
			return deleteCampaigns(cmd.Context(), sys, a, whole)
		},
		ValidArgsFunction: completeResults(sys, &file),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&campaigns, "campaign", nil, "delete this campaign, its results and its journal: its identity, name, or last; may be repeated")
	flags.BoolVar(&yes, "yes", false, "do not ask")
	complete(cmd, "campaign", completeCampaigns(sys))
	addStoreFlag(cmd, &file)
	return cmd
}

type pruneFlags struct {
	olderThan string
	campaigns bool
	filter    filterFlags
	yes       bool
	dryRun    bool
	store     string
}

func newPruneCommand(sys *System) *cobra.Command {
	f := pruneFlags{}
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Delete old results",
		Long: `Deletes results that started before a time, after a question; --yes asks none.
Campaigns and their journals stay: one that is resumed puts its results back.
--campaigns deletes whole campaigns instead that started before the time, with
all their results and their journals, except those that are running.`,
		Annotations: storesResults,
		Example: `  soku prune --older-than 90d
  soku prune --older-than 2026-01-01 --by-hand --dry-run
  soku prune --older-than 365d --campaigns`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.olderThan == "" {
				return measure.Fail(measure.KindUsage, "cli.prune.no_age", nil)
			}
			return inStore(cmd.Context(), sys, f.store, func(st store.Store) error {
				if f.campaigns {
					return pruneCampaigns(cmd, sys, st, f)
				}
				return prune(cmd, sys, st, f)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.olderThan, "older-than", "", "an age such as 90d or 12h, or a date such as 2026-11-25")
	f.filter.addSelection(sys, cmd)
	flags.BoolVar(&f.campaigns, "campaigns", false, "delete whole campaigns instead of results")
	for _, ofResults := range filtersOfResults {
		cmd.MarkFlagsMutuallyExclusive("campaigns", ofResults)
	}
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be deleted, and delete nothing")
	addStoreFlag(cmd, &f.store)
	return cmd
}

func prune(cmd *cobra.Command, sys *System, st store.Store, f pruneFlags) error {
	q, err := f.filter.query(cmd.Context(), sys, st)
	if err != nil {
		return err
	}
	if q.Until, err = when(sys.Now(), "older-than", f.olderThan); err != nil {
		return err
	}
	ids, err := store.IDs(cmd.Context(), st, q)
	if err != nil {
		return err
	}
	all, err := st.Count(cmd.Context(), store.Query{})
	if err != nil {
		return err
	}
	which := text.Args{"N": len(ids), "All": all, "Before": moment(q.Until)}
	if len(ids) == 0 || f.dryRun {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("prune.would", which))
		return nil
	}
	if agreed, err := agreedTo(cmd.Context(), sys, f.yes, sys.Catalogue.Sentence("prune.ask", which), len(ids)); err != nil || !agreed {
		return err
	}
	n, err := st.Delete(cmd.Context(), ids)
	if err == nil {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("deleted.results", text.Args{"N": n}))
	}
	return err
}

// mostNamed is how many campaigns or results a question names.
const mostNamed = 5

// nameOfResult names a result in a question.
func nameOfResult(c *text.Catalogue, e store.Entry) string {
	return c.Sentence("rm.result", text.Args{
		"ID": e.ID, "Test": e.Test, "Client": e.Client, "Server": e.Server, "Started": moment(e.StartedAt), "Figure": headline(c, e),
	})
}

// campaignArgs are the figures of messages about campaigns and the number of their results.
func campaignArgs(campaigns []store.Campaign, results int) text.Args {
	var ids []string
	open := 0
	for i, c := range campaigns {
		if i < mostNamed {
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
