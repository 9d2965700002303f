package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/campaign"
	"soku/internal/measure"
)

type planFlags struct {
	only []string
	seed int64
	json bool
}

func newPlanCommand(sys *System) *cobra.Command {
	f := planFlags{}
	cmd := &cobra.Command{
		Use:   "plan PLAN.yaml",
		Short: "Show what a campaign would run, how long and how much",
		Long: `Checks a plan and shows its patterns, the order of the rounds, the time, the
bytes and their price. Nothing is sent.`,
		Example: `  soku plan plan.yaml
  soku plan plan.yaml --only gateway=ultra --json`,
		Args: onePlan,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, _, err := loadPlan(sys, args[0])
			if err != nil {
				return err
			}
			only, err := selection(p, f.only)
			if err != nil {
				return err
			}
			o := outline(p, only)
			if cmd.Flags().Changed("seed") {
				o.setSeed(p, f.seed)
			} else if p.Seed != nil {
				o.setSeed(p, *p.Seed)
			}
			if f.json {
				return printJSON(sys.Stdout, o)
			}
			o.print(sys.Stdout, sys.StdoutWidth())
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&f.only, "only", nil, "only patterns with this level, as factor=level,level; may be repeated")
	cmd.Flags().Int64Var(&f.seed, "seed", 0, "show the order of this seed")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the plan as JSON")
	return cmd
}

// planOutline is what a campaign would run.
type planOutline struct {
	Campaign string            `json:"campaign"`
	Title    string            `json:"title,omitempty"`
	Lab      string            `json:"lab,omitempty"`
	Patterns []patternOutline  `json:"patterns"`
	Repeats  int               `json:"repeats"`
	Seed     *int64            `json:"seed,omitempty"`
	Rounds   int               `json:"rounds"`
	Order    []roundOutline    `json:"order,omitempty"` // one element a round; absent while the seed is not known
	Estimate campaign.Estimate `json:"estimate"`

	price float64
	only  campaign.Selection
}

type patternOutline struct {
	Name   string          `json:"name"`
	Levels []measure.Level `json:"levels"`
	From   string          `json:"from,omitempty"`
	To     string          `json:"to"`
	Server string          `json:"server_address"`
	Before []string        `json:"before,omitempty"`
	After  []string        `json:"after,omitempty"`
	Tests  []testOutline   `json:"tests"`
}

type testOutline struct {
	Label   string          `json:"label"`
	Test    measure.Test    `json:"test"`
	Options measure.Options `json:"options"` // effective
}

type roundOutline struct {
	Round    int      `json:"round"`
	Patterns []string `json:"patterns"` // names in the order they run
}

func outline(p *campaign.Plan, only campaign.Selection) *planOutline {
	o := &planOutline{
		Campaign: p.Campaign, Title: p.Title, Lab: p.LabFile(), Repeats: p.Repeats, Rounds: p.Rounds,
		Estimate: p.Estimate(only), price: p.Price, only: only,
	}
	byName := map[string]campaign.Target{}
	for b := range p.Blocks("", 0) {
		if b.Round > 1 {
			break
		}
		byName[b.Pattern.Name] = b.Job(0).Server
	}
	for _, pt := range p.AllPatterns() {
		if !only.Matches(pt.Levels) {
			continue
		}
		out := patternOutline{Name: pt.Name, Levels: pt.Levels, From: pt.From, To: pt.To, Before: pt.Before, After: pt.After,
			Server: byName[pt.Name].Endpoint.Address}
		for _, t := range pt.Tests {
			effective, _ := t.Options.Effective(t.Test) // checked when the plan was read
			out.Tests = append(out.Tests, testOutline{t.Label, t.Test, effective})
		}
		o.Patterns = append(o.Patterns, out)
	}
	return o
}

func (o *planOutline) setSeed(p *campaign.Plan, seed int64) {
	o.Seed = &seed
	for b := range p.Blocks("", seed) {
		if len(o.Order) < b.Round {
			o.Order = append(o.Order, roundOutline{Round: b.Round})
		}
		if o.only.Matches(b.Pattern.Levels) {
			o.Order[b.Round-1].Patterns = append(o.Order[b.Round-1].Patterns, b.Pattern.Name)
		}
	}
}

// linesOfOrder is how much of the order a person gets to see.
const linesOfOrder = 12

func (o *planOutline) print(w io.Writer, columns int) {
	line := labelled(w, 9, columns)
	row := func(name, format string, args ...any) { line(name, "%s", terminalText(fmt.Sprintf(format, args...))) }
	row("campaign", "%s", o.Campaign)
	if o.Title != "" {
		row("question", "%s", o.Title)
	}
	if o.Lab != "" {
		row("lab", "%s", o.Lab)
	}
	for i, pt := range o.Patterns {
		name := ""
		if i == 0 {
			name = "patterns"
		}
		from := pt.From
		if from == "" {
			from = "this machine"
		}
		row(name, "%s: %s → %s (%s)", pt.Name, from, pt.To, pt.Server)
		for _, c := range pt.Before {
			row("", "  before: %s", oneLine(c))
		}
	}
	for i, t := range o.Patterns[0].Tests {
		name := ""
		if i == 0 {
			name = "tests"
		}
		row(name, "%s: %s", t.Label, describeTest(t))
	}
	o.printOrder(row)
	o.printEstimate(row)
}

// describeTest names the options that a person decides about.
func describeTest(t testOutline) string {
	o := t.Options
	parts := []string{string(t.Test)}
	add := func(ok bool, format string, args ...any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(o.Duration > 0, "%s", o.Duration)
	add(o.Bytes > 0, "%s", o.Bytes)
	switch t.Test {
	case measure.TestTrace:
		add(true, "%s", measure.Plural(o.Count, "round"))
		add(true, "%s probes", strings.ToUpper(o.Probe))
		add(o.Flows > 1, "%d flows", o.Flows)
	case measure.TestMTU:
		add(true, "%s probes", strings.ToUpper(o.Probe))
	default:
		add(o.Count > 0, "%s", measure.Plural(o.Count, "round trip"))
	}
	add(o.Streams > 1, "%d streams", o.Streams)
	add(o.Rate > 0, "at %s", o.Rate)
	add(o.RequestRate > 0, "%g requests a second", o.RequestRate)
	add(o.Direction != "" && o.Direction != measure.Forward, "%s", o.Direction)
	add(o.Protocol != "", "over %s", o.Protocol)
	add(o.Size > 0, "%s", o.Size)
	return strings.Join(parts, ", ")
}

func (o *planOutline) printOrder(row rowPrinter) {
	if o.Seed == nil {
		row("order", "%s, each in an order drawn when the campaign begins; seed: fixes it", measure.Plural(o.Rounds, "round"))
		return
	}
	row("order", "seed %d", *o.Seed)
	for i, r := range o.Order {
		if i == linesOfOrder {
			row("", "and %d rounds more; --json shows all", len(o.Order)-i)
			break
		}
		row("", "round %d: %s", r.Round, strings.Join(r.Patterns, " · "))
	}
}

func (o *planOutline) printEstimate(row rowPrinter) {
	e := o.Estimate
	row("trials", "%d: %s × %s × %s × %s", e.Trials, measure.Plural(e.Patterns, "pattern"), measure.Plural(len(o.Patterns[0].Tests), "test"),
		measure.Plural(o.Repeats, "repeat"), measure.Plural(o.Rounds, "round"))
	text := "about " + roughly(e.Time)
	if len(e.TimeUnknown) > 0 {
		text = fmt.Sprintf("at least %s; how long %s will take is not known", roughly(e.Time), strings.Join(e.TimeUnknown, ", "))
	}
	for _, pt := range o.Patterns {
		if len(pt.Before)+len(pt.After) > 0 {
			text += ", and the time of its commands"
			break
		}
	}
	row("time", "%s", text)
	text = "about " + measure.FormatBytes(float64(e.Bytes))
	switch {
	case len(e.BytesUnknown) > 0 && e.Bytes == 0:
		text = "not known: " + strings.Join(e.BytesUnknown, ", ") + " as fast as it goes"
	case len(e.BytesUnknown) > 0:
		text += ", and " + strings.Join(e.BytesUnknown, ", ") + " as fast as it goes: not known"
	}
	if e.MaxBytes > 0 {
		text += "; at most " + measure.FormatBytes(float64(e.MaxBytes)) + " (max_bytes)"
	}
	row("bytes", "%s", text)
	if e.Price != nil {
		text = fmt.Sprintf("%.2f for the bytes that are known", *e.Price)
		if e.MaxPrice != nil {
			text += fmt.Sprintf(", at most %.2f", *e.MaxPrice)
		}
		row("price", "%s, at %g per GB", text, o.price)
	}
}

// printJSON writes v for other programs, indented for people.
func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", b)
	}
	if err != nil {
		return measure.Errorf(measure.KindInternal, "write the output: %w", err)
	}
	return nil
}

// moment writes a time for a table, in this machine's zone.
func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
