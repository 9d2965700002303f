package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/studies"
	"soku/internal/measure"
	"soku/internal/text"

	"github.com/spf13/cobra"
)

type newFlags struct {
	output, name, question string
	study                  string
	hosts, vary, tests     []string
	rounds                 int
	force                  bool
}

func newNewCommand(sys *System) *cobra.Command {
	f := newFlags{}
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Write a plan to begin with",
		Long: `Writes the plan of a campaign with comments. On a terminal it asks for what the
flags do not say: the question, the hosts, the tests, what is varied and rounds.
At each question ? is for help and back for the one before; Ctrl-C keeps the
answers in PLAN.yaml.answers, and the next soku new goes on with them.
Edit the plan, look at it with soku plan, and run it with soku run.
--case writes the plan of a published study, with the commands of its cloud.`,
		Example: `  soku new
  soku new --host vm2=10.0.1.4 --vary streams=1,4,16 --test tcp -o streams.yaml
  soku new --host vm2 --vary gateway=standard,ultra --rounds 10
  soku new --host vm2=admin@10.0.1.4 --vary streams=1,4    a host by ssh
  soku new --host 'vm-{sku}-{zone}' --vary sku=d2,d4 --vary zone=1,2
  soku new --case vpn-active-active -o vpn.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return writeNewPlan(cmd, sys, f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "plan.yaml", "file to write; - for standard output")
	flags.StringVar(&f.study, "case", "", "a study: "+strings.Join(studies.Names(), ", "))
	flags.StringVar(&f.name, "name", "", "name of the campaign (default: that of the file)")
	flags.StringVar(&f.question, "question", "", "the question that the campaign answers")
	flags.StringSliceVar(&f.hosts, "host", nil, "host to measure against, NAME=ADDRESS or ADDRESS, or USER@ADDRESS for one that is reached by ssh; several are compared; with a varied {NAME} in it, a host for each level")
	flags.StringArrayVar(&f.vary, "vary", nil, "what is varied, NAME=LEVEL,LEVEL: an option of the tests, or what a person changes; may be repeated")
	flags.StringSliceVar(&f.tests, "test", nil, "tests, such as tcp,latency")
	flags.IntVar(&f.rounds, "rounds", advice.ExactRounds, "passes over all patterns")
	flags.BoolVar(&f.force, "force", false, "write over a file that is there")
	complete(cmd, "test", completeTests)
	complete(cmd, "case", cobra.FixedCompletions(studies.Names(), cobra.ShellCompDirectiveNoFileComp))
	for _, asked := range []string{"name", "question", "host", "vary", "test", "rounds"} {
		cmd.MarkFlagsMutuallyExclusive("case", asked)
	}
	return cmd
}

func writeNewPlan(cmd *cobra.Command, sys *System, f newFlags) error {
	toStdout := f.output == "-"
	if !toStdout && !f.force {
		if err := absent(sys, f.output); err != nil {
			return err
		}
	}
	if !toStdout { // before questions are asked
		if err := sys.TryWrite(f.output); err != nil {
			return notWritten(f.output, err)
		}
	}
	if f.study != "" {
		plan, found := studies.Plan(f.study)
		if !found {
			return measure.Fail(measure.KindUsage, "cli.new.no_case", measure.Figures{"case": f.study, "known": studies.Names()})
		}
		return sys.writePlan(f.output, plan)
	}
	d, err := f.draft(toStdout)
	if err != nil {
		return err
	}
	asks := sys.StdinTerminal()
	if asks {
		if err := askDraft(cmd.Context(), sys, cmd.Flags().Changed, &d); err != nil {
			return err
		}
	}
	switch {
	case len(d.Hosts) == 0:
		return measure.Fail(measure.KindUsage, "cli.new.no_host", nil)
	case len(d.Tests) == 0:
		d.Tests = []measure.Test{measure.TestTCP, measure.TestLatency}
	}
	text, err := d.Plan()
	if err != nil {
		return measure.Fail(measure.KindUsage, "cli.new.plan", measure.Figures{"cause": err})
	}
	err = sys.writePlan(f.output, text)
	if asks && err == nil {
		_ = sys.Remove(answersFile(d)) // it is there if the answers were interrupted once
	}
	return err
}

// writePlan writes a plan to a file, or to standard output for -.
func (s *System) writePlan(file string, plan []byte) error {
	if file == "-" {
		return printAll(s, plan)
	}
	if err := s.WriteFile(file, plan, 0o644); err != nil {
		return notWritten(file, err)
	}
	fmt.Fprintln(s.Stdout, s.Catalogue.Sentence("new.wrote", text.Args{"File": file}))
	return nil
}

// notWritten is the error of a plan that cannot be written.
func notWritten(file string, cause error) error {
	return measure.Fail(measure.KindStore, "cli.new.write", measure.Figures{"file": file, "cause": cause})
}

// absent is an error if there is such a file.
func absent(sys *System, file string) error {
	_, err := sys.Stat(file)
	switch {
	case err == nil:
		return measure.Fail(measure.KindUsage, "cli.new.exists", measure.Figures{"file": file})
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return notWritten(file, err)
}

// draft is what the flags say.
func (f newFlags) draft(toStdout bool) (d advice.Draft, err error) {
	d = advice.Draft{File: f.output, Campaign: f.name, Question: f.question, Rounds: f.rounds}
	if toStdout {
		d.File = "plan.yaml"
	}
	if d.Campaign == "" {
		d.Campaign = strings.TrimSuffix(filepath.Base(d.File), filepath.Ext(d.File))
	}
	for _, h := range f.hosts {
		d.Hosts = append(d.Hosts, advice.DraftHostOf(h, len(d.Hosts)+1))
	}
	for _, v := range f.vary {
		factor, err := varied(v)
		if err != nil {
			return d, err
		}
		d.Factors = append(d.Factors, factor)
	}
	d.Tests, err = testsOf(f.tests)
	return d, err
}

// varied reads NAME=LEVEL,LEVEL.
func varied(text string) (advice.DraftFactor, error) {
	name, levels, found := strings.Cut(text, "=")
	f := advice.DraftFactor{Name: strings.TrimSpace(name), Levels: parts(levels)}
	if !found || f.Name == "" || len(f.Levels) == 0 {
		return f, measure.Fail(measure.KindUsage, "cli.new.vary", measure.Figures{"text": text})
	}
	return f, nil
}

func testsOf(names []string) (tests []measure.Test, err error) {
	for _, name := range names {
		t, err := measure.ParseTest(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// parts are the texts between commas.
func parts(text string) (out []string) {
	for _, p := range strings.Split(text, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}
