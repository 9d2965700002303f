package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/report/printer"
	"soku/internal/stats"
	"soku/internal/text"
)

// HTML writes the comparisons as a page in a language, see [printer.HTML].
func (c *Comparisons) HTML(w io.Writer, in *text.Catalogue) error {
	return printer.HTML(w, c.page(in), in)
}

// XLSX writes the comparisons as a workbook in a language, see [printer.XLSX].
func (c *Comparisons) XLSX(w io.Writer, in *text.Catalogue) error {
	return printer.XLSX(w, c.page(in), in)
}

// Markdown writes the comparisons in a language, see [printer.Markdown].
func (c *Comparisons) Markdown(w io.Writer, in *text.Catalogue) error {
	return printer.Markdown(w, c.outline(in, false), in, printer.MarkdownOptions{})
}

// Text writes the comparisons in a language for a terminal, see [printer.Text]: of more than 30 rows
// those with the largest changes, unless all are asked for with full, which adds a sentence on each.
func (c *Comparisons) Text(w io.Writer, in *text.Catalogue, width int, full bool) error {
	return printer.Text(w, c.outline(in, full), in, width)
}

// page is the outline with a title. There is a test.
func (c *Comparisons) page(in *text.Catalogue) *outline.Document {
	d := c.outline(in, true)
	var names []string
	for _, o := range c.Overall {
		names = addOnce(addOnce(names, o.B), o.A)
	}
	v := comparedView{c, &c.Tests[0], in}
	d.Title, d.Subtitle = v.Sentence("compare.title", text.Args{"Choices": v.called(names...)}), v.campaign()
	return d
}

// outline is what the comparisons show, in a language.
func (c *Comparisons) outline(in *text.Catalogue, full bool) *outline.Document {
	d := &outline.Document{}
	for i, v := range c.familyViews(in) {
		id := fmt.Sprintf("t%d", i+1)
		d.Sections = append(d.Sections, outline.Section{ID: id, Title: v.title(), Blocks: v.blocks(id, full)})
	}
	if rest := c.rest(in); len(rest) > 0 {
		d.Sections = append(d.Sections, outline.Section{ID: "rest", Title: in.Sentence("compare.rest", nil), Blocks: []outline.Block{{Lines: rest, Style: outline.Caveats}}})
	}
	return d
}

// blocks are the answers, one table, the caveats, and what few readers need.
func (v familyView) blocks(id string, full bool) []outline.Block {
	var answers, each []string
	for _, o := range v.all.Overall {
		if o.family == v.family {
			answers = append(answers, v.overall(o))
		}
	}
	for _, r := range v.rows {
		s := r.decision(r.ComparedPair)
		if len(v.tests) > 1 {
			s = v.Sentence("text.place", text.Args{"Pattern": r.pattern(), "Reason": s})
		}
		each = append(each, s)
	}
	place := outline.Details
	if full {
		place = outline.Body
	}
	return slices.DeleteFunc([]outline.Block{
		{Lines: answers, Style: outline.Answers},
		{Key: "changes", Heading: v.Sentence("compare.figures", text.Args{"Noun": v.basis().noun(), "Unit": v.basis().unitOf(v.form(), v.unit())}), Tables: []outline.Table{v.table(full)}},
		{Key: "chart", Charts: v.chart(id)},
		{Lines: v.notes(), Style: outline.Caveats},
		{Key: "each", Heading: v.Sentence("compare.each", nil), Fold: outline.Closed, Place: place, Lines: each, Style: outline.List},
	}, func(b outline.Block) bool { return b.Empty() })
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
	Overall     []overallJSON    `json:"overall"`
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

// overallJSON is what the patterns of a test show together. Counts are of patterns.
type overallJSON struct {
	Test     measure.Test `json:"test"`
	Label    string       `json:"label"`
	Capture  capture      `json:"capture,omitempty"`
	Metric   string       `json:"metric"`
	A        string       `json:"a"`
	B        string       `json:"b"`
	Ratio    *float64     `json:"ratio,omitempty"`
	Low      *float64     `json:"low,omitempty"`
	High     *float64     `json:"high,omitempty"`
	Shown    bool         `json:"shown"`
	Patterns int          `json:"patterns"` // that have a ratio
	Rounds   int          `json:"rounds"`   // that the interval rests on; 0: it rests on the patterns
	Better   int          `json:"better"`
	Worse    int          `json:"worse"`
	Same     int          `json:"same"`
	NotShown int          `json:"not_shown"`
}

// overall is the form of JSON of what the patterns of each test show together; not nil.
func (c *Comparisons) overall() []overallJSON {
	out := []overallJSON{}
	for _, o := range c.Overall {
		out = append(out, overallJSON{
			Test: o.Test, Label: o.Label, Capture: o.Capture, Metric: o.Metric, A: o.A, B: o.B,
			Ratio: finite(o.Ratio), Low: finite(o.Low), High: finite(o.High), Shown: o.Shown(), Patterns: o.Patterns, Rounds: o.Rounds,
			Better: o.Better, Worse: o.Worse, Same: o.Same, NotShown: o.NotShown,
		})
	}
	return out
}

// MarshalJSON writes the comparisons, those of one test one after another.
func (c *Comparisons) MarshalJSON() ([]byte, error) {
	return json.Marshal(comparisonsJSON{Schema: CompareSchema, Practical: c.Practical, LeftOut: c.LeftOut, Campaign: c.Campaign, Failed: c.Failed, Comparisons: c.list(), Overall: c.overall()})
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
