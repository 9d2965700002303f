package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/store"
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
		Use:   "merge --from PLACE",
		Short: "Add the results of another store",
		Long: `Adds results and campaigns of another place to the store: a store (its file), a
data folder of soku (its store and the journals of its campaigns) or a journal.
What is in the store already is added once only, and stays as it is. Something
with the same identity and another content is a conflict: it is named and left
out. Campaigns of a data folder, or of a journal, can be resumed here.`,
		Annotations: storesResults,
		Example: `  soku merge --from /mnt/laptop/.local/share/soku
  soku merge --from other.db --dry-run
  soku merge --from campaigns/20261125-101500-gateways-3f9a1c/journal.ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runMerge(cmd.Context(), sys, f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.from, "from", nil, "file of a store, data folder, or journal; may be repeated")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be added, and add nothing")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	addStoreFlag(cmd, &f.store)
	return cmd
}

// mergeReport is what --json prints.
type mergeReport struct {
	Schema    string       `json:"schema"`
	DryRun    bool         `json:"dry_run,omitempty"`
	Results   store.Merged `json:"results"`
	Campaigns store.Merged `json:"campaigns"`
	Journals  int          `json:"journals"` // that were copied
	Unread    []unread     `json:"unread,omitempty"`
}

// unread is a journal that cannot be read, or not to its end.
type unread struct {
	File  string         `json:"file"`
	Error *measure.Error `json:"error"`
}

// merging is one run of soku merge.
type merging struct {
	sys    *System
	flags  mergeFlags
	merger *store.Merger
	report mergeReport
}

func runMerge(ctx context.Context, sys *System, f mergeFlags) (err error) {
	if len(f.from) == 0 {
		return measure.Fail(measure.KindUsage, "cli.merge.no_place", nil)
	}
	stores, journals, err := mergePlaces(sys, f)
	if err != nil {
		return err
	}
	open := openStore
	if f.dryRun {
		open = openExistingStore
	}
	to, err := open(ctx, sys, f.store)
	if err != nil {
		return err
	}
	if to != nil {
		defer func() { err = errors.Join(err, to.Close()) }()
	}
	m := &merging{sys: sys, flags: f, merger: store.NewMerger(to, f.dryRun), report: mergeReport{Schema: "soku.merge/1", DryRun: f.dryRun}}
	for _, file := range stores {
		if err := m.store(ctx, file); err != nil {
			return err
		}
	}
	for _, file := range journals {
		if err := m.journal(ctx, file); err != nil {
			return err
		}
	}
	if err := m.merger.Close(ctx); err != nil {
		return err
	}
	return m.finish()
}

// mergePlaces finds the stores and journals that the places are or have.
func mergePlaces(sys *System, f mergeFlags) (stores, journals []string, err error) {
	if err := sys.needDataDir(); err != nil { // for the journals
		return nil, nil, err
	}
	here, _ := sys.Stat(storeFile(sys, f.store)) // nil for none
	for _, from := range f.from {
		info, err := sys.Stat(from)
		if err != nil {
			return nil, nil, measure.Fail(measure.KindFile, "cli.merge.place", measure.Figures{"place": from, "cause": err})
		}
		files := []string{from}
		if info.IsDir() {
			if files, err = filesOf(sys, from); err != nil {
				return nil, nil, err
			}
		}
		for _, file := range files {
			is, isStore, err := isStore(sys, file)
			switch {
			case err != nil:
				return nil, nil, measure.Fail(measure.KindFile, "cli.merge.place", measure.Figures{"place": file, "cause": err})
			case here != nil && os.SameFile(here, is):
				return nil, nil, measure.Fail(measure.KindUsage, "cli.merge.itself", measure.Figures{"place": file})
			case isStore:
				stores = append(stores, file)
			default:
				journals = append(journals, file)
			}
		}
	}
	return stores, journals, nil
}

// filesOf are the store and the journals of a data folder, of its folder of campaigns, or of
// the folder of one of them.
func filesOf(sys *System, dir string) (files []string, err error) {
	candidates := []string{filepath.Join(dir, "soku.db"), campaign.JournalFile(dir)}
	for _, parent := range []string{filepath.Join(dir, "campaigns"), dir} {
		ids, err := campaign.Folder(parent).IDs()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			candidates = append(candidates, campaign.JournalFile(filepath.Join(parent, id)))
		}
	}
	for _, file := range candidates {
		if _, err := sys.Stat(file); err == nil {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return nil, measure.Fail(measure.KindNotFound, "cli.merge.empty", measure.Figures{"place": dir})
	}
	return files, nil
}

// isStore reports whether a file is a store rather than a journal.
func isStore(sys *System, path string) (fs.FileInfo, bool, error) {
	file, err := sys.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 16)
	n, _ := io.ReadFull(file, head)
	info, err := file.Stat()
	return info, bytes.HasPrefix(head[:n], []byte("SQLite format 3")), err
}

func (m *merging) store(ctx context.Context, file string) (err error) {
	from, err := openStore(ctx, m.sys, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	return m.merger.Store(ctx, from)
}

// journal merges a journal, and copies it to the data folder if its store is merged into.
func (m *merging) journal(ctx context.Context, file string) error {
	var c store.Campaign
	err := m.read(file, func(r io.Reader) (err error) {
		c, err = campaign.Recall(r, nil)
		return err
	})
	if err != nil {
		m.refuse(file, err)
		return nil
	}
	if err := m.merger.Campaign(ctx, c); err != nil {
		return err
	}
	err = m.read(file, func(r io.Reader) error {
		_, err := campaign.Recall(r, func(res *measure.Result) error { return m.merger.Result(ctx, res) })
		return err
	})
	if err == nil {
		err = m.merger.Flush(ctx)
	}
	if err != nil || m.flags.dryRun || m.flags.store != "" || m.merger.Refused(c.ID) {
		return err
	}
	return m.read(file, func(r io.Reader) error {
		adopted, err := campaignsDir(m.sys).Adopt(c.ID, r)
		if adopted {
			m.report.Journals++
		}
		return err
	})
}

func (m *merging) read(file string, use func(io.Reader) error) error {
	f, err := m.sys.Open(file)
	if err != nil {
		return measure.Fail(measure.KindFile, "cli.merge.place", measure.Figures{"place": file, "cause": err})
	}
	defer func() { _ = f.Close() }()
	return use(f)
}

// refuse reports a journal that cannot be read; the others are still merged.
func (m *merging) refuse(file string, cause error) {
	err := measure.Fail(measure.KindFile, "cli.merge.journal", measure.Figures{"file": file, "cause": cause})
	m.report.Unread = append(m.report.Unread, unread{file, err})
	printError(m.sys.Catalogue, m.sys.Stderr, err)
}

// mostConflicts is how many conflicts of a kind are named on a terminal.
const mostConflicts = 10

// finish prints what became of everything. It is an error if something was left out.
func (m *merging) finish() error {
	r := &m.report
	r.Results, r.Campaigns = m.merger.Results, m.merger.Campaigns
	if m.flags.json {
		if err := printJSON(m.sys.Stdout, r); err != nil {
			return err
		}
	} else {
		c := m.sys.Catalogue
		fmt.Fprintln(m.sys.Stdout, c.Sentence("merge.done", text.Args{
			"Results": r.Results.New, "KnownResults": r.Results.Known, "Campaigns": r.Campaigns.New, "KnownCampaigns": r.Campaigns.Known,
			"Journals": r.Journals, "DryRun": r.DryRun,
		}))
		some := func(ids []string) text.Args {
			n := len(ids)
			return text.Args{"IDs": ids[:min(n, mostConflicts)], "More": max(n-mostConflicts, 0)}
		}
		if ids := r.Campaigns.Conflicts; len(ids) > 0 {
			fmt.Fprintln(m.sys.Stdout, c.Sentence("merge.conflicts.campaigns", some(ids)))
		}
		if ids := r.Results.Conflicts; len(ids) > 0 {
			fmt.Fprintln(m.sys.Stdout, c.Sentence("merge.conflicts.results", some(ids)))
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
