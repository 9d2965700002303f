package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/report"
	"soku/internal/store"
	"soku/internal/text"
)

type lsFlags struct {
	campaigns bool
	filter    filterFlags
	limit     int
	before    string
	json      bool
	format    string
	store     string
}

func newLsCommand(sys *System) *cobra.Command {
	f := lsFlags{}
	cmd := &cobra.Command{
		Use:         "ls",
		Short:       "List what was measured",
		Long:        "Lists results, the newest first, with the options that differ from the defaults\nof the test. --format csv writes all that are selected for a spreadsheet: a line\neach, with figures in Mbit/s, ms and percent.",
		Annotations: storesResults,
		Example: `  soku ls                          the last results
  soku ls --test latency --endpoint 10.0.0.4 --since 7d
  soku ls --level sku=Ultra --level zone=1
  soku ls -n 50 --before 01a2123790b8   the 50 results before that one
  soku ls --campaigns
  soku ls --campaign gateway-sku --format csv > trials.csv
  soku ls --campaign gateway-sku        the results of its newest campaign`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.json {
				f.format = "json"
			}
			if !slices.Contains([]string{"txt", "json", "csv"}, f.format) || f.campaigns && f.format == "csv" {
				return measure.Fail(measure.KindUsage, "cli.ls.format", measure.Figures{"format": f.format})
			}
			if f.limit < 0 {
				return measure.Fail(measure.KindUsage, "cli.ls.limit", measure.Figures{"limit": f.limit})
			}
			return inStore(cmd.Context(), sys, f.store, func(st store.Store) error {
				if f.campaigns {
					return listCampaigns(cmd, sys, st, f)
				}
				return listResults(cmd, sys, st, f)
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.campaigns, "campaigns", false, "list campaigns instead of results")
	f.filter.add(sys, cmd)
	flags.IntVarP(&f.limit, "limit", "n", 20, "at most this many; 0 for all")
	flags.StringVar(&f.before, "before", "", "only what the list has behind this result or campaign: its identity, or the beginning of one")
	flags.StringVar(&f.format, "format", "txt", "txt, json, or csv with all that are selected")
	flags.BoolVar(&f.json, "json", false, "print JSON: --format json")
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	complete(cmd, "format", cobra.FixedCompletions([]string{"txt", "json", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	addStoreFlag(cmd, &f.store)
	for _, ofResults := range filtersOfResults {
		cmd.MarkFlagsMutuallyExclusive("campaigns", ofResults)
	}
	return cmd
}

func listResults(cmd *cobra.Command, sys *System, st store.Store, f lsFlags) error {
	q, err := f.filter.query(cmd.Context(), sys, st)
	if err != nil {
		return err
	}
	if q.Limit = f.limit; (q.Campaign != "" || f.format == "csv") && !cmd.Flags().Changed("limit") {
		q.Limit = 0
	}
	if f.before != "" {
		r, err := store.FindResult(cmd.Context(), st, f.before)
		if err != nil {
			return err
		}
		q.After = store.CursorAt(r.StartedAt, r.ID)
	}
	entries := store.Entries(cmd.Context(), st, q)
	switch f.format {
	case "json":
		return printEntries(sys.Stdout, entries)
	case "csv":
		return report.ResultsCSV(sys.Stdout, entries)
	}
	t, err := resultTable(cmd.Context(), sys.Catalogue, st, q)
	if err != nil {
		return err
	}
	if len(t.rows) == 0 {
		all, err := st.Count(cmd.Context(), store.Query{})
		if err == nil {
			fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("ls.no_results", text.Args{"All": all}))
		}
		return err
	}
	PrintTable(sys.Stdout, t.fit(sys.StdoutWidth()))
	last := t.rows[len(t.rows)-1].entry
	q.After, q.Limit = last.Cursor(), 1
	behind, err := st.List(cmd.Context(), q)
	if err != nil {
		return err
	}
	all, err := st.Count(cmd.Context(), q)
	if err == nil && all > len(t.rows) {
		sayShown(sys, len(t.rows), all, len(behind.Items) > 0, last.ID)
	}
	return err
}

// sayShown says that a list has more than is shown, and how to see what is behind the last.
func sayShown(sys *System, shown, all int, more bool, last string) {
	fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("ls.shown", text.Args{"Shown": shown, "All": all, "More": more, "Last": last}))
}

// listedResult is a result in the JSON of the list.
type listedResult struct {
	ID        string             `json:"id"`
	StartedAt time.Time          `json:"started_at"`
	Test      measure.Test       `json:"test"`
	Client    string             `json:"client"`
	Server    string             `json:"server"`
	Direction measure.Direction  `json:"direction,omitempty"`
	Streams   int                `json:"streams,omitempty"`
	Via       string             `json:"via,omitempty"`
	Campaign  string             `json:"campaign,omitempty"` // identity
	Pattern   string             `json:"pattern,omitempty"`
	Label     string             `json:"label,omitempty"`
	Round     int                `json:"round,omitempty"`
	Repeat    int                `json:"repeat,omitempty"`
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
			ID: e.ID, StartedAt: e.StartedAt, Test: e.Test, Client: e.Client, Server: e.Server, Direction: e.Direction, Streams: e.Streams, Via: e.Via,
			Campaign: e.Campaign, Pattern: e.Pattern, Label: e.Label, Round: e.Round, Repeat: e.Repeat,
			Headline: headline(text.ForPrograms(), e), Figures: e.Figures, ErrorKind: e.ErrorKind, Error: e.Error,
		}, "  ", "  ")
		if err != nil {
			return err
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
	return out.Flush()
}

// headline is the figure that a person looks for in a result, or its kind of failure.
func headline(c *text.Catalogue, e store.Entry) string {
	return c.SentenceOf(text.Headline(e.Test, e.ErrorKind, e.Figures))
}

func listCampaigns(cmd *cobra.Command, sys *System, st store.Store, f lsFlags) error {
	all, err := archiveOf(sys, st, f.store).List(cmd.Context())
	if err != nil {
		return err
	}
	q, err := f.filter.query(cmd.Context(), sys, st)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(c store.Campaign) bool {
		return !q.Since.IsZero() && c.StartedAt.Before(q.Since) || !q.Until.IsZero() && !c.StartedAt.Before(q.Until)
	})
	rest := all
	if f.before != "" {
		if rest, err = campaignsBehind(all, f.before); err != nil {
			return err
		}
	}
	shown := rest
	if f.limit > 0 {
		shown = rest[:min(f.limit, len(rest))]
	}
	if f.format == "json" {
		return printJSON(sys.Stdout, shown)
	}
	if len(all) == 0 {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("ls.no_campaigns", nil))
		return nil
	}
	rows := [][]string{sys.Catalogue.Headings("head.campaign", "head.started", "head.trials", "head.state", "head.title")}
	for _, c := range shown {
		state := sys.Catalogue.Sentence("ls.campaign", text.Args{"Open": c.FinishedAt.IsZero(), "Failed": c.Failed})
		rows = append(rows, []string{c.ID, moment(c.StartedAt), fmt.Sprintf("%d/%d", c.Done, c.Trials), state, c.Title})
	}
	makePrintable(rows)
	fitCampaigns(rows, sys.StdoutWidth())
	PrintTable(sys.Stdout, rows)
	if n := len(shown); n > 0 && len(all) > n {
		sayShown(sys, n, len(all), len(rest) > n, shown[n-1].ID)
	}
	return nil
}

// campaignsBehind are those of the list behind the one that a person means by text.
func campaignsBehind(all []store.Campaign, text string) ([]store.Campaign, error) {
	var ids []string
	for _, c := range slices.Backward(all) { // the newest last
		ids = append(ids, c.ID)
	}
	id, err := store.MatchID(text, ids)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c store.Campaign) bool { return c.ID == id })
	if i < 0 {
		return nil, measure.Fail(measure.KindNotFound, "cli.ls.no_campaign", measure.Figures{"campaign": text})
	}
	return all[i+1:], nil
}

// PrintTable writes rows with their columns aligned. Columns that are empty
// but for their head are left out.
func PrintTable(w io.Writer, rows [][]string) {
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
