package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/report/printer"
	"soku/internal/stats"
	"soku/internal/text"
)

// Markdown writes the comparisons in a language, see [printer.Markdown].
func (c *Comparisons) Markdown(w io.Writer, in *text.Catalogue) error {
	return printer.Markdown(w, c.outline(in), in, printer.MarkdownOptions{})
}

// Text writes the comparisons in a language for a terminal, see [printer.Text].
func (c *Comparisons) Text(w io.Writer, in *text.Catalogue, width int) error {
	return printer.Text(w, c.outline(in), in, width)
}

// outline is what the comparisons show, in a language.
func (c *Comparisons) outline(in *text.Catalogue) *outline.Document {
	d := &outline.Document{}
	for i := range c.Tests {
		v := comparedView{c, &c.Tests[i], in}
		s := outline.Section{ID: fmt.Sprintf("t%d", i+1), Title: v.heading(), Blocks: []outline.Block{
			{Tables: []outline.Table{v.table()}},
			{Key: "means", Heading: v.Sentence("compare.strip", text.Args{"Noun": v.basis().noun()}), Dots: v.dots()},
		}}
		var decisions []string
		for _, pair := range v.Pairs {
			decisions = append(decisions, v.decision(pair))
		}
		s.Blocks = append(s.Blocks, outline.Block{Lines: decisions, Style: outline.List})
		if v.lastOfFamily(i) {
			s.Blocks = append(s.Blocks, outline.Block{Lines: v.notes()})
		}
		d.Sections = append(d.Sections, s)
	}
	if rest := c.rest(in); len(rest) > 0 {
		d.Sections = append(d.Sections, outline.Section{ID: "rest", Blocks: []outline.Block{{Lines: rest}}})
	}
	return d
}

// CSV writes a row a comparison, with the members that the JSON form has. Cells that a
// spreadsheet would calculate are made texts.
func (c *Comparisons) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"test", "label", "levels", "metric", "a", "b", "a_value", "b_value", "a_rounds", "b_rounds", "ratio", "low", "high", "p", "p_adjusted", "decision", "reason", "paired_rounds", "apart"})
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	for _, j := range c.list() {
		var levels []string
		for _, l := range j.Levels {
			levels = append(levels, l.Factor+"="+l.Value)
		}
		_ = out.Write([]string{
			string(j.Test), csvText(j.Label), csvText(strings.Join(levels, ", ")), j.Metric, csvText(j.A), csvText(j.B),
			number(&j.AValue), number(&j.BValue), strconv.Itoa(j.ARounds), strconv.Itoa(j.BRounds),
			number(j.Ratio), number(j.Low), number(j.High), number(j.P), number(j.PAdjusted), string(j.Decision), string(j.Reason), strconv.Itoa(j.Rounds), strconv.FormatBool(j.Apart),
		})
	}
	out.Flush()
	return out.Error()
}

// CompareSchema is the identity of the JSON form of [Comparisons]. Members may be added
// under the same number.
const CompareSchema = "soku.compare/1"

type comparisonsJSON struct {
	Schema      string           `json:"schema"`
	Practical   float64          `json:"practical_ratio"`
	Comparisons []comparisonJSON `json:"comparisons"`
	LeftOut     int              `json:"left_out,omitempty"`
	Campaign    string           `json:"campaign,omitempty"`
	Failed      []FailedChoice   `json:"failed,omitempty"`
}

// comparisonJSON is one comparison. What could not be tested has a reason instead of an
// interval and a probability.
type comparisonJSON struct {
	Test      measure.Test    `json:"test"`
	Label     string          `json:"label"`
	Capture   capture         `json:"capture,omitempty"`
	Levels    []measure.Level `json:"levels,omitempty"` // that both have
	Metric    string          `json:"metric"`
	A         string          `json:"a"`
	B         string          `json:"b"`
	AValue    float64         `json:"a_value"` // geometric mean of the round means, in the metric's unit; if one of them is 0, their mean
	BValue    float64         `json:"b_value"`
	ARounds   int             `json:"a_rounds"`
	BRounds   int             `json:"b_rounds"`
	AFailed   int             `json:"a_failed,omitempty"` // trials without a value
	BFailed   int             `json:"b_failed,omitempty"`
	Ratio     *float64        `json:"ratio,omitempty"`
	Low       *float64        `json:"low,omitempty"`
	High      *float64        `json:"high,omitempty"`
	P         *float64        `json:"p,omitempty"`
	PAdjusted *float64        `json:"p_adjusted,omitempty"`
	Decision  stats.Decision  `json:"decision"`
	Seen      stats.Decision  `json:"seen,omitempty"`         // better or worse, in each of three to five rounds: too few for a decision
	Ranks     bool            `json:"signed_ranks,omitempty"` // by the signed-rank test, because the rounds have heavy tails
	Reason    stats.Untested  `json:"reason,omitempty"`
	Rounds    int             `json:"paired_rounds"` // 0: unpaired
	Apart     bool            `json:"apart"`         // measured in different sessions
	Alike     bool            `json:"rounds_alike,omitempty"`
	Looks     *InterimRule    `json:"looks,omitempty"`
	More      *[2]*int        `json:"more_rounds,omitempty"`
	Text      string          `json:"text"`
}

// MarshalJSON writes the comparisons, those of one test one after another.
func (c *Comparisons) MarshalJSON() ([]byte, error) {
	return json.Marshal(comparisonsJSON{Schema: CompareSchema, Practical: c.Practical, LeftOut: c.LeftOut, Campaign: c.Campaign, Failed: c.Failed, Comparisons: c.list()})
}

// list is the comparisons in the form of JSON; not nil.
func (c *Comparisons) list() []comparisonJSON {
	out := []comparisonJSON{}
	for i := range c.Tests {
		t := &c.Tests[i]
		v, together := comparedView{c, t, text.ForPrograms()}, c.adjusted(t)
		for _, p := range t.Pairs {
			a, b := t.Choices[p.A], t.Choices[p.B]
			j := comparisonJSON{
				Test: t.Test, Label: t.Label, Capture: t.Capture, Levels: t.Same, Metric: t.Metric.Key,
				A: a.Name, B: b.Name, AValue: a.Value, BValue: b.Value, ARounds: a.Rounds, BRounds: b.Rounds, AFailed: a.Failed, BFailed: b.Failed,
				Ratio: finite(p.Ratio), Low: finite(p.Low), High: finite(p.High), P: finite(p.P),
				Decision: p.Decision, Seen: p.Seen, Ranks: p.SignedRanks, Reason: p.Untested, Rounds: p.Rounds, Apart: p.Apart, Alike: p.Alike, Looks: t.interim.rule(), Text: v.decision(p),
			}
			if together > 1 {
				j.PAdjusted = finite(p.Adjusted)
			}
			if p.Further != nil {
				f := p.Further()
				j.More = &[2]*int{known(f.Least), known(f.Most)}
			}
			out = append(out, j)
		}
	}
	return out
}

// known is a number of rounds, nil for more than are planned.
func known(rounds int) *int {
	if rounds < 0 {
		return nil
	}
	return &rounds
}

// adjusted is how many tested comparisons hold together with those of a test.
func (c *Comparisons) adjusted(t *ComparedTest) (n int) {
	for _, o := range c.Tests {
		if o.family != t.family {
			continue
		}
		for _, p := range o.Pairs {
			if p.Untested == "" {
				n++
			}
		}
	}
	return n
}
