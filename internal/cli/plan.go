package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/conduct"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/printable"
	"soku/internal/tests"
	"soku/internal/text"
)

type planFlags struct {
	only  []string
	seed  int64
	json  bool
	store string

	catalog string
}

func newPlanCommand(sys *System) *cobra.Command {
	f := planFlags{}
	cmd := &cobra.Command{
		Use:   "plan PLAN.yaml",
		Short: "Show what a campaign would run, its duration and data volume",
		Long: `Checks a plan and shows its patterns, the order of the rounds, the time, the
bytes and their price, how small a difference it can show, and what keeps it
from deciding. Nothing is sent.`,
		Example: `  soku plan plan.yaml
  soku plan plan.yaml --only gateway=ultra --json`,
		Args: onePlan, ValidArgsFunction: completeFiles("yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, _, err := conduct.Load(args[0], sys.ReadFile, knownLimits(sys, f.catalog))
			if err != nil {
				return err
			}
			only, err := conduct.Select(p, f.only)
			if err != nil {
				return err
			}
			o, err := newOutline(cmd.Context(), sys, p, only, f.store)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("seed") {
				o.setSeed(p, f.seed)
			}
			if f.json {
				return printJSON(sys.Stdout, o)
			}
			o.Print(sys)
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&f.only, "only", nil, "only patterns with this level, as factor=level,level; may be repeated")
	cmd.Flags().Int64Var(&f.seed, "seed", 0, "show the order of this seed")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the plan as JSON")
	addStoreFlag(cmd, &f.store)
	addCatalogFlag(cmd, &f.catalog)
	return cmd
}

// PlanOutline is what a campaign would run, as JSON has it.
type PlanOutline = planOutline

// OutlinePlan is what the plan in a text would run of the patterns that texts select, as [conduct.Select] reads them.
func OutlinePlan(ctx context.Context, sys *System, file string, content []byte, texts []string) (*PlanOutline, error) {
	p, _, err := conduct.Load(file, func(string) ([]byte, error) { return content, nil }, knownLimits(sys, ""))
	if err != nil {
		return nil, err
	}
	only, err := conduct.Select(p, texts)
	if err != nil {
		return nil, err
	}
	return newOutline(ctx, sys, p, only, "")
}

// newOutline is the outline of a plan with what it can decide, and with the order if the plan has a seed.
func newOutline(ctx context.Context, sys *System, p *plan.Plan, only plan.Selection, storeFile string) (o *planOutline, err error) {
	o = outline(p, only)
	if o.Design, err = outlineDesign(ctx, sys, p, only, storeFile); err == nil && p.Seed != nil {
		o.setSeed(p, *p.Seed)
	}
	return o, err
}

// Print prints the outline for a terminal.
func (o *planOutline) Print(sys *System) { o.print(sys.Catalogue, sys.Stdout, sys.StdoutWidth()) }

// planOutline is what a campaign would run.
type planOutline struct {
	Campaign string           `json:"campaign"`
	Title    string           `json:"title,omitempty"`
	Lab      string           `json:"lab,omitempty"`
	Patterns []patternOutline `json:"patterns"`
	Pairs    *pairsOutline    `json:"pairs,omitempty"`
	Repeats  int              `json:"repeats"`
	Seed     *int64           `json:"seed,omitempty"`
	ByHand   []string         `json:"by_hand,omitempty"` // factors that a person changes
	// Unvaried are, by label of a test, factors that set nothing in it.
	Unvaried map[string][]string `json:"unvaried,omitempty"`
	Rounds   int                 `json:"rounds"`
	Every    measure.Duration    `json:"every_ns,omitempty"` // from the beginning of a round to that of the next
	Order    []roundOutline      `json:"order,omitempty"`    // one element a round; absent while the seed is not known
	Estimate advice.Estimate     `json:"estimate"`
	Search   *searchOutline      `json:"find,omitempty"`  // where the plan searches a plateau
	Until    *untilOutline       `json:"until,omitempty"` // where the plan says until when rounds are added

	Design *designOutline `json:"design"` // what it can decide

	ordered bool // the order is known, and with it the number of changes by hand
	price   float64
	only    plan.Selection
}

type patternOutline struct {
	Name   string          `json:"name"`
	Levels []measure.Level `json:"levels"`
	From   string          `json:"from,omitempty"`
	To     string          `json:"to,omitempty"`             // empty with pairs
	Server string          `json:"server_address,omitempty"` // empty with pairs
	Before []string        `json:"before,omitempty"`
	After  []string        `json:"after,omitempty"`
	Tests  []testOutline   `json:"tests"`
}

type testOutline struct {
	Label   string          `json:"label"`
	Test    measure.Test    `json:"test"`
	Options measure.Options `json:"options"` // effective
	Repeats int             `json:"repeats"`
	Rounds  int             `json:"rounds"`
}

type roundOutline struct {
	Round    int      `json:"round"`
	Patterns []string `json:"patterns"` // names in the order they run
}

func outline(p *plan.Plan, only plan.Selection) *planOutline {
	o := &planOutline{
		Campaign: p.Campaign, Title: p.Title, Lab: p.LabFile(), Repeats: p.Repeats, Rounds: p.Rounds, Every: p.Every,
		Estimate: advice.EstimateOf(p, only), price: p.Budget.PricePerGB, only: only, ByHand: p.ByHand(), Unvaried: p.Unvaried(), Until: outlineUntil(p, only),
	}
	o.Search = outlineSearch(p, only, o.Estimate)
	if p.HasPairs() {
		o.Pairs = outlinePairs(p)
	}
	for _, pt := range p.AllPatterns() {
		if !only.Matches(pt.Levels) {
			continue
		}
		out := patternOutline{Name: pt.Name, Levels: pt.Levels, From: pt.From, To: pt.To, Before: pt.Before, After: pt.After}
		if !p.HasPairs() {
			out.Server = p.Servers(&pt)[0].Endpoint.Address
		}
		for _, t := range pt.Tests {
			effective, _ := option.Effective(t.Options, t.Test) // checked when the plan was read
			out.Tests = append(out.Tests, testOutline{t.Label, t.Test, effective, t.Repeats, t.Rounds})
		}
		o.Patterns = append(o.Patterns, out)
	}
	return o
}

func (o *planOutline) setSeed(p *plan.Plan, seed int64) {
	o.Seed, o.Order = &seed, nil
	if o.ordered = !p.Searches(); !o.ordered {
		return // the order comes from what is measured
	}
	var byHand []measure.Level
	changes := 0
	for b := range schedule.Blocks(p, "", seed) {
		if len(o.Order) < b.Round {
			o.Order = append(o.Order, roundOutline{Round: b.Round})
		}
		if o.only.Matches(b.Pattern.Levels) {
			o.Order[b.Round-1].Patterns = append(o.Order[b.Round-1].Patterns, b.Pattern.Name)
			if levels := p.HandLevels(b.Pattern); !slices.Equal(levels, byHand) {
				byHand = levels
				changes++
			}
		}
	}
	if o.Estimate.HandChanges > 0 {
		o.Estimate.HandChanges = changes
	}
}

// commandsOfAll are the commands before the trials of each of several patterns.
func (o *planOutline) commandsOfAll() (all []string) {
	if len(o.Patterns) < 2 {
		return nil
	}
	for _, command := range o.Patterns[0].Before {
		if !slices.ContainsFunc(o.Patterns, func(pt patternOutline) bool { return !slices.Contains(pt.Before, command) }) {
			all = append(all, command)
		}
	}
	return all
}

// linesOfOrder is how much of the order a person gets to see.
const linesOfOrder = 12

func (o *planOutline) print(c *text.Catalogue, w io.Writer, columns int) {
	var out text.Lines
	out.Row("label.campaign", "summary.text", text.Args{"Text": o.Campaign})
	if o.Title != "" {
		out.Row("label.question", "summary.text", text.Args{"Text": o.Title})
	}
	if o.Lab != "" {
		out.Row("label.lab", "summary.text", text.Args{"Text": o.Lab})
	}
	label, always := "label.patterns", o.commandsOfAll()
	for _, pt := range o.Patterns {
		out.Row(label, "plan.pattern", text.Args{"Pattern": pt.Name, "Pairs": o.Pairs != nil, "From": pt.From, "To": pt.To, "Address": pt.Server})
		for _, command := range pt.Before {
			if !slices.Contains(always, command) {
				out.Under("plan.before", text.Args{"Command": printable.Words(command)})
			}
		}
		label = ""
	}
	label = "label.before"
	for line := range strings.Lines(strings.Join(always, "\n")) {
		out.Row(label, "summary.text", text.Args{"Text": strings.TrimRight(line, "\n")})
		label = ""
	}
	o.addPairs(&out)
	o.addTests(c, &out)
	if o.Estimate.HandChanges > 0 {
		out.Row("label.by_hand", "plan.by_hand", text.Args{"Factors": o.ByHand, "Changes": o.Estimate.HandChanges, "AtMost": !o.ordered})
	}
	o.addOrder(&out)
	o.addEstimate(c, &out)
	o.Search.add(&out)
	o.Until.add(c, &out)
	o.Design.add(c, &out)
	printLabelled(c, w, planColumns, columns, out)
}

// planColumns is the width of the labels of a plan.
const planColumns = 9

// mostVariants is how many forms of one test a person gets to see.
const mostVariants = 6

// addTests describes each test, in as many forms as its options have in the patterns.
func (o *planOutline) addTests(c *text.Catalogue, out *text.Lines) {
	label := "label.tests"
	for i, first := range o.Patterns[0].Tests {
		var forms []string
		for _, pt := range o.Patterns {
			if form := describeTest(c, pt.Tests[i]); !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
		for _, form := range forms[:min(len(forms), mostVariants)] {
			out.Row(label, "plan.test", text.Args{"Label": first.Label, "Test": form, "Own": o.hasOwnTurns(first), "Repeats": first.Repeats, "Rounds": first.Rounds})
			label = ""
		}
		if more := len(forms) - mostVariants; more > 0 {
			out.Under("plan.test.more", text.Args{"Label": first.Label, "N": more})
		}
		if factors := o.Unvaried[first.Label]; len(factors) > 0 {
			out.Under("plan.test.unvaried", text.Args{"Label": first.Label, "N": len(factors), "Factors": factors})
		}
	}
}

// describeTest names the options that a person decides about.
func describeTest(c *text.Catalogue, t testOutline) string {
	o := t.Options
	args := text.Args{
		"Test": t.Test, "Duration": o.Duration, "Bytes": o.Bytes, "Count": o.Count, "Flows": o.Flows,
		"Streams": o.Streams, "Rate": o.Rate, "Requests": o.RequestRate, "Direction": "", "Size": o.Size,
	}
	if o.Direction != measure.Forward {
		args["Direction"] = o.Direction
	}
	maps.Copy(args, tests.OptionArgs(t.Test, o))
	return c.Sentence("plan.test."+string(t.Test), args)
}

func (o *planOutline) addOrder(out *text.Lines) {
	if o.Seed == nil {
		out.Row("label.order", "plan.order.drawn", text.Args{"Rounds": o.Rounds})
		return
	}
	out.Row("label.order", "plan.order.seed", text.Args{"Seed": *o.Seed, "Search": o.Search != nil})
	for i, r := range o.Order {
		if i == linesOfOrder {
			out.Under("plan.order.more", text.Args{"N": len(o.Order) - i})
			break
		}
		out.Under("plan.order.round", text.Args{"Round": r.Round, "Patterns": strings.Join(r.Patterns, " · ")})
	}
}

func (o *planOutline) addEstimate(c *text.Catalogue, out *text.Lines) {
	e, sampled := o.Estimate, 0
	if e.PairsOfPatterns < e.Patterns*e.Pairs {
		sampled = e.PairsOfPatterns
	}
	out.Row("label.trials", "plan.trials", text.Args{
		"Sampled": sampled,
		"Trials":  e.Trials, "Patterns": e.Patterns, "Pairs": e.Pairs, "Tests": len(o.Patterns[0].Tests), "Repeats": o.Repeats, "Rounds": o.Rounds,
		"Fewest": e.FewestTrials, "Own": slices.ContainsFunc(o.Patterns[0].Tests, o.hasOwnTurns), "Each": e.Trials / e.PairsOfPatterns,
	})
	out.Row("label.plan_time", "plan.time", text.Args{
		"Time": roughly(c, e.Time), "Round": roughly(c, e.Round), "Every": leftText(c, o.Every.Std()), "AtOnce": e.AtOnce, "Unknown": e.TimeUnknown, "Max": e.MaxTime, "Changes": e.HandChanges, "AtMost": !o.ordered,
		"Commands": slices.ContainsFunc(o.Patterns, func(pt patternOutline) bool { return len(pt.Before)+len(pt.After) > 0 }),
	})
	out.Row("label.bytes", "plan.bytes", text.Args{"Bytes": e.Bytes, "Unknown": e.BytesUnknown, "Max": e.MaxBytes, "Key": e.MaxBytesKey})
	if e.Price != nil {
		out.Row("label.price", "plan.price", text.Args{"Price": *e.Price, "Max": e.MaxPrice, "PerGB": o.price})
	}
}

// printJSON writes v for other programs, indented for people.
func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", printable.JSON(b))
	}
	return err
}

// writeEvent writes a line of JSON with the name of an event and, as the member of that name,
// what it is about.
func writeEvent(w io.Writer, name string, about any) error {
	b, err := json.Marshal(map[string]any{"event": name, name: about}) // event comes first: keys are sorted
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", printable.JSON(b))
	}
	return err
}

// moment writes a time for a table, in this machine's zone.
func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
