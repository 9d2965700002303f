package cli

import (
	"bufio"
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
	replace  bool
	store    string
}

func newIngestCommand(sys *System) *cobra.Command {
	f := ingestFlags{}
	cmd := &cobra.Command{
		Use:   "ingest FILE|FOLDER...",
		Short: "Import results of other programs",
		Long: "Converts the output of iperf3, iperf 2, ntttcp, Ethr, ping, fping, mtr, nuttcp,\n" +
			"netperf, sockperf, PsPing, latte, lagscope, cps and Test-Connection, and tables\n" +
			"in CSV, into results of a campaign for soku report. Every result records its\n" +
			"source and what is missing. A file is ingested completely or not at all, and\n" +
			"only once. The client's and the server's files of one run become one result: for\n" +
			"iperf3 by their cookie, for ntttcp and Ethr by {end} in the path pattern. Of a\n" +
			"folder all files are ingested whose format is known. Folders by which files\n" +
			"differ, such as D2/ and D4/, are levels of a factor: --path-pattern names it,\n" +
			"or a question at the terminal.",
		Example: `  soku ingest --campaign gateways --factor sku=VpnGw1 run1.json run2.json
  soku ingest --campaign gateways --path-pattern '{sku}/{repeat}.json' */*.json
  soku ingest --campaign gateways --path-pattern 'run{repeat}-{end}.xml' *.xml
  soku ingest --campaign sizes --path-pattern '{size}/*' results
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
	flags.StringVar(&f.pattern, "path-pattern", "", "end of the files' paths with factors in braces, such as '{sku}/{zone}/run{repeat}.json'; "+noPattern+": files of different folders are repeats")
	flags.StringVar(&f.mapping, "map", "", "mapping file (YAML): factors, and what the columns of a table are")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be ingested and write nothing")
	flags.BoolVar(&f.replace, "replace", false, "replace results that are in the campaign with other levels, and do not ask")
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
	Known    int          `json:"known"`                  // results that were in already
	Unread   int          `json:"unread"`                 // files
	Foreign  int          `json:"foreign,omitempty"`      // files of a folder that are not the output of a program that is known
	Replaced int          `json:"replaced,omitempty"`     // results that were in with other levels
	Other    int          `json:"other_levels,omitempty"` // results that stayed in with other levels
}

type ingestFile struct {
	File    string         `json:"file"`
	SHA256  string         `json:"sha256,omitempty"`
	Results []ingestResult `json:"results"`
	Joined  int            `json:"joined,omitempty"`  // tests whose other end's file has the result
	Foreign bool           `json:"foreign,omitempty"` // not the output of a program that is known
	Error   *measure.Error `json:"error,omitempty"`
}

type ingestResult struct {
	ID       string          `json:"id"`
	Known    bool            `json:"known,omitempty"`
	Replaced bool            `json:"replaced,omitempty"`
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
	own := *sys
	own.Stdin = bufio.NewReader(sys.Stdin) // for all questions, as one reads ahead
	sys = &own
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
	t := &ingestTaker{sys: sys, request: q, intake: in, out: &out, fileOf: map[*measure.Result]int{}, replace: f.replace, own: map[string]bool{}}
	paths, err := ingestPaths(sys, args)
	if err == nil && f.pattern != noPattern {
		paths, err = t.chooseFactors(ctx, paths)
	}
	if err != nil {
		return err
	}
	t.ends = ingest.NewEnds(q.Path)
	failure := t.take(ctx, paths)
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
	if f.pattern != "" && f.pattern != noPattern {
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
	replace bool                    // results with other levels
	asked   bool                    // whether to replace
	own     map[string]bool         // IDs of the results that this command put into the campaign
}

// take reads one file after another. A file or folder that cannot be read is reported; the
// other files are still ingested.
func (t *ingestTaker) take(ctx context.Context, paths []ingestPath) error {
	t.several = len(paths) > 1
	for _, p := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.out.Files = append(t.out.Files, ingestFile{File: p.path, Results: []ingestResult{}})
		err := p.err
		if err == nil {
			err = t.file(ctx, len(t.out.Files)-1)
		}
		switch {
		case measure.KindOf(err) == measure.KindStore:
			return err
		case p.found && isForeign(err):
			t.out.Files[len(t.out.Files)-1].Foreign = true
			t.out.Foreign++
		case err != nil:
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
	results, sha256, err := t.read(file.File)
	file.SHA256 = sha256
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

// read decodes a file.
func (t *ingestTaker) read(path string) (results []*measure.Result, sha256 string, err error) {
	data, modified, err := readBounded(t.sys, path)
	if err != nil {
		return nil, "", err
	}
	s, err := ingest.NewSource(path, data, modified)
	if err != nil {
		return nil, "", err
	}
	results, err = t.request.Read(s)
	return results, s.SHA256, err
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
	taken, state, err := t.put(ctx, r)
	if err != nil {
		return err
	}
	o, other := taken.Origin, ""
	if o.Other != nil {
		other = o.Other.File
	}
	file.Results = append(file.Results, ingestResult{
		ID: taken.ID, Known: state == stateKnown, Replaced: state == stateReplaced, Other: other, Line: o.Line, Format: o.Format, Tool: strings.TrimSpace(o.Tool + " " + o.ToolVersion), Test: taken.Test, Label: taken.Label,
		Pattern: taken.Pattern, Levels: taken.Levels, Round: taken.Round, Headline: headline(text.ForPrograms(), taken.Entry), Missing: o.Missing,
		line: text.Headline(taken.Test, taken.ErrorKind, taken.Figures),
	})
	return nil
}

// What became of a result.
type ingestState int

const (
	stateNew ingestState = iota
	stateKnown
	stateReplaced
)

// put puts a result into the campaign, in place of one with other levels if that is wanted and an earlier command
// added it.
func (t *ingestTaker) put(ctx context.Context, r *measure.Result) (taken *ingest.Taken, state ingestState, err error) {
	if old := t.intake.Relevelled(r); old != nil && !t.own[old.ID] {
		replaces, err := t.replaces(ctx, old, r)
		if err != nil {
			return nil, 0, err
		}
		if replaces {
			t.out.Replaced++
			if taken, err = t.intake.Replace(ctx, old, r); err == nil {
				t.own[taken.ID] = true
			}
			return taken, stateReplaced, err
		}
		t.out.Other++
	}
	taken, added, err := t.intake.Add(ctx, r)
	if err == nil && added {
		t.out.New++
		t.own[taken.ID] = true
		return taken, stateNew, nil
	}
	t.out.Known++
	return taken, stateKnown, err
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
	case t.out.Foreign == files:
		return measure.Fail(measure.KindFile, "cli.ingest.foreign", measure.Figures{"files": files, "formats": ingest.Formats()[1:]})
	case first == nil:
		return nil
	case !t.several:
		return first
	case t.out.Unread == files-t.out.Foreign:
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
