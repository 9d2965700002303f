package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/report"
)

type compareFlags struct {
	allPairs  bool
	practical measure.Percent
	json      bool
	format    string
	store     string
}

func newCompareCommand(sys *System) *cobra.Command {
	f := compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Decide which of several results, campaigns or patterns is better",
		Long: "Compares choices with the first: better, worse, no practical difference, or no\n" +
			"difference shown, with the ratio, its interval, and how many more rounds would\n" +
			"decide. A choice is a result (its identity or the beginning of one), a campaign\n" +
			"(identity or name), patterns of a campaign (CAMPAIGN:FACTOR=LEVEL,FACTOR=LEVEL),\n" +
			"\"last\": the newest campaign, or the newest result if that was run by hand; or a\n" +
			"file with results of soku or with the output of another program.",
		Example: `  soku compare gateway:sku=basic gateway:sku=standard gateway:sku=high
  soku compare gateway:sku=high,zone=1 gateway:sku=high,zone=2 --practical 3%
  soku compare before-change after-change
  soku compare 0198f3a2 last --json
  soku compare before.json after.json   results, or output of iperf3`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(cmd.Context(), sys, f, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.allPairs, "all-pairs", false, "compare every pair, instead of all with the first")
	flags.Var(&f.practical, "practical", "smallest difference that matters, such as 3%; default: the campaign's plan, or 2%")
	flags.BoolVar(&f.json, "json", false, "print JSON: --format json")
	flags.StringVar(&f.format, "format", "txt", "txt, md, csv or json")
	complete(cmd, "format", cobra.FixedCompletions([]cobra.Completion{"txt", "md", "csv", "json"}, cobra.ShellCompDirectiveNoFileComp))
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
	if f.json {
		f.format = "json"
	}
	if comparisonFormats[f.format] == nil {
		return measure.Fail(measure.KindUsage, "cli.compare.format", measure.Figures{"format": f.format})
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
	return writeComparisons(sys, c, f.format)
}

// comparisonFormats are the values of --format.
var comparisonFormats = map[string]func(*report.Comparisons, io.Writer, *System) error{
	"txt": func(c *report.Comparisons, w io.Writer, sys *System) error {
		return c.Text(w, sys.Catalogue, sys.StdoutWidth())
	},
	"md":   func(c *report.Comparisons, w io.Writer, sys *System) error { return c.Markdown(w, sys.Catalogue) },
	"csv":  func(c *report.Comparisons, w io.Writer, _ *System) error { return c.CSV(w) },
	"json": func(c *report.Comparisons, w io.Writer, _ *System) error { return printJSON(w, c) },
}

// writeComparisons prints comparisons in a format, which exists.
func writeComparisons(sys *System, c *report.Comparisons, format string) error {
	var b bytes.Buffer
	if err := comparisonFormats[format](c, &b, sys); err != nil {
		return err
	}
	return printAll(sys, b.Bytes())
}

// printAll writes what a command answers.
func printAll(sys *System, answer []byte) error {
	_, err := sys.Stdout.Write(answer)
	return err
}
