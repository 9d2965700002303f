package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/publish"
)

type reportFlags struct {
	formats  []string
	output   string
	store    string
	runs     int
	pivot    string
	question string
	baseline []string
	full     bool
	catalog  string
	plain    bool
	public   bool
	bundle   string
	dataURL  string
	open     bool
}

// add adds the flags to a command.
func (f *reportFlags) add(sys *System, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.formats, "format", nil, "html, md, pdf and png (its first screen) by an installed Chromium, Chrome or Edge, svg (a file for each chart), xlsx, csv, trials.csv (a row for each figure of each trial), json or txt; several with commas")
	flags.StringVarP(&f.output, "output", "o", "", "file (its extension is the format when none is given) or folder (no extension, or / at the end); - for standard output, the default")
	flags.IntVar(&f.runs, "runs", 0, "report the last N tests run by hand instead of a campaign")
	flags.StringVar(&f.pivot, "pivot", "", "the factors of the first table, in text, Markdown, HTML and XLSX: the levels of one as rows, of another as columns (ROWS,COLUMNS)")
	flags.StringVar(&f.question, "question", "", "what the answers are about, in place of the plan's question: a factor, limit, contention or patterns")
	flags.StringArrayVar(&f.baseline, "baseline", nil, "the pattern that the first table, in text, Markdown, HTML and XLSX, compares the others with, in place of the best or of the plan's baseline: FACTOR=LEVEL, repeated for several factors")
	flags.BoolVar(&f.full, "full", false, "in text: all findings, tables and warnings, not the answers with their tables alone")
	flags.BoolVar(&f.public, "public", false, "leave out addresses, names of hosts (host A, host B) and users, paths and the plan")
	flags.StringVar(&f.bundle, "bundle", "", "write the report in all formats, the plan and all results to one zip file, which soku merge reads")
	flags.StringVar(&f.dataURL, "data-url", "", "link to the data from the page and from Markdown, such as the address of a bundle (http or https)")
	flags.BoolVar(&f.open, "open", false, "open the page in a browser; without -o it is NAME.html in the current folder")
	flags.BoolVar(&f.plain, "plain", false, "Markdown without folds, which are HTML")
	cmd.ValidArgsFunction = completeCampaigns(sys)
	complete(cmd, "format", cobra.FixedCompletions([]cobra.Completion{"html", "md", "pdf", "png", "svg", "xlsx", "csv", "trials.csv", "json", "txt"}, cobra.ShellCompDirectiveNoFileComp))
	addStoreFlag(cmd, &f.store)
	addCatalogFlag(cmd, &f.catalog)
}

// plan checks the flags against each other and returns the formats to write
// and whether the output is a folder.
func (f reportFlags) plan() (formats []publish.Format, folder bool, err error) {
	folder = f.output != "" && (filepath.Ext(f.output) == "" || strings.HasSuffix(f.output, "/") || strings.HasSuffix(f.output, string(filepath.Separator)))
	if f.dataURL != "" && !publish.IsDataURL(f.dataURL) {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.data_url", measure.Figures{"url": f.dataURL})
	}
	names := f.formats
	if len(names) == 0 && f.output == "" && f.bundle != "" {
		return nil, false, nil
	}
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
	for _, table := range []struct {
		flag  string
		given bool
	}{{"--pivot", f.pivot != ""}, {"--baseline", len(f.baseline) > 0}} {
		if table.given && !slices.ContainsFunc(formats, func(k publish.Format) bool { return k.Pivots }) {
			return nil, false, measure.Fail(measure.KindUsage, "cli.report.pivot", measure.Figures{"flag": table.flag, "format": formats[0].Name})
		}
	}
	if f.plain && !slices.ContainsFunc(formats, func(k publish.Format) bool { return k.Name == "md" }) {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.plain", measure.Figures{"format": formats[0].Name})
	}
	if i := slices.IndexFunc(formats, func(k publish.Format) bool { return k.Folder }); i >= 0 && !folder {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.folder", measure.Figures{"format": formats[i].Name})
	}
	if i := slices.IndexFunc(formats, func(k publish.Format) bool { return k.Binary }); i >= 0 && f.output == "" {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.binary", measure.Figures{"format": formats[i].Name})
	}
	if f.open && !slices.ContainsFunc(formats, func(k publish.Format) bool { return k.Name == "html" }) {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.open_format", measure.Figures{"format": formats[0].Name})
	}
	if len(formats) > 1 && !folder {
		return nil, false, measure.Fail(measure.KindUsage, "cli.report.several_formats", measure.Figures{"formats": len(formats)})
	}
	return formats, folder, nil
}
