package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/doctor"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/printable"
	"soku/internal/text"
	"soku/internal/version"
)

type doctorFlags struct {
	rate    measure.Rate
	rtt     measure.Duration
	streams int
	verbose bool
	json    bool
	fix     bool
	undo    bool
	yes     bool
	access  accessFlags
}

func newDoctorCommand(sys *System) *cobra.Command {
	f := doctorFlags{}
	cmd := &cobra.Command{
		Use:   "doctor [HOST]",
		Short: "Find what will spoil or limit a measurement, before it is made",
		Long: `Looks at this host: clock, what else uses it, limits, interface and kernel
settings. With HOST it looks at the path, too: is the port reachable, and if
not, is it refused or filtered; what size of packets gets through; and at what
a soku server there reports of its host. Each finding says what it costs, in
figures, and the command that mends it. --rate is what you want to measure:
buffers are compared with what is in flight then. The exit code is 11 if there
is a problem. Nothing is changed without --fix, which makes harmless changes
of this host after a question. They last until it restarts, or --undo.`,
		Example: `  soku doctor
  soku doctor vm2 --rate 10G
  soku doctor --rate 10G --rtt 20ms --verbose
  sudo soku doctor vm2 --rate 10G --fix
  sudo soku doctor --undo
  soku doctor vm2 --json | jq '.ends[].findings[] | {code, severity, commands}'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			host := strings.Join(args, "")
			switch {
			case f.undo && host != "":
				return measure.Fail(measure.KindUsage, "cli.doctor.undo_host", measure.Figures{"host": host})
			case f.undo:
				return undoDoctor(cmd.Context(), sys)
			}
			return runDoctor(cmd.Context(), sys, f, host)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.VarP(&f.rate, "rate", "b", "rate that you want to measure, such as 10G; without it the speed of the link, if that is known")
	flags.Lookup("rate").DefValue = ""
	flags.Var(&f.rtt, "rtt", "round trip of the path, such as 20ms; with HOST it is measured")
	flags.Lookup("rtt").DefValue = ""
	flags.IntVarP(&f.streams, "streams", "P", 1, "parallel streams that you want to measure with (1..1024)")
	flags.BoolVar(&f.verbose, "verbose", false, "list what was looked at and is well")
	flags.BoolVar(&f.json, "json", false, "print the whole document")
	flags.BoolVar(&f.fix, "fix", false, "make the harmless ones of the changes, after a question (root)")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.undo, "undo", false, "restore what --fix changed and nobody changed since (root)")
	addAccess(cmd, f.access.add)
	cmd.MarkFlagsMutuallyExclusive("fix", "undo", "json")
	return cmd
}

// mostStreams is the most that a test has.
const mostStreams = 1024

func (f *doctorFlags) wanted() (w doctor.Wanted, err error) {
	if f.streams < 1 || f.streams > mostStreams {
		return w, measure.Fail(measure.KindUsage, "cli.doctor.streams", measure.Figures{"streams": f.streams})
	}
	w = doctor.Wanted{Streams: f.streams, Port: option.DefaultPort, RateBps: float64(f.rate), RTTNs: float64(f.rtt)}
	if w.RateBps > 0 {
		w.RateFrom = doctor.FromAsked
	}
	if w.RTTNs > 0 {
		w.RTTFrom = doctor.FromAsked
	}
	return w, nil
}

func runDoctor(ctx context.Context, sys *System, f doctorFlags, host string) error {
	wanted, err := f.wanted()
	if err != nil {
		return err
	}
	token, tlsConfig, err := f.access.read(sys)
	if err != nil {
		return err
	}
	d, err := doctor.Look(ctx, doctor.Config{Host: host, Token: token, TLS: tlsConfig, Wanted: wanted, Version: version.String()})
	if err != nil {
		return err
	}
	if f.json {
		err = printJSON(sys.Stdout, d)
	} else {
		var b bytes.Buffer
		printDoctor(sys.Catalogue, &b, sys.StdoutWidth(), d, f.verbose)
		_, err = sys.Stdout.Write(b.Bytes())
	}
	mended := map[doctor.Change]bool{}
	if err == nil && f.fix {
		mended, err = fixDoctor(ctx, sys, d, f.yes)
	}
	if n := d.Problems(mended); err == nil && n > 0 {
		return measure.Fail(measure.KindNotHeld, "doctor.problems", measure.Figures{"problems": n})
	}
	return err
}

// printDoctor writes what was found for a person.
func printDoctor(c *text.Catalogue, w io.Writer, columns int, d *doctor.Document, verbose bool) {
	for i, e := range d.Ends {
		var head text.Lines
		if i > 0 {
			fmt.Fprintln(w)
		}
		endHead(&head, d, e)
		if i == 0 {
			head.Row("label.wanted", "doctor.wanted", text.Args{
				"Rate": d.Wanted.RateBps, "RateFrom": d.Wanted.RateFrom, "RTT": d.Wanted.RTTNs, "RTTFrom": d.Wanted.RTTFrom, "BDP": d.BDP, "Streams": d.Wanted.Streams,
			})
		}
		printLines(c, w, columns, head)
		for _, f := range e.Findings {
			printDoctorFinding(c, w, columns, f)
		}
		var tail text.Lines
		passedLines(c, &tail, e, verbose)
		uncheckedLines(c, &tail, e)
		printLines(c, w, columns, tail)
	}
}

// endHead is the line that names an end.
func endHead(out *text.Lines, d *doctor.Document, e doctor.End) {
	label := "label.host"
	switch e.Where {
	case doctor.AtPath:
		out.Row("label.path", "doctor.path", text.Args{"Host": e.Name, "Address": e.Address, "Port": d.Wanted.Port})
		return
	case measure.AtServer:
		label = "label.server"
	}
	out.Row(label, "summary.host", hostArgs(&measure.Host{Facts: e.Facts}))
}

var severityLabels = map[doctor.Severity]string{
	doctor.Problem: "label.problem", doctor.Warning: "label.warning", doctor.Note: "label.note",
}

// printDoctorFinding writes what it is, and the commands below it, each on a line that can be
// copied: they are not broken.
func printDoctorFinding(c *text.Catalogue, w io.Writer, columns int, f doctor.Finding) {
	row, args := labelled(w, labelColumns(c), columns), text.Args(maps.Clone(f.Figures))
	if f.Cause != nil {
		args["cause"], _ = c.Error(f.Cause)
	}
	row(c.Heading(severityLabels[f.Severity]), "%s", printable.Line(c.Sentence("doctor.found", text.Args{
		"Finding": c.Sentence("doctor.finding."+f.Code, args), "Confidence": f.Confidence,
	})))
	label := "label.fix"
	for _, command := range f.Commands {
		var out text.Lines
		out.Row(label, "doctor.command", text.Args{"Command": command})
		printLines(c, w, 0, out)
		label = ""
	}
}

func checkName(c *text.Catalogue, code string) string { return c.Sentence("doctor.check."+code, nil) }

func passedLines(c *text.Catalogue, out *text.Lines, e doctor.End, verbose bool) {
	if len(e.Passed) == 0 {
		return
	}
	if !verbose {
		out.Row("label.well", "doctor.well", text.Args{"Checks": len(e.Passed)})
		return
	}
	names := make([]string, len(e.Passed))
	for i, code := range e.Passed {
		names[i] = checkName(c, code)
	}
	out.Row("label.well", "doctor.well.all", text.Args{"Names": names})
}

// uncheckedLines has a line a reason.
func uncheckedLines(c *text.Catalogue, out *text.Lines, e doctor.End) {
	var reasons []doctor.Reason
	names := map[doctor.Reason][]string{}
	for _, n := range e.NotLooked {
		if names[n.Reason] == nil {
			reasons = append(reasons, n.Reason)
		}
		names[n.Reason] = append(names[n.Reason], checkName(c, n.Code))
	}
	label := "label.unchecked"
	for _, r := range reasons {
		out.Row(label, "doctor.unchecked", text.Args{"Names": names[r], "Reason": c.Sentence("doctor.reason."+string(r), nil)})
		label = ""
	}
}
