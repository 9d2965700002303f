package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/check"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/publish"
	"soku/internal/report"
	"soku/internal/store"
	"soku/internal/text"
)

type checkFlags struct {
	runs     int
	junit    string
	markdown string
	json     bool
	store    string
}

func newCheckCommand(sys *System) *cobra.Command {
	f := checkFlags{}
	cmd := &cobra.Command{
		Use:   "check RULES.yaml [CAMPAIGN]",
		Short: "Check what was measured against rules, for pipelines",
		Long: "Judges a campaign by rules: thresholds on figures, on their intervals, and on\n" +
			"differences from a campaign or a result before. A rule holds if the interval of\n" +
			"what was measured lies wholly on the good side of the threshold. Exit codes: 0,\n" +
			"all rules hold; 11, one does not hold; 12, one is not shown to hold. CAMPAIGN is\n" +
			"what soku compare takes: an identity, a name, CAMPAIGN:FACTOR=LEVEL, a result or\n" +
			"a file of one, or \"last\", which is the default. One test is judged by its\n" +
			"figures alone; --runs judges the last tests by hand, each as a round.",
		Example: `  soku check rules.yaml
  soku tcp vm2 -o r.json && soku check rules.yaml r.json
  soku check rules.yaml --runs 10
  soku check rules.yaml gateway-sku --junit check.xml --markdown check.md
  soku check rules.yaml gateway-sku:sku=high --json

  rules:
    - check: goodput >= 900 Mbit/s
    - check: goodput >= 90 % of limit
    - {test: rtt, where: {zone: 1}, check: rtt_p99 <= 5 ms at 99 %}
    - {name: as before, check: goodput no worse than before-change by 3 %}`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return runCheck(cmd.Context(), sys, f, args) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.runs, "runs", 0, "judge this many of the last tests by hand instead of a campaign")
	flags.StringVar(&f.junit, "junit", "", "also write JUnit XML to this file")
	flags.StringVar(&f.markdown, "markdown", "", "also write a Markdown table to this file, for a comment")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	choices, rules := completeChoices(sys, &f.store), completeFiles("yaml", "yml")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return rules(cmd, args, word)
		}
		return choices(cmd, args, word)
	}
	addStoreFlag(cmd, &f.store)
	return cmd
}

func runCheck(ctx context.Context, sys *System, f checkFlags, args []string) (err error) {
	source, err := sys.ReadFile(args[0])
	if err != nil {
		return measure.Fail(measure.KindFile, "cli.check.rules", measure.Figures{"cause": err})
	}
	rules, err := check.Parse(args[0], source)
	if err != nil {
		return err
	}
	s, err := openStore(ctx, sys, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	subject, campaign, err := f.subject(ctx, sys, s, args[1:])
	if err != nil {
		return err
	}
	outcome, err := rules.Judge(subject, func(baseline string) (*report.Choice, error) {
		if strings.HasPrefix(baseline, ":") {
			baseline = campaign + baseline
		}
		return findChoice(ctx, sys, s, baseline)
	})
	if err != nil {
		return err
	}
	if err := f.write(sys, outcome); err != nil {
		return err
	}
	return outcome.Err()
}

// subject is what is judged, and the name of its campaign.
func (f checkFlags) subject(ctx context.Context, sys *System, s store.Store, named []string) (subject *report.Choice, campaign string, err error) {
	if f.runs < 0 || f.runs > 0 && len(named) > 0 {
		return nil, "", measure.Fail(measure.KindUsage, "cli.report.runs", measure.Figures{"runs": f.runs})
	}
	if f.runs > 0 {
		known, err := knownLimits(sys, "")()
		if err != nil {
			return nil, "", err
		}
		subject, err = publish.ChoiceByHand(ctx, known, s, f.runs, text.ForPrograms().Sentence("check.runs", text.Args{"N": f.runs}))
		return subject, "", err
	}
	name := store.Last
	if len(named) > 0 {
		name = named[0]
	}
	campaign, _, _ = cutSelection(name)
	subject, err = findChoice(ctx, sys, s, name)
	return subject, campaign, err
}

// continued begins the lines of a sentence after its first.
const continued = "    "

// write prints an outcome, and writes the files that were asked for.
func (f checkFlags) write(sys *System, o *check.Outcome) error {
	if f.junit != "" {
		if err := writeReport(sys, f.junit, o.JUnit()); err != nil {
			return err
		}
	}
	if f.markdown != "" {
		if err := writeReport(sys, f.markdown, []byte(o.Markdown(sys.Catalogue))); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(sys.Stdout, o)
	}
	var b strings.Builder
	for _, line := range o.Lines(sys.Catalogue) {
		fmt.Fprintln(&b, strings.Join(broken(printable.Line(line), sys.StdoutWidth()-len(continued)), "\n"+continued))
	}
	return printAll(sys, []byte(b.String()))
}
