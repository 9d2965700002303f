package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/store"
)

type lsFlags struct {
	campaigns bool
	campaign  string
	test      string
	limit     int
	json      bool
	store     string
}

func newLsCommand(sys *System) *cobra.Command {
	f := lsFlags{}
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List what was measured",
		Example: `  soku ls                          the last results
  soku ls --test latency -n 100
  soku ls --campaigns
  soku ls --campaign gateway-sku   the results of its newest campaign`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if f.limit < 0 {
				return measure.Errorf(measure.KindUsage, "--limit %d: negative", f.limit).WithHint("0 lists all")
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
	flags.StringVar(&f.campaign, "campaign", "", "only results of this campaign: its identity, name, or last")
	flags.StringVar(&f.test, "test", "", "only results of this test: tcp, udp, latency or ping")
	flags.IntVarP(&f.limit, "limit", "n", 20, "at most this many; 0 for all")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	addStoreFlag(cmd, &f.store)
	cmd.MarkFlagsMutuallyExclusive("campaigns", "campaign")
	return cmd
}

func listResults(cmd *cobra.Command, sys *System, st store.Store, f lsFlags) error {
	q := store.Query{Limit: f.limit}
	if f.test != "" {
		t, err := measure.ParseTest(f.test)
		if err != nil {
			return err
		}
		q.Test = t
	}
	if f.campaign != "" {
		c, err := st.Campaign(cmd.Context(), f.campaign)
		if err != nil {
			return err
		}
		q.Campaign = c.ID
		if !cmd.Flags().Changed("limit") {
			q.Limit = 0
		}
	}
	entries, err := st.List(cmd.Context(), q)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(sys.Stdout, entries)
	}
	if len(entries) == 0 {
		fmt.Fprintln(sys.Stderr, "nothing here; measure something, for example: soku tcp HOST")
		return nil
	}
	rows := [][]string{{"RESULT", "STARTED", "TEST", "PATH", "PATTERN", "FIGURE"}}
	for _, e := range entries {
		rows = append(rows, []string{e.ID, moment(e.StartedAt), string(e.Test), e.Client + " → " + e.Server, e.Pattern, e.Headline})
	}
	printTable(sys.Stdout, rows)
	return nil
}

func listCampaigns(cmd *cobra.Command, sys *System, st store.Store, f lsFlags) error {
	campaigns, err := st.Campaigns(cmd.Context())
	if err != nil {
		return err
	}
	if f.limit > 0 && len(campaigns) > f.limit {
		campaigns = campaigns[:f.limit]
	}
	if f.json {
		return printJSON(sys.Stdout, campaigns)
	}
	if len(campaigns) == 0 {
		fmt.Fprintln(sys.Stderr, "no campaigns yet; run one with: soku run PLAN.yaml")
		return nil
	}
	rows := [][]string{{"CAMPAIGN", "STARTED", "TRIALS", "STATE", "TITLE"}}
	for _, c := range campaigns {
		state := "finished"
		if c.FinishedAt.IsZero() {
			state = "open"
		}
		if c.Failed > 0 {
			state += fmt.Sprintf(", %d failed", c.Failed)
		}
		rows = append(rows, []string{c.ID, moment(c.StartedAt), fmt.Sprintf("%d/%d", c.Done, c.Trials), state, c.Title})
	}
	printTable(sys.Stdout, rows)
	return nil
}

// printTable writes rows with their columns aligned. Columns that are empty
// but for their head are left out.
func printTable(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for i, row := range rows {
		for c := range row {
			row[c] = terminalText(row[c])
			if i > 0 && row[c] != "" {
				widths[c] = max(widths[c], runewidth.StringWidth(row[c]), runewidth.StringWidth(rows[0][c]))
			}
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for c, cell := range row {
			if widths[c] > 0 {
				line.WriteString(runewidth.FillRight(cell, widths[c]) + "  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
