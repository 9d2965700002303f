package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"soku/internal/campaign"
	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/publish"
	"soku/internal/report"
	"soku/internal/stats"
	"soku/internal/store"

	"github.com/spf13/cobra"
)

type versusFlags struct {
	run       runFlags
	rounds    int
	allPairs  bool
	practical measure.Percent
	until     untilFlag
	json      bool
}

func newVersusCommand(sys *System) *cobra.Command {
	f := &versusFlags{practical: stats.DefaultPractical}
	f.run.noPreflight = true // a command that fails does not keep the others from running
	cmd := &cobra.Command{
		Use:   "versus COMMAND COMMAND...",
		Short: "Run command lines of a test in turns and decide which is better",
		Long: "Runs two or more command lines of one test, each once a round, in an order drawn\n" +
			"anew for every round, and compares the others with the first: better, worse, no\n" +
			"practical difference, or no difference shown, with the ratio, its interval, and\n" +
			"how many more rounds would decide. The trials are a campaign: soku report, soku\n" +
			"compare and soku ls know it, and --resume goes on with it after an interrupt.",
		Example: `  soku versus "tcp vm2 -P 1" "tcp vm2 -P 16"
  soku versus "tcp vm2" "tcp vm3" "tcp vm4" --rounds 20 --practical 3%
  soku versus "latency vm2" "latency vm2 --spin" --all-pairs --json
  soku versus "tcp vm2 -P 1" "tcp vm2 -P 16" --until decided
  soku versus "tcp vm2 -P 1" "tcp vm2 -P 16" --until 2%
  soku versus "tcp vm2 -P 1" "tcp vm2 -P 16" --resume   after an interrupt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return measure.Fail(measure.KindUsage, "cli.versus.commands", measure.Figures{"commands": len(args)})
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.run.seedGiven = cmd.Flags().Changed("seed")
			if f.until.decided && !cmd.Flags().Changed("rounds") {
				f.rounds = stats.FirstLook
			}
			return runVersus(cmd.Context(), sys, f, args)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&f.rounds, "rounds", "r", defaultVersusRounds, "how often each command runs (2..10000)")
	flags.Var(&f.until, "until", "go on after these rounds until every comparison is decided (decided), or every 95 % interval reaches by at most this to either side of its mean, such as 2%; may be given twice (at most 40 rounds)")
	flags.Lookup("until").DefValue = ""
	flags.Int64Var(&f.run.seed, "seed", 0, "seed of the random order; drawn without it")
	flags.BoolVar(&f.run.resume, "resume", false, "go on with the newest campaign of the same commands")
	flags.BoolVar(&f.allPairs, "all-pairs", false, "compare every pair, instead of all with the first")
	flags.Var(&f.practical, "practical", "smallest difference that matters, such as 3%")
	flags.BoolVar(&f.json, "json", false, "print the comparisons as JSON")
	addStoreFlag(cmd, &f.run.store)
	addAccess(cmd, f.run.access.add)
	return cmd
}

// defaultVersusRounds is enough for an exact test, and for a difference of 3 % at a spread of
// 2 %.
const defaultVersusRounds = 10

// runVersus is soku versus in three steps: a made-up plan whose patterns are the commands, a
// campaign of it, and a comparison of the commands.
func runVersus(ctx context.Context, sys *System, f *versusFlags, lines []string) error {
	p, file, err := f.makePlan(sys, lines)
	if err != nil {
		return err
	}
	f.run.follow = func(ctx context.Context, st store.Store, c *campaign.Campaign) (func(campaign.Event) string, error) {
		return f.follow(ctx, sys, st, c, p.Commands)
	}
	return runCampaign(ctx, sys, file, &f.run, func(ctx context.Context, st store.Store, c *campaign.Campaign, out campaign.Outcome, _ error) error {
		if out.Done == 0 {
			return nil
		}
		if err := f.compare(ctx, sys, st, c, p.Commands); err != nil {
			return err
		}
		sayDone(sys, c, out)
		return nil
	})
}

// makePlan writes the plan of command lines to a file in the data folder.
func (f *versusFlags) makePlan(sys *System, lines []string) (p advice.CommandPlan, file string, err error) {
	if f.rounds < 2 || f.rounds > 10_000 {
		return p, "", measure.Fail(measure.KindUsage, "cli.versus.rounds", measure.Figures{"rounds": f.rounds})
	}
	if err := sys.needDataDir(); err != nil {
		return p, "", err
	}
	test, commands, err := parseCommands(sys, lines)
	if err != nil {
		return p, "", err
	}
	p = advice.CommandPlan{Test: test, Commands: commands, Rounds: f.rounds, Until: f.untilPlan(), Practical: f.practical}
	text := p.Text()
	if _, err := plan.Parse("", text); err != nil { // before a file is written
		return p, "", measure.Fail(measure.KindUsage, "cli.versus.plan", measure.Figures{"cause": err})
	}
	file = filepath.Join(sys.DataDir, "plans", p.Name()+".yaml")
	return p, file, writeReport(sys, file, text)
}

func (f *versusFlags) compareOptions() report.CompareOptions {
	return report.CompareOptions{Practical: float64(f.practical), AllPairs: f.allPairs}
}

// compare prints the comparisons of the commands.
func (f *versusFlags) compare(ctx context.Context, sys *System, st store.Store, c *campaign.Campaign, commands []advice.Command) error {
	known, err := knownLimits(sys, "")()
	if err != nil {
		return err
	}
	compared, err := publish.CompareCommands(ctx, known, st, c.Entry(), commands, f.compareOptions())
	if err != nil {
		return err
	}
	format := "txt"
	if f.json {
		format = "json"
	}
	var b bytes.Buffer
	if err := comparisonFormats[format](compared, &b, sys, false); err != nil {
		return err
	}
	return printAll(sys, b.Bytes())
}

// untilFlag is when soku versus has enough rounds: decided, an interval, or one after the other
// for both.
type untilFlag struct {
	decided  bool
	interval measure.Percent
}

const untilDecided = "decided"

func (u *untilFlag) Set(text string) error {
	if text == untilDecided {
		u.decided = true
		return nil
	}
	return u.interval.Set(text)
}

func (u *untilFlag) String() string {
	var out []string
	if u.decided {
		out = append(out, untilDecided)
	}
	if u.interval > 0 {
		out = append(out, u.interval.String())
	}
	return strings.Join(out, ", ")
}

// Type names the value in help texts.
func (u *untilFlag) Type() string { return "decided|percent" }

// untilPlan is the flag in a plan: what has to be decided are the comparisons that are shown.
func (f *versusFlags) untilPlan() plan.Until {
	u := plan.Until{Interval: f.until.interval}
	if f.until.decided {
		u.Decided, u.Against, u.MaxRounds = true, stats.AgainstFirst, max(plan.DefaultMaxRounds, f.rounds)
		if f.allPairs {
			u.Against = stats.AgainstAll
		}
	}
	return u
}

// follow returns what shows after every round the figures so far.
func (f *versusFlags) follow(ctx context.Context, sys *System, st store.Store, c *campaign.Campaign, commands []advice.Command) (func(campaign.Event) string, error) {
	known, err := knownLimits(sys, "")()
	if err != nil {
		return nil, err
	}
	choices := make([]*report.Choice, len(commands))
	for i, command := range commands {
		choice, err := publish.CommandChoice(ctx, known, st, c.Entry(), command)
		switch {
		case measure.KindOf(err) == measure.KindUsage: // it did not run yet
			choice = report.NewChoice(command.Line, nil)
			choice.Until = publish.Until(c.Plan)
		case err != nil:
			return nil, err
		}
		choices[i] = choice
	}
	ran := map[int]int{} // trials by round
	return func(e campaign.Event) string {
		if e.Kind != campaign.EventResult {
			return ""
		}
		at := slices.IndexFunc(commands, func(c advice.Command) bool { return c.Line == e.Job.Trial.Levels[0].Value })
		if at < 0 {
			return ""
		}
		choices[at].Add(e.Result)
		round := e.Job.Trial.Round
		if ran[round]++; ran[round] < len(commands) || round < 2 {
			return ""
		}
		compared, err := report.Compare(choices, f.compareOptions())
		if err != nil { // a command has no figure yet
			return ""
		}
		return compared.Standing(sys.Catalogue, round)
	}, nil
}
