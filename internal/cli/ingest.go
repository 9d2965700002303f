package cli

import (
	"context"
	"errors"
	"strings"

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
	open := openStore
	if f.dryRun {
		open = openExistingStore
	}
	st, err := open(ctx, sys, f.store)
	if err != nil {
		return err
	}
	if st != nil {
		defer func() { err = errors.Join(err, st.Close()) }()
	}
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
