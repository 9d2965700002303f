package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/store"
)

type showFlags struct {
	json  bool
	rows  bool
	store string
}

func newShowCommand(sys *System) *cobra.Command {
	f := showFlags{}
	cmd := &cobra.Command{
		Use:   "show [RESULT]",
		Short: "Show one result",
		Long:  "Shows a result: its identity, the beginning of one (4 characters), or \"last\",\nwhich is the default.",
		Example: `  soku show
  soku show 0198f3a2
  soku show last --json | jq .summary`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			id := store.Last
			if len(args) > 0 {
				id = args[0]
			}
			st, err := openStore(cmd.Context(), sys, f.store)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, st.Close()) }()
			r, err := store.FindResult(cmd.Context(), st, id)
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(sys.Stdout, r)
			}
			printResult(sys.Stdout, sys.StdoutWidth(), r, f.rows)
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print the whole result document")
	cmd.Flags().BoolVar(&f.rows, "rows", false, "print the table of round trips")
	addStoreFlag(cmd, &f.store)
	return cmd
}

// printResult writes a result from the store for a person. Names in it may come
// from elsewhere, so nothing of it reaches the terminal as a control character.
func printResult(w io.Writer, columns int, r *measure.Result, rows bool) {
	var b bytes.Buffer
	line := labelled(&b, nameColumns, columns)
	row := func(name, format string, args ...any) { line(name, "%s", oneLine(fmt.Sprintf(format, args...))) }
	row("result", "%s, %s", r.ID, moment(r.StartedAt))
	if t := r.Trial; t != nil {
		row("campaign", "%s", t.Campaign)
		row("trial", "%s, %s, round %d, repeat %d", t.Pattern, t.Label, t.Round, t.Repeat)
	}
	if r.Error != nil {
		row("failed", "%s", r.Error.Error())
	}
	switch {
	case r.Origin != nil:
		printIngested(row, r)
	case r.Summary.DurationNs > 0 || r.Latency != nil:
		printSummary(&b, columns, r)
	default:
		row("path", "%s, %s", pathText(r), testText(r))
		printFindings(row, r.Findings)
	}
	if rows {
		printRows(&b, r.Latency)
	}
	printPingStatistics(&b, r)
	for line := range bytes.Lines(b.Bytes()) {
		fmt.Fprintln(w, terminalText(string(bytes.TrimRight(line, "\n"))))
	}
}
