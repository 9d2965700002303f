package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/store"
	"soku/internal/text"
)

type lsFlags struct {
	campaigns bool
	filter    filterFlags
	limit     int
	json      bool
	store     string
}

func newLsCommand(sys *System) *cobra.Command {
	f := lsFlags{}
	cmd := &cobra.Command{
		Use:         "ls",
		Short:       "List what was measured",
		Long:        "Lists results, the newest first, with the options that differ from the defaults\nof the test.",
		Annotations: storesResults,
		Example: `  soku ls                          the last results
  soku ls --test latency --endpoint 10.0.0.4 --since 7d
  soku ls --campaigns
  soku ls --campaign gateway-sku   the results of its newest campaign`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if f.limit < 0 {
				return measure.Fail(measure.KindUsage, "cli.ls.limit", measure.Figures{"limit": f.limit})
			}
			st, err := openStore(cmd.Context(), sys, f.store)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, st.Close()) }()
			if f.campaigns {
				return listCampaigns(cmd, sys, st, f)
			}
			return listResults(cmd, sys, st, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.campaigns, "campaigns", false, "list campaigns instead of results")
	f.filter.add(sys, cmd)
	flags.IntVarP(&f.limit, "limit", "n", 20, "at most this many; 0 for all")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	addStoreFlag(cmd, &f.store)
	cmd.MarkFlagsMutuallyExclusive("campaigns", "campaign")
	return cmd
}

func listResults(cmd *cobra.Command, sys *System, st store.Store, f lsFlags) error {
	q, err := f.filter.query(cmd.Context(), sys, st)
	if err != nil {
		return err
	}
	if q.Limit = f.limit; q.Campaign != "" && !cmd.Flags().Changed("limit") {
		q.Limit = 0
	}
	entries := store.Entries(cmd.Context(), st, q)
	if f.json {
		return printEntries(sys.Stdout, entries)
	}
	t, err := resultTable(cmd.Context(), sys.Catalogue, st, q)
	if err != nil {
		return err
	}
	if len(t.rows) == 0 {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Say("ls.no_results", nil))
		return nil
	}
	printTable(sys.Stdout, t.fit(sys.StdoutWidth()))
	all, err := st.Count(cmd.Context(), q)
	if err == nil && all > len(t.rows) {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Say("ls.shown", text.Args{"Shown": len(t.rows), "All": all}))
	}
	return err
}

// listedResult is a result in the JSON of the list.
type listedResult struct {
	ID        string             `json:"id"`
	StartedAt time.Time          `json:"started_at"`
	Test      measure.Test       `json:"test"`
	Client    string             `json:"client"`
	Server    string             `json:"server"`
	Campaign  string             `json:"campaign,omitempty"` // identity
	Pattern   string             `json:"pattern,omitempty"`
	Headline  string             `json:"headline"`
	Figures   map[string]float64 `json:"figures,omitempty"` // by the keys of docs/reference/metrics.md
	ErrorKind measure.Kind       `json:"error_kind,omitempty"`
	Error     string             `json:"error,omitempty"` // message, empty for a trial that succeeded
}

// printEntries writes the list as a JSON array, one element at a time: a list of
// all results need not fit into memory.
func printEntries(w io.Writer, entries iter.Seq2[store.Entry, error]) error {
	out := bufio.NewWriter(w)
	before := "[\n  "
	for e, err := range entries {
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		b, err := json.MarshalIndent(listedResult{
			ID: e.ID, StartedAt: e.StartedAt, Test: e.Test, Client: e.Client, Server: e.Server, Campaign: e.Campaign, Pattern: e.Pattern,
			Headline: headline(text.ForPrograms(), e), Figures: e.Figures, ErrorKind: e.ErrorKind, Error: e.Error,
		}, "  ", "  ")
		if err != nil {
			return measure.Fail(measure.KindInternal, "cli.output", measure.Figures{"cause": err})
		}
		_, _ = out.WriteString(before) // Flush reports a failure
		_, _ = out.Write(printable.JSON(b))
		before = ",\n  "
	}
	after := "\n]\n"
	if before[0] == '[' {
		after = "[]\n" // none
	}
	_, _ = out.WriteString(after)
	if err := out.Flush(); err != nil {
		return measure.Fail(measure.KindInternal, "cli.output", measure.Figures{"cause": err})
	}
	return nil
}

// headline is the figure that a person looks for in a result, or its kind of failure.
func headline(c *text.Catalogue, e store.Entry) string {
	return c.Sentence(text.Headline(e.Test, e.ErrorKind, e.Figures))
}

func listCampaigns(cmd *cobra.Command, sys *System, st store.Store, f lsFlags) error {
	all, err := allCampaigns(cmd.Context(), sys, st, f.store == "")
	if err != nil {
		return err
	}
	shown := all
	if f.limit > 0 {
		shown = all[:min(f.limit, len(all))]
	}
	if f.json {
		return printJSON(sys.Stdout, shown)
	}
	if len(all) == 0 {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Say("ls.no_campaigns", nil))
		return nil
	}
	rows := [][]string{sys.Catalogue.Headings("head.campaign", "head.started", "head.trials", "head.state", "head.title")}
	for _, c := range shown {
		state := sys.Catalogue.Say("ls.campaign", text.Args{"Open": c.FinishedAt.IsZero(), "Failed": c.Failed})
		rows = append(rows, []string{c.ID, moment(c.StartedAt), fmt.Sprintf("%d/%d", c.Done, c.Trials), state, c.Title})
	}
	makePrintable(rows)
	if w := sys.StdoutWidth(); w > 0 {
		shrink(rows, w, 4) // the title
	}
	printTable(sys.Stdout, rows)
	if len(all) > len(shown) {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Say("ls.shown", text.Args{"Shown": len(shown), "All": len(all)}))
	}
	return nil
}

// allCampaigns are those of the store, and with begun also those that ended before the store
// had them; the newest first.
func allCampaigns(ctx context.Context, sys *System, st store.Store, begun bool) ([]store.Campaign, error) {
	page, err := st.Campaigns(ctx, store.CampaignQuery{})
	if err != nil || !begun {
		return page.Items, err
	}
	all := page.Items
	journals, err := campaign.Begun(campaignsDir(sys))
	for _, b := range journals {
		if !slices.ContainsFunc(all, func(c store.Campaign) bool { return c.ID == b.ID }) {
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b store.Campaign) int { return b.StartedAt.Compare(a.StartedAt) })
	return all, err
}

// printTable writes rows with their columns aligned. Columns that are empty
// but for their head are left out.
func printTable(w io.Writer, rows [][]string) {
	makePrintable(rows)
	widths := text.ColumnWidths(rows)
	for _, row := range rows {
		var line strings.Builder
		for c, cell := range row {
			if widths[c] > 0 {
				line.WriteString(terminal.FillRight(cell, widths[c]) + "  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

func makePrintable(rows [][]string) {
	for _, row := range rows {
		for c := range row {
			row[c] = printable.Line(row[c])
		}
	}
}
