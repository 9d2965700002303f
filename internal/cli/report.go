package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/publish"
	"soku/internal/report"
	"soku/internal/store"
	"soku/internal/text"
)

type reportFlags struct {
	formats  []string
	output   string
	store    string
	runs     int
	pivot    string
	question string
	full     bool
	catalog  string
}

func newReportCommand(sys *System) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [CAMPAIGN]",
		Short: "Answer, tables, ranking and charts of a campaign",
		Long: "Writes the results of a campaign: an answer in one sentence, a table, a ranking\n" +
			"that reports where no difference was shown, and in HTML charts of every trial.\n" +
			"CAMPAIGN is an identity, its beginning, a name, or \"last\", which is the default.\n" +
			"Without --format the output is text for the terminal.",
		Example: "  soku report\n  soku report gateway-sku --format html,md,csv -o out/\n  soku report last -o report.html\n  soku report --format trials.csv\n  soku report --runs 10",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReport(cmd.Context(), sys, f, args)
		},
	}
	cmd.Flags().StringSliceVar(&f.formats, "format", nil, "html, md, xlsx, csv, trials.csv (a row for each figure of each trial), json or txt; several with commas")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file (its extension is the format when none is given) or folder (no extension, or / at the end); - for standard output, the default")
	cmd.Flags().IntVar(&f.runs, "runs", 0, "report the last N tests run by hand instead of a campaign")
	cmd.Flags().StringVar(&f.pivot, "pivot", "", "the factors of the first table, in text, Markdown, HTML and XLSX: the levels of one as rows, of another as columns (ROWS,COLUMNS)")
	cmd.Flags().StringVar(&f.question, "question", "", "what the answers are about, in place of the plan's question: a factor, limit, contention or patterns")
	cmd.Flags().BoolVar(&f.full, "full", false, "in text: all findings, tables and warnings, not the answers with their tables alone")
	cmd.ValidArgsFunction = completeCampaigns(sys)
	complete(cmd, "format", cobra.FixedCompletions([]cobra.Completion{"html", "md", "xlsx", "csv", "trials.csv", "json", "txt"}, cobra.ShellCompDirectiveNoFileComp))
	addStoreFlag(cmd, &f.store)
	addCatalogFlag(cmd, &f.catalog)
	return cmd
}

func runReport(ctx context.Context, sys *System, f reportFlags, args []string) (err error) {
	if f.output == "-" {
		f.output = ""
	}
	formats, folder, err := f.plan()
	if err != nil {
		return err
	}
	if f.runs < 0 || f.runs > 0 && len(args) > 0 {
		return measure.Fail(measure.KindUsage, "cli.report.runs", measure.Figures{"runs": f.runs})
	}
	r, err := f.build(ctx, sys, args)
	if err == nil && f.pivot != "" {
		r, err = r.Pivoted(f.pivot)
	}
	if err != nil {
		return err
	}
	if !f.full {
		r = r.Brief()
	}
	for _, format := range formats {
		var b bytes.Buffer
		if err := format.Write(&b, r, sys.Catalogue, sys.StdoutWidth()); err != nil {
			return err
		}
		if f.output == "" {
			if _, err := sys.Stdout.Write(b.Bytes()); err != nil {
				return err
			}
			continue
		}
		file := f.output
		if folder {
			file = filepath.Join(f.output, publish.FileName(r.Campaign)+"."+format.Name)
		}
		if err := writeReport(sys, file, b.Bytes()); err != nil {
			return err
		}
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("report.wrote", text.Args{"File": file}))
	}
	return nil
}

// plan checks the flags against each other and returns the formats to write
// and whether the output is a folder.
func (f reportFlags) plan() (formats []publish.Format, folder bool, err error) {
	folder = f.output != "" && (filepath.Ext(f.output) == "" || strings.HasSuffix(f.output, "/") || strings.HasSuffix(f.output, string(filepath.Separator)))
	names := f.formats
	if len(names) == 0 {
		names = []string{"txt"}
		switch named, ok := publish.FormatOfFile(f.output); {
		case f.output != "" && !folder && ok:
			names = []string{named.Name}
		case f.output != "" && !folder:
			return nil, false, measure.Fail(measure.KindUsage, "cli.report.extension", measure.Figures{"file": f.output})
		case folder:
			names = []string{"html"}
		}
	}
	for _, name := range names {
		format, ok := publish.FormatOf(strings.ToLower(strings.TrimSpace(name)))
		if !ok {
			return nil, false, measure.Fail(measure.KindUsage, "cli.report.format", measure.Figures{"format": name})
		}
		if !slices.ContainsFunc(formats, func(k publish.Format) bool { return k.Name == format.Name }) {
			formats = append(formats, format)
		}
	}
	if f.pivot != "" && !slices.ContainsFunc(formats, func(k publish.Format) bool { return k.Pivots }) {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.pivot", measure.Figures{"format": formats[0].Name})
	}
	if i := slices.IndexFunc(formats, func(k publish.Format) bool { return k.Binary }); i >= 0 && f.output == "" {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.binary", measure.Figures{"format": formats[i].Name})
	}
	if len(formats) > 1 && !folder {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.several_formats", measure.Figures{"formats": len(formats)})
	}
	return formats, folder, nil
}

// build makes the report of a campaign, or of the last tests run by hand.
func (f reportFlags) build(ctx context.Context, sys *System, args []string) (r *report.Report, err error) {
	known, err := knownLimits(sys, f.catalog)()
	if err != nil {
		return nil, err
	}
	s, err := openStore(ctx, sys, f.store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if f.runs > 0 {
		return publish.ByHand(ctx, known, s, f.runs)
	}
	id := store.Last
	if len(args) > 0 {
		id = args[0]
	}
	c, err := findCampaign(ctx, sys, s, id)
	if err != nil {
		if measure.KindOf(err) == measure.KindNotFound && len(args) == 0 {
			return nil, measure.Fail(measure.KindNotFound, "cli.report.no_campaign", nil)
		}
		return nil, err
	}
	return publish.Campaign(ctx, known, s, c, f.question)
}

// writeReport writes a file and makes its folder.
func writeReport(sys *System, file string, data []byte) error {
	return inFolder(sys, file, func() error { return sys.WriteFile(file, data, 0o644) })
}

// tryReport makes the folder of a file, and fails as writeReport would.
func tryReport(sys *System, file string) error {
	return inFolder(sys, file, func() error { return sys.TryWrite(file) })
}

// inFolder makes the folder of a file, then calls write.
func inFolder(sys *System, file string, write func() error) error {
	err := sys.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = write()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return measure.Fail(measure.KindPermission, "cli.report.not_allowed", measure.Figures{"file": file, "cause": err})
	}
	return measure.Fail(measure.KindStore, "cli.report.write", measure.Figures{"file": file, "cause": err})
}
