package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/text"
)

type compareFlags struct {
	allPairs  bool
	practical measure.Percent
	json      bool
	format    string
	output    string
	full      bool
	store     string
}

func newCompareCommand(sys *System) *cobra.Command {
	f := compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Decide which of several results, campaigns or patterns is better",
		Long: "Compares choices with the first: one sentence on all patterns of a test, and a\n" +
			"table: old and new figure, change, interval, and decision of each pattern. A\n" +
			"choice is a result (its identity or the beginning of one), a campaign\n" +
			"(identity or name), patterns of a campaign (CAMPAIGN:FACTOR=LEVEL,FACTOR=LEVEL),\n" +
			"\"last\": the newest campaign, or the newest result if that was run by hand; or a\n" +
			"file with results of soku or with the output of another program.",
		Example: `  soku compare gateway:sku=basic gateway:sku=standard gateway:sku=high
  soku compare gateway:sku=high,zone=1 gateway:sku=high,zone=2 --practical 3%
  soku compare before-change after-change
  soku compare before-change after-change -o change.html
  soku compare 0198f3a2 last --json
  soku compare before.json after.json   results, or output of iperf3`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(cmd.Context(), sys, f, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.allPairs, "all-pairs", false, "compare every pair, instead of all with the first")
	flags.Var(&f.practical, "practical", "smallest difference that matters, such as 3%; default: the campaign's plan, or 2%")
	flags.BoolVar(&f.json, "json", false, "print JSON: --format json")
	flags.StringVar(&f.format, "format", "", "txt (the default), md, html, xlsx, csv or json")
	flags.StringVarP(&f.output, "output", "o", "", "file; its extension is the format when none is given; - for standard output, the default")
	flags.BoolVar(&f.full, "full", false, "text with all rows, and a sentence on each comparison with its p value and how many more rounds would decide")
	complete(cmd, "format", cobra.FixedCompletions([]cobra.Completion{"txt", "md", "html", "xlsx", "csv", "json"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	cmd.ValidArgsFunction = completeChoices(sys, &f.store)
	addStoreFlag(cmd, &f.store)
	return cmd
}

func runCompare(ctx context.Context, sys *System, f compareFlags, args []string) (err error) {
	for i, arg := range args {
		if slices.Contains(args[:i], arg) {
			return measure.Fail(measure.KindUsage, "cli.compare.twice", measure.Figures{"choice": arg})
		}
	}
	if f.output == "-" {
		f.output = ""
	}
	format, err := f.chosen()
	if err != nil {
		return err
	}
	s, err := openStore(ctx, sys, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	choices := make([]*report.Choice, len(args))
	for i, arg := range args {
		if choices[i], err = findChoice(ctx, sys, s, arg); err != nil {
			return err
		}
	}
	c, err := report.Compare(choices, report.CompareOptions{Practical: float64(f.practical), AllPairs: f.allPairs})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := format(c, &b, sys, f.full); err != nil {
		return err
	}
	if f.output == "" {
		return printAll(sys, b.Bytes())
	}
	if err := writeReport(sys, f.output, b.Bytes()); err != nil {
		return err
	}
	return printAll(sys, []byte(sys.Catalogue.Sentence("report.wrote", text.Args{"File": f.output, "More": 0})+"\n"))
}

// chosen is the format of the flags.
func (f compareFlags) chosen() (comparisonFormat, error) {
	name := cmp.Or(f.format, strings.ToLower(strings.TrimPrefix(filepath.Ext(f.output), ".")), "txt")
	if f.json {
		name = "json"
	}
	format := comparisonFormats[name]
	switch {
	case format == nil:
		return nil, measure.Fail(measure.KindUsage, "cli.compare.format", measure.Figures{"format": name})
	case name == "xlsx" && f.output == "":
		return nil, measure.Fail(measure.KindUsage, "cli.report.binary", measure.Figures{"format": name})
	}
	return format, nil
}

// comparisonFormat writes comparisons in a format; full is as in [report.Comparisons.Text].
type comparisonFormat func(c *report.Comparisons, w io.Writer, sys *System, full bool) error

// comparisonFormats are the values of --format.
var comparisonFormats = map[string]comparisonFormat{
	"txt": func(c *report.Comparisons, w io.Writer, sys *System, full bool) error {
		return c.Text(w, sys.Catalogue, sys.StdoutWidth(), full)
	},
	"md": func(c *report.Comparisons, w io.Writer, sys *System, _ bool) error {
		return c.Markdown(w, sys.Catalogue)
	},
	"html": func(c *report.Comparisons, w io.Writer, sys *System, _ bool) error { return c.HTML(w, sys.Catalogue) },
	"xlsx": func(c *report.Comparisons, w io.Writer, sys *System, _ bool) error { return c.XLSX(w, sys.Catalogue) },
	"csv":  func(c *report.Comparisons, w io.Writer, _ *System, _ bool) error { return c.CSV(w) },
	"json": func(c *report.Comparisons, w io.Writer, _ *System, _ bool) error { return printJSON(w, c) },
}

// printAll writes what a command answers.
func printAll(sys *System, answer []byte) error {
	_, err := sys.Stdout.Write(answer)
	return err
}
