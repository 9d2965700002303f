package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/ingest"
	"soku/internal/measure"
	"soku/internal/text"
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
	verbose  bool
	store    string
}

func newIngestCommand(sys *System) *cobra.Command {
	f := ingestFlags{}
	cmd := &cobra.Command{
		Use:   "ingest FILE...",
		Short: "Import results of other programs",
		Long: "Converts the output of iperf3, iperf 2, ntttcp, Ethr, ping, fping, mtr, nuttcp,\n" +
			"netperf and sockperf, and tables in CSV, into results of a campaign for soku\n" +
			"report. Every result records its source and what is missing. A file is ingested\n" +
			"completely or not at all, and only once. The client's and the server's files of\n" +
			"one run become one result: for iperf3 by their cookie, for ntttcp and Ethr by\n" +
			"{end} in the path pattern.",
		Example: `  soku ingest --campaign gateways --factor sku=VpnGw1 run1.json run2.json
  soku ingest --campaign gateways --path-pattern '{sku}/{repeat}.json' */*.json
  soku ingest --campaign gateways --path-pattern 'run{repeat}-{end}.xml' *.xml
  soku ingest --map vm-bandwidth-cap.yaml vm-bandwidth-cap.csv
  soku ingest --campaign x --dry-run *.json        show what would be ingested`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runIngest(cmd.Context(), sys, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.campaign, "campaign", "", "name of the campaign for the results: a new one, or one of ingested results")
	flags.StringVar(&f.format, "format", ingest.Auto, strings.Join(ingest.Formats(), ", "))
	complete(cmd, "format", cobra.FixedCompletions(ingest.Formats(), cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "campaign", completeCampaigns(sys))
	flags.StringArrayVar(&f.factors, "factor", nil, "level of a factor for all files, NAME=VALUE; may be given several times")
	flags.StringVar(&f.pattern, "path-pattern", "", "end of the files' paths with factors in braces, such as '{sku}/{zone}/run{repeat}.json'")
	flags.StringVar(&f.mapping, "map", "", "mapping file (YAML): factors, and what the columns of a table are")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be ingested and write nothing")
	flags.BoolVar(&f.verbose, "verbose", false, "print a line for each result, and not only for the first 20")
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
	Joined  int            `json:"joined,omitempty"` // tests whose other end's file has the result
	Error   *measure.Error `json:"error,omitempty"`
}

type ingestResult struct {
	ID       string          `json:"id"`
	Known    bool            `json:"known,omitempty"`
	Other    string          `json:"other_file,omitempty"` // of the other end of the run, where both make up the result
	Line     int             `json:"line"`
	Format   string          `json:"format"`
	Tool     string          `json:"tool,omitempty"`
	Test     measure.Test    `json:"test"`
	Label    string          `json:"label"`
	Pattern  string          `json:"pattern"`
	Levels   []measure.Level `json:"levels"`
	Round    int             `json:"round"`
	Headline string          `json:"headline"`
	// Missing is what a result of soku's own would have and this one does not.
	Missing measure.Findings `json:"missing,omitempty"`

	line text.Line // the headline for people
}

func runIngest(ctx context.Context, sys *System, f ingestFlags, args []string) (err error) {
	q, err := f.request(sys)
	if err != nil {
		return err
	}
	st, closeStore, err := openStoreFor(ctx, sys, f.store, f.dryRun)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	in, err := ingest.Open(ctx, st, q, f.dryRun)
	if err != nil {
		return err
	}
	out := ingestReport{Schema: "soku.ingest/1", Campaign: in.Campaign.ID, Name: in.Campaign.Name, DryRun: f.dryRun, Files: []ingestFile{}}
	t := &ingestTaker{sys: sys, request: q, intake: in, ends: ingest.NewEnds(q.Path), out: &out, fileOf: map[*measure.Result]int{}}
	failure := t.take(ctx, args)
	if failure == nil || measure.KindOf(failure) != measure.KindStore {
		if err := in.Close(ctx); err != nil {
			return err
		}
	}
	if f.json {
		err = printJSON(sys.Stdout, out)
	} else {
		printIngest(sys.Catalogue, sys.Stdout, sys.StdoutWidth(), f.verbose, &out)
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
			return nil, measure.Fail(measure.KindFile, "cli.ingest.mapping", measure.Figures{"cause": err})
		}
		if q.Mapping, err = ingest.ParseMapping(f.mapping, text); err != nil {
			return nil, err
		}
	}
	return q, q.Check()
}

// ingestTaker puts the files of one command into a campaign.
type ingestTaker struct {
	sys     *System
	request *ingest.Request
	intake  *ingest.Intake
	ends    *ingest.Ends
	out     *ingestReport
	fileOf  map[*measure.Result]int // of what waits for its other end: index in out.Files
	several bool                    // files
}

// take reads one file after another. One that cannot be read is reported; the
// other files are still ingested.
func (t *ingestTaker) take(ctx context.Context, paths []string) error {
	t.several = len(paths) > 1
	for _, path := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.out.Files = append(t.out.Files, ingestFile{File: path, Results: []ingestResult{}})
		err := t.file(ctx, len(t.out.Files)-1)
		if measure.KindOf(err) == measure.KindStore {
			return err
		}
		if err != nil {
			t.refuse(len(t.out.Files)-1, err)
		}
	}
	if err := t.join(ctx); err != nil {
		return err
	}
	return t.failure()
}

func (t *ingestTaker) file(ctx context.Context, index int) error {
	file := &t.out.Files[index]
	data, modified, err := readBounded(t.sys, file.File)
	if err != nil {
		return err
	}
	s, err := ingest.NewSource(file.File, data, modified)
	if err != nil {
		return err
	}
	file.SHA256 = s.SHA256
	results, err := t.request.Read(s)
	if err == nil {
		err = t.intake.Check(results)
	}
	if err != nil {
		return err
	}
	for _, r := range results {
		if t.ends.Hold(r) {
			t.fileOf[r] = index
			continue
		}
		if err := t.add(ctx, file, r); err != nil {
			return err
		}
	}
	return nil
}

// join puts in what waited for the other end of its run.
func (t *ingestTaker) join(ctx context.Context) error {
	for _, j := range t.ends.Join() {
		index := t.fileOf[j.Of]
		if j.Err != nil {
			t.refuse(index, j.Err)
			continue
		}
		if j.Other != nil {
			t.out.Files[t.fileOf[j.Other]].Joined++
		}
		if err := t.add(ctx, &t.out.Files[index], j.Result); err != nil {
			return err
		}
	}
	return nil
}

func (t *ingestTaker) add(ctx context.Context, file *ingestFile, r *measure.Result) error {
	taken, added, err := t.intake.Add(ctx, r)
	if err != nil {
		return err
	}
	if added {
		t.out.New++
	} else {
		t.out.Known++
	}
	o, other := taken.Origin, ""
	if o.Other != nil {
		other = o.Other.File
	}
	file.Results = append(file.Results, ingestResult{
		ID: taken.ID, Known: !added, Other: other, Line: o.Line, Format: o.Format, Tool: strings.TrimSpace(o.Tool + " " + o.ToolVersion), Test: taken.Test, Label: taken.Label,
		Pattern: taken.Pattern, Levels: taken.Levels, Round: taken.Round, Headline: headline(text.ForPrograms(), taken.Entry), Missing: o.Missing,
		line: text.Headline(taken.Test, taken.ErrorKind, taken.Figures),
	})
	return nil
}

// refuse says what is wrong with a file, once.
func (t *ingestTaker) refuse(index int, err error) {
	file := &t.out.Files[index]
	if file.Error != nil {
		return
	}
	file.Error = measure.AsError(err, measure.KindFile)
	t.out.Unread++
	if t.several {
		printError(t.sys.Catalogue, t.sys.Stderr, err)
	}
}

// failure is what is wrong with all files together.
func (t *ingestTaker) failure() error {
	var first *measure.Error
	for _, file := range t.out.Files {
		first = cmp.Or(first, file.Error)
	}
	files := len(t.out.Files)
	switch {
	case first == nil:
		return nil
	case !t.several:
		return first
	case t.out.Unread == files:
		return measure.Fail(first.Kind, "cli.ingest.none_read", measure.Figures{"files": files})
	}
	return measure.Fail(measure.KindIncomplete, "cli.ingest.some_unread", measure.Figures{"unread": t.out.Unread, "files": files})
}

// readBounded reads a file that may be of any size, or no file at all.
func readBounded(sys *System, path string) (data []byte, modified time.Time, err error) {
	data, info, err := sys.readStart(path, ingest.MaxFileBytes)
	switch {
	case info != nil && info.IsDir():
		return nil, modified, measure.Fail(measure.KindFile, "cli.ingest.folder", measure.Figures{"file": path})
	case err != nil:
		kind := measure.KindFile
		if errors.Is(err, fs.ErrPermission) {
			kind = measure.KindPermission
		}
		return nil, modified, measure.Fail(kind, "cli.ingest.file", measure.Figures{"file": path, "cause": err})
	}
	return data, info.ModTime(), nil
}
