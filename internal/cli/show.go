package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/publish"
	"soku/internal/store"
	"soku/internal/text"
)

type showFlags struct {
	json     bool
	rows     bool
	evidence bool
	html     string
	store    string
}

func newShowCommand(sys *System) *cobra.Command {
	f := showFlags{}
	cmd := &cobra.Command{
		Use:   "show [RESULT]",
		Short: "Show one result",
		Long:  "Shows a result: its identity, the beginning of one (4 characters), \"last\",\nwhich is the default, or \"last~1\", the one before it.",
		Example: `  soku show
  soku show 0198f3a2
  soku show last --evidence
  soku show last --html test.html
  soku show last --json | jq .summary`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := store.Last
			if len(args) > 0 {
				id = args[0]
			}
			return inStore(cmd.Context(), sys, f.store, func(st store.Store) error {
				r, err := store.FindResult(cmd.Context(), st, id)
				if measure.KindOf(err) == measure.KindNotFound {
					if c, cerr := findCampaign(cmd.Context(), sys, st, id); cerr == nil {
						err = measure.Fail(measure.KindNotFound, "cli.show.campaign", measure.Figures{"campaign": c.ID})
					}
				}
				if err != nil {
					return err
				}
				if f.json {
					return printJSON(sys.Stdout, r)
				}
				if f.html != "" {
					return writePage(cmd.Context(), sys, r, f.html)
				}
				printResult(sys.Catalogue, sys.Stdout, sys.StdoutWidth(), r, f)
				return nil
			})
		},
	}
	cmd.ValidArgsFunction = completeResults(sys, &f.store)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the whole result document")
	cmd.Flags().StringVar(&f.html, "html", "", "write a page with its charts to this file")
	cmd.Flags().BoolVar(&f.rows, "rows", false, "print the table of round trips")
	cmd.Flags().BoolVar(&f.evidence, "evidence", false, "print the figures of the verdict with their thresholds")
	for _, other := range []string{"json", "rows", "evidence"} {
		cmd.MarkFlagsMutuallyExclusive(other, "html")
	}
	addStoreFlag(cmd, &f.store)
	return cmd
}

// writePage writes the page of a result to a file.
func writePage(ctx context.Context, sys *System, r *measure.Result, file string) error {
	known, err := knownLimits(sys, "")()
	if err != nil {
		return err
	}
	page, err := publish.Single(known, r)
	if err != nil {
		return err
	}
	format, _ := publish.FormatOf("html")
	_, err = reportFlags{output: file}.write(ctx, sys, page, format, false)
	return err
}

// printResult writes a result from the store for a person. Names in it may come
// from elsewhere, so nothing of it reaches the terminal as a control character.
func printResult(c *text.Catalogue, w io.Writer, columns int, r *measure.Result, f showFlags) {
	var b bytes.Buffer
	var out text.Lines
	out.Row("label.result", "shown.result", text.Args{"Result": r.ID, "Started": moment(r.StartedAt)})
	if t := r.Trial; t != nil {
		out.Row("label.campaign", "summary.text", text.Args{"Text": printable.Words(t.Campaign)})
		out.Row("label.trial", "shown.trial", text.Args{"Pattern": printable.Words(t.Pattern), "Label": printable.Words(t.Label), "Round": t.Round, "Repeat": t.Repeat})
	}
	if r.Error != nil {
		out.Row("label.failed", "summary.text", text.Args{"Text": errorText(c, r.Error)})
	}
	summed := r.Origin == nil && (r.Error == nil || r.Counted() || r.Latency != nil)
	switch {
	case r.Origin != nil:
		ingestedSummary(c, &out, r)
	case !summed:
		out.Row("label.path", "summary.path", text.Args{"Path": pathText(c, r), "Test": testText(c, r)})
	}
	printLines(c, &b, columns, out)
	if summed {
		printSummary(c, &b, columns, r)
	} else {
		printFindings(c, labelled(&b, labelColumns(c), columns), r.Findings)
	}
	if f.evidence && r.Verdict != nil {
		var evidence text.Lines
		label := "label.evidence"
		for _, line := range c.Compared(r.Verdict) {
			evidence.Row(label, "summary.text", text.Args{"Text": line})
			label = ""
		}
		printLines(c, &b, columns, evidence)
	}
	if f.rows {
		printRows(c, &b, r.Latency)
	}
	printPingStatistics(&b, r)
	for line := range bytes.Lines(b.Bytes()) {
		fmt.Fprintln(w, printable.Line(string(bytes.TrimRight(line, "\n"))))
	}
}
