package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/text"
	"soku/internal/version"
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
			formats, err := reportFiles(f.reports)
			if err != nil {
				return err
			}
			return runCampaign(cmd.Context(), sys, args[0], f, func(ctx context.Context, st store.Store, c *campaign.Campaign, out campaign.Outcome, runErr error) error {
				return publish(ctx, sys, f.catalog, st, c, formats, out, runErr)
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
	flags.StringArrayVar(&f.reports, "report", nil, "write the report to this file (.html, .md, .csv, .trials.csv, .json, .txt); may be repeated")
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

func campaignsDir(sys *System) campaign.Folder {
	if sys.DataDir == "" {
		return "" // which has no campaigns
	}
	return campaign.Folder(filepath.Join(sys.DataDir, "campaigns"))
}

// presenter shows what a run of a campaign measured, also where it ended with an error. Its
// context does not end with an interrupt.
type presenter func(ctx context.Context, st store.Store, c *campaign.Campaign, out campaign.Outcome, runErr error) error

// runCampaign checks all that can be checked before anything is built or sent.
func runCampaign(ctx context.Context, sys *System, file string, f *runFlags, present presenter) (err error) {
	if err := sys.needDataDir(); err != nil { // for the journal
		return err
	}
	p, topology, err := loadPlan(sys, file, f.catalog)
	if err != nil {
		return err
	}
	only, err := selection(p, f.only)
	if err != nil {
		return err
	}
	access, err := f.campaignAccess(sys)
	if err != nil {
		return err
	}
	st, err := openStore(ctx, sys, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	var c *campaign.Campaign
	measures := true // at least one trial
	if f.resume {
		if c, err = resumeCampaign(sys, p, f); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		if measures = left(c, only, f); !measures { // no trial needs the lab
			topology = nil
			if err := refill(ctx, sys, st, c, f); err != nil {
				return err
			}
		}
	}
	e := &campaign.Executor{
		Limit: p.Concurrency(), Store: st, Only: only, RetryFailed: f.retryFailed, Patience: f.patience, Version: version.String(), Now: sys.Now,
	}
	var show *progress
	if measures {
		if e.Confirm, err = confirmer(sys, p, only, func() { show.clear() }); err != nil {
			return err
		}
	}
	id := measure.NewCampaignID(p.Campaign, sys.Now())
	if c != nil {
		id = c.ID()
	}
	place, err := bringUp(ctx, sys, topology, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.down(ctx)) }()
	e.Runner, e.Command = place.runner(sys, access, e.Limit), place.shell(sys, p).Run
	if measures {
		place.remotes = newRemotes(sys, p.RemoteHosts(only), f.binaries)
		if err := preflight(ctx, sys, place, e.Runner, f.probes(p, only)); err != nil {
			return err
		}
	}
	if c == nil {
		if c, err = createCampaign(sys, id, p, f); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	show = newProgress(sys, c, c.Estimate(only))
	e.Watch = show.event
	if f.follow != nil {
		follow, err := f.follow(ctx, st, c)
		if err != nil {
			return err
		}
		e.Watch = func(event campaign.Event) {
			show.event(event)
			if line := follow(event); line != "" {
				show.print(line)
			}
		}
	}
	out, err := e.Run(ctx, c)
	show.end()
	sayEnough(sys, c, out.Enough)
	// What was measured is shown also where trials failed or are left.
	if rerr := present(context.WithoutCancel(ctx), st, c, out, err); rerr != nil {
		err = errors.Join(err, rerr)
	}
	return err
}

// selection is what --only says, or else the plan's only:.
func selection(p *campaign.Plan, texts []string) (campaign.Selection, error) {
	if len(texts) == 0 {
		return p.Only, nil
	}
	s, err := campaign.ParseSelection(texts)
	if err == nil {
		err = p.CheckSelection(s)
	}
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.run.only", measure.Figures{"cause": err})
	}
	for _, pt := range p.AllPatterns() {
		if s.Matches(pt.Levels) {
			return s, nil
		}
	}
	return nil, measure.Fail(measure.KindUsage, "cli.run.none_selected", measure.Figures{"only": strings.Join(texts, " "), "plan": p.File})
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

func createCampaign(sys *System, id string, p *campaign.Plan, f *runFlags) (*campaign.Campaign, error) {
	older, err := campaign.Find(campaignsDir(sys), p.Campaign)
	if err != nil {
		return nil, err
	}
	if len(older) > 0 && older[0].Open() {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("run.left", text.Args{
			"Campaign": older[0].Record.ID, "Left": older[0].Trials - older[0].Done, "Trials": older[0].Trials, "Plan": p.File,
		}))
	}
	seed := f.seed
	switch {
	case f.seedGiven:
	case p.Seed != nil:
		seed = *p.Seed
	default:
		seed = campaign.DrawSeed()
	}
	return campaign.CreateAs(id, campaignsDir(sys), p, seed, version.String(), sys.Now())
}

// reportFile is a file to write and its format.
type reportFile struct {
	path   string
	format string
}

func reportFiles(paths []string) ([]reportFile, error) {
	var out []reportFile
	for _, path := range paths {
		name := formatOf(path)
		if name == "" {
			return nil, measure.Fail(measure.KindUsage, "cli.run.report_extension", measure.Figures{"file": path})
		}
		out = append(out, reportFile{path, name})
	}
	return out, nil
}

// publish prints the report and writes it to the files that were asked for. A
// run that was interrupted, or could not write, has said what to do next; its
// report would only be in the way on the terminal.
func publish(ctx context.Context, sys *System, limits string, st store.Store, c *campaign.Campaign, files []reportFile, out campaign.Outcome, runErr error) error {
	kind := measure.KindOf(runErr)
	if out.Done == 0 || runErr != nil && kind != measure.KindIncomplete && kind != measure.KindRefused {
		return nil
	}
	known, err := knownLimits(sys, limits)()
	if err != nil {
		return err
	}
	r, err := campaignReport(ctx, known, st, c.Entry())
	if err != nil {
		return err
	}
	if err := r.Text(sys.Stdout, sys.Catalogue, sys.StdoutWidth()); err != nil {
		return measure.Fail(measure.KindInternal, "cli.report.print", measure.Figures{"cause": err})
	}
	for _, f := range files {
		for _, format := range reportFormats(0) {
			if format.name != f.format {
				continue
			}
			var b strings.Builder
			if err := format.write(r, &b, sys.Catalogue); err != nil {
				return measure.Fail(measure.KindInternal, "cli.report.make", measure.Figures{"format": f.format, "cause": err})
			}
			if err := writeReport(sys, f.path, []byte(b.String())); err != nil {
				return err
			}
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
