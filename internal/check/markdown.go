package check

import (
	"fmt"
	"strings"

	"soku/internal/report/printer"
	"soku/internal/text"
)

// mostRows is how many rows the table of a comment has.
const mostRows = 100

// Markdown is the outcome as a comment of a pipeline, in GitHub's dialect. Texts from results
// and rules are escaped.
func (o *Outcome) Markdown(c *text.Catalogue) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", c.Sentence("check.markdown.heading", text.Args{
		"Failing": o.count(DoesNotHold), "NotShown": o.count(NotShown), "Heading": printer.EscapeMarkdown(o.heading(c)),
	}))
	row := func(cells ...string) {
		for i := range cells {
			cells[i] = printer.EscapeMarkdown(cells[i])
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	var heads []string
	for _, column := range []string{"verdict", "rule", "pattern", "measured"} {
		heads = append(heads, c.Sentence("check.markdown.columns."+column, nil))
	}
	row(heads...)
	b.WriteString("| --- | --- | --- | --- |\n")
	left, more := mostRows, 0
	for _, of := range worstFirst {
		for i := range o.Rules {
			v := ruleView{&o.Rules[i], c}
			for j := range v.Patterns {
				p := &v.Patterns[j]
				switch {
				case p.Verdict != of:
				case left == 0:
					more++
				default:
					left--
					row(v.verdict(of), v.name(), v.pattern(p), v.measured(p))
				}
			}
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "\n%s\n", c.Sentence("check.more", text.Args{"Patterns": more}))
	}
	return b.String()
}
