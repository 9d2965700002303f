package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"soku/internal/archive"
	"soku/internal/measure"
	"soku/internal/text"
)

type mergeFlags struct {
	from   []string
	dryRun bool
	json   bool
	store  string
}

func newMergeCommand(sys *System) *cobra.Command {
	f := mergeFlags{}
	cmd := &cobra.Command{
		Use:   "merge PLACE...",
		Short: "Add the results of another store",
		Long: `Adds results and campaigns of another place to the store: a store (its file), a
data folder of soku (its store and the journals of its campaigns), a journal or
a bundle (soku report --bundle).
What is in the store already is added once only, and stays as it is. Something
with the same identity and another content is a conflict: it is named and left
out. Campaigns of a data folder, or of a journal, can be resumed here.`,
		Annotations: storesResults,
		Example: `  soku merge /mnt/laptop/.local/share/soku
  soku merge other.db --dry-run
  soku merge campaigns/20261125-101500-gateways-3f9a1c/journal.ndjson`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.from = append(f.from, args...)
			return runMerge(cmd.Context(), sys, f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.from, "from", nil, "file of a store, data folder, journal or bundle, as PLACE; may be repeated")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be added, and add nothing")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	addStoreFlag(cmd, &f.store)
	return cmd
}

func runMerge(ctx context.Context, sys *System, f mergeFlags) (err error) {
	if len(f.from) == 0 {
		return measure.Fail(measure.KindUsage, "cli.merge.no_place", nil)
	}
	if err := sys.needDataDir(); err != nil { // for the journals
		return err
	}
	files := archive.System{Stat: sys.Stat, Open: sys.Open, OpenStore: sys.OpenStore, OpenJournals: sys.OpenJournals}
	from, err := files.Places(storeFile(sys, f.store), f.from)
	if err != nil {
		return err
	}
	to, closeStore, err := openStoreFor(ctx, sys, f.store, f.dryRun)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	unread := func(err *measure.Error) { printError(sys.Catalogue, sys.Stderr, err) }
	done, err := archiveOf(sys, to, f.store).Merge(ctx, files, from, f.dryRun, unread)
	if err != nil {
		return err
	}
	return showMerged(sys, done, f.json)
}

// mostConflicts is how many conflicts of a kind are named on a terminal.
const mostConflicts = 10

// showMerged prints what became of everything. It is an error if something was left out.
func showMerged(sys *System, r archive.Merged, asJSON bool) error {
	if asJSON {
		if err := printJSON(sys.Stdout, &r); err != nil {
			return err
		}
	} else {
		c := sys.Catalogue
		fmt.Fprintln(sys.Stdout, c.Sentence("merge.done", text.Args{
			"Results": r.Results.New, "KnownResults": r.Results.Known, "Campaigns": r.Campaigns.New, "KnownCampaigns": r.Campaigns.Known,
			"Journals": r.Journals, "DryRun": r.DryRun,
		}))
		some := func(ids []string) text.Args {
			n := len(ids)
			return text.Args{"IDs": ids[:min(n, mostConflicts)], "More": max(n-mostConflicts, 0)}
		}
		if ids := r.Campaigns.Conflicts; len(ids) > 0 {
			fmt.Fprintln(sys.Stdout, c.Sentence("merge.conflicts.campaigns", some(ids)))
		}
		if ids := r.Results.Conflicts; len(ids) > 0 {
			fmt.Fprintln(sys.Stdout, c.Sentence("merge.conflicts.results", some(ids)))
		}
	}
	conflicts := len(r.Results.Conflicts) + len(r.Campaigns.Conflicts)
	if conflicts+len(r.Unread) > 0 {
		return measure.Fail(measure.KindIncomplete, "cli.merge.incomplete", measure.Figures{
			"results": len(r.Results.Conflicts), "campaigns": len(r.Campaigns.Conflicts), "journals": len(r.Unread),
		})
	}
	return nil
}
