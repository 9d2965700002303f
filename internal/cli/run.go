package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/conduct"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/publish"
	"soku/internal/store"
	"soku/internal/text"
)

type runFlags struct {
	resume      bool
	retryFailed bool
	moreRounds  int
	only        []string
	campaign    string
	seed        int64
	seedGiven   bool
	store       string
	reports     []string
	patience    time.Duration
	noPreflight bool
	binaries    string
	catalog     string
	access      accessFlags
	// follow, if not nil, returns what has a line to say after some events.
	follow func(ctx context.Context, st store.Store, c *campaign.Campaign) (func(campaign.Event) string, error)
}

func newRunCommand(sys *System) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run PLAN.yaml",
		Short: "Run a campaign and compare its patterns",
		Long: `Runs the trials of a plan: in each round every pattern once, in a random order
determined by the seed. Every finished trial is stored at once; --resume
continues a run that was stopped, killed or interrupted. The report is printed
at the end.`,
		Example: `  soku run plan.yaml
  soku run plan.yaml --report report.html
  soku run plan.yaml --binaries dist/                programs for hosts by ssh
  soku run plan.yaml --only gateway=standard,high    the others later
  soku run plan.yaml --resume                        run the remaining trials
  soku run plan.yaml --resume --retry-failed         repeat failed trials
  soku run plan.yaml --resume --more-rounds 5        add rounds`,
		Args: onePlan, ValidArgsFunction: completeFiles("yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.seedGiven = cmd.Flags().Changed("seed")
			if cmd.Flags().Changed("more-rounds") && f.moreRounds < 1 {
				return measure.Fail(measure.KindUsage, "cli.run.more_rounds", measure.Figures{"rounds": f.moreRounds})
			}
			f.resume = f.resume || f.campaign != "" || f.retryFailed || f.moreRounds != 0
			for _, file := range f.reports {
				if format, ok := publish.FormatOfFile(file); !ok || format.Folder {
					return measure.Fail(measure.KindUsage, "cli.run.report_extension", measure.Figures{"file": file})
				}
			}
			return runCampaign(cmd.Context(), sys, args[0], f, func(ctx context.Context, st store.Store, c *campaign.Campaign, out campaign.Outcome, runErr error) error {
				return showReport(ctx, sys, f, st, c, out, runErr)
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.resume, "resume", false, "continue the newest campaign of this plan that has trials left")
	flags.BoolVar(&f.retryFailed, "retry-failed", false, "also repeat failed trials (implies --resume)")
	flags.IntVar(&f.moreRounds, "more-rounds", 0, "add so many rounds to the campaign (implies --resume)")
	flags.StringArrayVar(&f.only, "only", nil, "run only patterns with this level, as factor=level,level; may be repeated")
	flags.StringVar(&f.campaign, "campaign", "", "continue this campaign: its identity, the beginning of one, or last (implies --resume)")
	flags.Int64Var(&f.seed, "seed", 0, "seed of the random order, instead of the plan's")
	flags.StringArrayVar(&f.reports, "report", nil, "write the report to this file (.html, .md, .xlsx, .csv, .trials.csv, .json, .txt); may be repeated")
	complete(cmd, "campaign", completeCampaigns(sys))
	flags.DurationVar(&f.patience, "patience", time.Minute, "wait so long for a server that cannot be reached, such as during a restart; 0: fail at once")
	flags.BoolVar(&f.noPreflight, "no-preflight", false, "do not check before the first trial that all servers can be reached")
	flags.StringVar(&f.binaries, "binaries", "", "folder with soku for the hosts that are reached by ssh and run another system than this one, as soku-OS-ARCH; else SOKU_BINARIES")
	addStoreFlag(cmd, &f.store)
	addCatalogFlag(cmd, &f.catalog)
	addAccess(cmd, f.access.add)
	return cmd
}

func onePlan(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return measure.Fail(measure.KindUsage, "cli.run.one_plan", measure.Figures{"arguments": len(args), "command": cmd.CommandPath()})
	}
	return nil
}

// presenter shows what a run of a campaign measured, also where it ended with an error. Its
// context does not end with an interrupt.
type presenter func(ctx context.Context, st store.Store, c *campaign.Campaign, out campaign.Outcome, runErr error) error

// runCampaign has the campaign of a plan conducted, and shows it on the terminal.
func runCampaign(ctx context.Context, sys *System, file string, f *runFlags, present presenter) (err error) {
	if err := sys.needDataDir(); err != nil { // for the journal
		return err
	}
	p, topology, err := conduct.Load(file, sys.ReadFile, knownLimits(sys, f.catalog))
	if err != nil {
		return err
	}
	only, err := conduct.Select(p, f.only)
	if err != nil {
		return err
	}
	access, err := f.campaignAccess(sys)
	if err != nil {
		return err
	}
	if err := tryDataDir(sys); err != nil {
		return err
	}
	st, err := openStore(ctx, sys, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if err := f.tryPlaces(sys); err != nil {
		return err
	}
	show := newProgress(sys, p)
	c := conduct.Conductor{Host: hostOf(sys, f.binaries), Store: st, Journals: campaignsDir(sys), Observer: show}
	if sys.StdinTerminal() {
		c.Questions = &terminalQuestions{sys: sys, lines: bufio.NewReader(sys.Stdin), clearLine: show.clear}
	}
	order := conduct.Order{
		Plan: p, Topology: topology, Only: only, Resume: f.resume, Campaign: f.campaign, RetryFailed: f.retryFailed, MoreRounds: f.moreRounds,
		Patience: f.patience, NoPreflight: f.noPreflight, Access: access,
	}
	if f.seedGiven {
		order.Seed = &f.seed
	}
	s, err := c.Open(ctx, order)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	if f.follow != nil {
		if show.follow, err = f.follow(ctx, st, s.Campaign); err != nil {
			return err
		}
	}
	out, err := s.Run(ctx)
	// What was measured is shown also where trials failed or are left.
	if rerr := present(context.WithoutCancel(ctx), st, s.Campaign, out, err); rerr != nil {
		err = errors.Join(err, rerr)
	}
	return err
}

// tryPlaces fails if a store outside the data folder, which was tried, or a report could not be
// written.
func (f *runFlags) tryPlaces(sys *System) error {
	if f.store != "" {
		if err := tryStoreFolder(sys, f.store); err != nil {
			return err
		}
	}
	for _, file := range f.reports {
		if err := tryReport(sys, file); err != nil {
			return err
		}
	}
	return nil
}

// hostOf is this machine as conduct needs it.
func hostOf(sys *System, binaries string) conduct.Host {
	return conduct.Host{
		Self: sys.self(), Here: here(sys), Open: sys.Open, Now: sys.Now, Username: sys.Username, Root: sys.Root,
		LabDir: lab.RunDir(sys.Getenv), Binaries: cmp.Or(binaries, sys.Getenv("SOKU_BINARIES")),
		SSH: strings.Fields(cmp.Or(strings.TrimSpace(sys.Getenv("SOKU_SSH")), "ssh")),
	}
}

func (f *runFlags) campaignAccess(sys *System) (agent.Access, error) {
	token, cfg, err := f.access.read(sys)
	a := agent.Access{Token: token, TLS: cfg != nil}
	if err == nil && f.access.tlsCA != "" {
		var pem []byte
		pem, err = sys.ReadFile(f.access.tlsCA)
		a.TLSCA = string(pem)
	}
	return a, err
}

// showReport prints the report and writes it to the files that were asked for. A
// run that was interrupted, or could not write, has said what to do next; its
// report would only be in the way on the terminal.
func showReport(ctx context.Context, sys *System, f *runFlags, st store.Store, c *campaign.Campaign, out campaign.Outcome, runErr error) error {
	kind := measure.KindOf(runErr)
	if out.Done == 0 || runErr != nil && kind != measure.KindIncomplete && kind != measure.KindRefused {
		return nil
	}
	known, err := knownLimits(sys, f.catalog)()
	if err != nil {
		return err
	}
	r, err := publish.Campaign(ctx, known, st, c.Entry(), "")
	if err != nil {
		return err
	}
	if err := r.Brief().Text(sys.Stdout, sys.Catalogue, sys.StdoutWidth()); err != nil {
		return err
	}
	for _, file := range f.reports {
		format, _ := publish.FormatOfFile(file)
		if _, err := writeFormat(ctx, sys, r, format, file, false, publish.Options{Catalogue: sys.Catalogue}); err != nil {
			return err
		}
	}
	sayDone(sys, c, out)
	return nil
}

// sayDone says where a campaign stands after a run and how to see its report.
func sayDone(sys *System, c *campaign.Campaign, out campaign.Outcome) {
	fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("run.done", text.Args{
		"Campaign": c.ID(), "Done": out.Done, "Trials": out.Total, "Failed": out.Failed, "Others": max(out.Left-(out.Total-out.Done), 0),
	}))
}
