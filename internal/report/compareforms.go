package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"soku/internal/text"
)

// Markdown writes the comparisons in a language, in GitHub's dialect. Texts from results are
// escaped.
func (c *Comparisons) Markdown(w io.Writer, in *text.Catalogue) error {
	var b strings.Builder
	for i := range c.Tests {
		v := comparedView{c, &c.Tests[i], in}
		fmt.Fprintf(&b, "### %s\n\n%s\n", EscapeMarkdown(v.heading()), markdownTable(v.table()))
		for _, pair := range v.Pairs {
			b.WriteString("- " + EscapeMarkdown(v.decision(pair)) + "\n")
		}
		b.WriteString("\n")
		if v.lastOfFamily(i) {
			for _, note := range v.notes() {
				b.WriteString(EscapeMarkdown(note) + "\n\n")
			}
		}
	}
	for _, line := range c.rest(in) {
		b.WriteString(EscapeMarkdown(line) + "\n\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
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
