package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/ingest"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/version"
)

type ingestFlags struct {
	campaign string
	format   string
	factors  []string
	pattern  string
	mapping  string
	json     bool
	dryRun   bool
	store    string
}

func newIngestCommand(sys *System) *cobra.Command {
	f := ingestFlags{}
	cmd := &cobra.Command{
		Use:   "ingest FILE...",
		Short: "Take over what other programs measured",
		Long: "Turns what iperf3, iperf 2, ntttcp, Ethr, ping, sockperf and netperf wrote, and\n" +
			"tables in CSV, into results of a campaign, so that soku report reads them. Every\n" +
			"result says where it came from and what it lacks; no figure is made up. A file\n" +
			"goes in whole or not at all, and only once.",
		Example: `  soku ingest --campaign gateways --factor sku=VpnGw1 run1.json run2.json
  soku ingest --campaign gateways --path-pattern '{sku}/{repeat}.json' */*.json
  soku ingest --map cases/vm-bandwidth-cap.yaml cases/vm-bandwidth-cap.csv
  soku ingest --campaign x --dry-run *.json        what would go in`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runIngest(cmd.Context(), sys, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.campaign, "campaign", "", "name of the campaign that the results go into, new or one that was ingested")
	flags.StringVar(&f.format, "format", ingest.Auto, strings.Join(ingest.Formats(), ", "))
	flags.StringArrayVar(&f.factors, "factor", nil, "level of a factor for all files, NAME=VALUE; may be given several times")
	flags.StringVar(&f.pattern, "path-pattern", "", "end of the files' paths with factors in braces, such as '{sku}/{zone}/run{repeat}.json'")
	flags.StringVar(&f.mapping, "map", "", "mapping file (YAML): factors, and what the columns of a table are")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would go in and write nothing")
	addStoreFlag(cmd, &f.store)
	return cmd
}

// ingestReport is what --json prints.
type ingestReport struct {
	Schema   string       `json:"schema"`
	Campaign string       `json:"campaign"`
	Name     string       `json:"name"`
	DryRun   bool         `json:"dry_run,omitempty"`
	Files    []ingestFile `json:"files"`
	New      int          `json:"new"`
	Known    int          `json:"known"`  // results that were in already
	Unread   int          `json:"unread"` // files
}

type ingestFile struct {
	File    string         `json:"file"`
	SHA256  string         `json:"sha256,omitempty"`
	Results []ingestResult `json:"results"`
	Error   *measure.Error `json:"error,omitempty"`
}

type ingestResult struct {
	ID       string          `json:"id"`
	Known    bool            `json:"known,omitempty"`
	Line     int             `json:"line"`
	Format   string          `json:"format"`
	Tool     string          `json:"tool,omitempty"`
	Test     measure.Test    `json:"test"`
	Label    string          `json:"label"`
	Pattern  string          `json:"pattern"`
	Levels   []measure.Level `json:"levels"`
	Round    int             `json:"round"`
	Headline string          `json:"headline"`
	Lacks    []string        `json:"lacks"`
}

func runIngest(ctx context.Context, sys *System, f ingestFlags, args []string) (err error) {
	q, err := f.request(sys)
	if err != nil {
		return err
	}
	st, err := openStore(ctx, sys, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	in, err := ingest.Open(ctx, st, q, f.dryRun)
	if err != nil {
		return err
	}
	out := ingestReport{Schema: "soku.ingest/1", Campaign: in.Campaign.ID, Name: in.Campaign.Name, DryRun: f.dryRun, Files: []ingestFile{}}
	failure := takeFiles(ctx, sys, q, in, args, &out)
	if failure == nil || measure.KindOf(failure) != measure.KindStore {
		if err := in.Close(ctx); err != nil {
			return err
		}
	}
	if f.json {
		err = printJSON(sys.Stdout, out)
	} else {
		printIngest(sys.Stdout, &out)
	}
	return errors.Join(err, failure)
}

// request reads the flags.
func (f ingestFlags) request(sys *System) (*ingest.Request, error) {
	q := &ingest.Request{Campaign: f.campaign, Format: f.format, Version: version.String(), Now: sys.Now()}
	for _, text := range f.factors {
		name, value, _ := strings.Cut(text, "=")
		q.Levels = append(q.Levels, measure.Level{Factor: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	if f.pattern != "" {
		p, err := ingest.ParsePathPattern(f.pattern)
		if err != nil {
			return nil, err
		}
		q.Path = p
	}
	if f.mapping != "" {
		text, err := sys.ReadFile(f.mapping)
		if err != nil {
			return nil, measure.Errorf(measure.KindFile, "read the mapping: %w", err).WithHint("give its file with --map")
		}
		if q.Mapping, err = ingest.ParseMapping(f.mapping, text); err != nil {
			return nil, err
		}
	}
	return q, q.Check()
}

// takeFiles puts one file after another into the campaign. A file that cannot be
// read is said at once and keeps no other from going in.
func takeFiles(ctx context.Context, sys *System, q *ingest.Request, in *ingest.Intake, paths []string, out *ingestReport) error {
	var first *measure.Error
	for _, path := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		file, err := takeFile(ctx, sys, q, in, path)
		if measure.KindOf(err) == measure.KindStore {
			return err
		}
		if err != nil {
			file.Error = measure.AsError(err, measure.KindFile)
			if out.Unread++; first == nil {
				first = file.Error
			}
			if len(paths) > 1 {
				fmt.Fprintf(sys.Stderr, "soku: %s\n", oneLine(err.Error()))
			}
		}
		for _, r := range file.Results {
			if r.Known {
				out.Known++
			} else {
				out.New++
			}
		}
		out.Files = append(out.Files, file)
	}
	switch {
	case out.Unread == 0:
		return nil
	case len(paths) == 1:
		return first
	case out.Unread == len(paths):
		return measure.Errorf(first.Kind, "ingest: none of %d files could be read", len(paths)).WithHint("each is named above with its line")
	}
	return measure.Errorf(measure.KindIncomplete, "ingest: %d of %d files could not be read, the others went in", out.Unread, len(paths)).WithHint("each is named above with its line")
}

func takeFile(ctx context.Context, sys *System, q *ingest.Request, in *ingest.Intake, path string) (ingestFile, error) {
	file := ingestFile{File: path, Results: []ingestResult{}}
	data, modified, err := readBounded(sys, path)
	if err != nil {
		return file, err
	}
	s, err := ingest.NewSource(path, data, modified)
	if err != nil {
		return file, err
	}
	file.SHA256 = s.SHA256
	results, err := q.Read(s)
	if err != nil {
		return file, err
	}
	for _, r := range results {
		added, err := in.Add(ctx, r)
		if err != nil {
			return file, err
		}
		if !added {
			r = in.Known(r)
		}
		tool := strings.TrimSpace(r.Origin.Tool + " " + r.Origin.ToolVersion)
		file.Results = append(file.Results, ingestResult{
			ID: r.ID, Known: !added, Line: r.Origin.Line, Format: r.Origin.Format, Tool: tool, Test: r.Test, Label: r.Trial.Label, Pattern: r.Trial.Pattern,
			Levels: r.Trial.Levels, Round: r.Trial.Round, Headline: store.Headline(r), Lacks: r.Origin.Lacks,
		})
	}
	return file, nil
}

// readBounded reads a file that may be of any size, or no file at all.
func readBounded(sys *System, path string) (data []byte, modified time.Time, err error) {
	wrong := func(err error) error {
		kind := measure.KindFile
		if errors.Is(err, fs.ErrPermission) {
			kind = measure.KindPermission
		}
		return measure.Errorf(kind, "read %s: %w", path, err).WithHint("give files that programs wrote, for example: soku ingest --campaign x out/*.json")
	}
	f, err := sys.Open(path)
	if err != nil {
		return nil, modified, wrong(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, modified, wrong(err)
	}
	if info.IsDir() {
		return nil, modified, wrong(errors.New("it is a folder"))
	}
	if data, err = io.ReadAll(io.LimitReader(f, ingest.MaxFileBytes+1)); err != nil {
		return nil, modified, wrong(err)
	}
	return data, info.ModTime(), nil
}

// printIngest writes what went in for a person: a line a result, and what
// results lack once for all that lack the same.
func printIngest(w io.Writer, out *ingestReport) {
	rows := [][]string{{"FILE", "LINE", "FROM", "TEST", "PATTERN", "ROUND", "FIGURE", ""}}
	var lacks []string
	for _, file := range out.Files {
		for _, r := range file.Results {
			state := ""
			if r.Known {
				state = "in already"
			}
			from := r.Tool
			if from == "" {
				from = r.Format
			}
			rows = append(rows, []string{file.File, fmt.Sprint(r.Line), from, r.Label, r.Pattern, fmt.Sprint(r.Round), r.Headline, state})
			for _, l := range r.Lacks {
				if !slices.Contains(lacks, l) {
					lacks = append(lacks, l)
				}
			}
		}
	}
	if len(rows) > 1 {
		printTable(w, rows)
		fmt.Fprintf(w, "not in these results, or not in all: %s\n", terminalText(strings.Join(lacks, "; ")))
	}
	verb := "went into"
	if out.DryRun {
		verb = "would go into"
	}
	fmt.Fprintf(w, "%s %s campaign %s", plural(out.New, "result"), verb, out.Campaign)
	if out.Known > 0 {
		fmt.Fprintf(w, "; %s in it already and stayed as they were", plural(out.Known, "result"))
	}
	fmt.Fprintln(w)
	if out.New > 0 && !out.DryRun {
		fmt.Fprintf(w, "report: soku report %s\n", out.Name)
	}
}
