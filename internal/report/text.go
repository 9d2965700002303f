package report

import (
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"soku/internal/measure"
	"soku/internal/text"
)

// Text writes the report in a language, for a terminal of that many columns (0 for 80). Of a
// table that is too wide the least important columns are left out, then names
// are cut; wide characters count as two columns.
func (r *Report) Text(w io.Writer, c *text.Catalogue, width int) error {
	if width <= 0 {
		width = defaultWidth
	}
	v := reportView{r, c}
	p := &terminal{width: max(width, leastWidth)}
	p.wrap("", v.title())
	p.wrap("", v.subtitle())
	for i := range r.Tests {
		p.test(testView{&r.Tests[i], v.Catalogue})
	}
	if s := v.missing(); s != "" {
		p.line("")
		p.wrap("", s)
	}
	if len(r.Warnings) > 0 {
		p.line("")
		p.wrap("", v.Sentence("text.warnings", nil))
		for _, x := range v.warnings() {
			p.wrap("  ", x)
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}

type terminal struct {
	strings.Builder
	width int
}

func (p *terminal) line(s string) {
	p.WriteString(strings.TrimRight(s, " "))
	p.WriteByte('\n')
}

// wrap writes a paragraph; lines after the first are indented by two more.
func (p *terminal) wrap(indent, s string) {
	line, used := indent, columnsOf(indent)
	empty := true
	for _, word := range unbreakable(clean(s)) {
		for {
			n := columnsOf(word)
			space := 1
			if empty {
				space = 0
			}
			if used+space+n <= p.width {
				line, used, empty = line+strings.Repeat(" ", space)+word, used+space+n, false
				break
			}
			if empty { // longer than a line
				head := (&runewidth.Condition{}).Truncate(word, p.width-used, "")
				if head == "" || head == word {
					p.line(line + word)
					word = ""
				} else {
					p.line(line + head)
					word = word[len(head):]
				}
			} else {
				p.line(line)
			}
			line, used, empty = indent+"  ", columnsOf(indent)+2, true
			if word == "" {
				break
			}
		}
	}
	if !empty {
		p.line(line)
	}
}

// unbreakable are the parts of a text that belong on one line: words, numbers with their
// percent sign.
func unbreakable(s string) (parts []string) {
	for _, word := range strings.Fields(s) {
		if n := len(parts); n > 0 && strings.HasPrefix(word, "%") {
			parts[n-1] += " " + word
			continue
		}
		parts = append(parts, word)
	}
	return parts
}

func (p *terminal) test(t testView) {
	p.line("")
	p.wrap("", t.heading())
	for _, c := range t.sentences() {
		p.wrap("  ", c)
	}
	for _, c := range t.caveats() {
		p.wrap("  ", c)
	}
	p.pairs(t)
	if curve := t.curveTable(); len(curve.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.curveHeading())
		if t.Curve != nil {
			p.table(curve)
		} else {
			p.wide(curve)
		}
	}
	for _, below := range []struct {
		heading string
		table
	}{{t.plateauHeading(), t.plateauTable()}, {t.reachedHeading(), t.reachedTable()}, {t.Sentence("flows.heading", nil), t.flowTable()}} {
		if len(below.Columns) > 0 {
			p.line("")
			p.wrap("  ", below.heading)
			p.table(below.table)
		}
	}
	p.line("")
	if len(t.Factors) > 0 && !t.ByHand {
		p.wrap("  ", t.Sentence("text.patterns", text.Args{"Factors": strings.Join(t.Factors, measure.LevelSeparator)}))
	}
	short, which := t.lines()
	if which != "" {
		p.wrap("  ", which)
	}
	p.table(short.figureTable(false))
	if control := t.controlTable(false); len(control.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.Sentence("text.control", nil))
		p.table(control)
	}
	if t.pivot != nil {
		p.line("")
		p.wrap("  ", t.pivotHeading())
		p.wide(t.pivotTable())
	}
	p.effects(t)
	if len(t.Ranking) > 1 {
		p.line("")
		p.wrap("  ", t.Sentence("text.ranking", text.Args{"Basis": t.basis()}))
		p.table(short.rankTable(false))
		for _, place := range short.Ranking {
			if t.Rounds > 1 {
				p.wrap("    ", t.Sentence("text.place", text.Args{"Pattern": place.Pattern, "Reason": t.Finding(place.Reason)}))
			}
		}
	}
	if load := short.loadTable(false); len(load.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.Sentence("text.load", nil))
		p.table(load)
	}
	if copied := short.copyTable(false); len(copied.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.copyHeading())
		p.table(copied)
	}
	if hops := t.hopTable(); len(hops.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.Sentence("text.hops", nil))
		p.table(hops)
	}
	if runs := t.runTable(); len(runs.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.runHeading())
		p.table(runs)
	}
	if len(t.Failures) > 0 {
		p.line("")
		p.wrap("  ", t.Sentence("text.failures", nil))
		for _, f := range t.failures() {
			p.wrap("    ", f)
		}
	}
}

// pairs writes what pairs of hosts have, and what contention costs them.
func (p *terminal) pairs(t testView) {
	if t.Pairs == nil {
		return
	}
	if s := t.startSkew(); s != "" {
		p.wrap("  ", s)
	}
	if spread := t.spreadTable(); len(spread.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.spreadHeading())
		p.table(spread)
	}
	for i, h := range t.heatMaps() {
		p.line("")
		if i == 0 {
			p.wrap("  ", t.heatHeading())
		}
		if h.Caption != "" {
			p.wrap("  ", h.Caption)
		}
		p.wide(h.Table())
	}
	for i, h := range t.contentionMaps() {
		p.line("")
		if i == 0 {
			p.wrap("  ", t.Sentence("text.contention_map", nil))
		}
		if h.Caption != "" {
			p.wrap("  ", h.Caption)
		}
		p.wide(h.Table())
	}
	if losses := t.contentionTable(); len(losses.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.Sentence("text.contention", text.Args{"Cut": t.contentionCut(), "Most": mostContentionPairs}))
		p.table(losses)
	}
}

// wide writes a table that goes on below with the columns that do not fit.
func (p *terminal) wide(t table) {
	for i, part := range t.split(p.width - 2) {
		if i > 0 {
			p.line("")
		}
		p.table(part)
	}
}

// effects writes what the factors do.
func (p *terminal) effects(t testView) {
	if len(t.FactorEffects) == 0 {
		return
	}
	p.line("")
	p.wrap("  ", t.Sentence("text.factors", text.Args{"Plateau": t.PlateauOf}))
	wide := p.width >= leastEffects
	p.table(t.effectTable(wide))
	if levels := t.levelTable(wide); len(levels.Columns) > 0 {
		p.line("")
		p.wrap("  ", t.Sentence("text.levels", text.Args{"Cut": t.cutPairs(), "Most": mostPairs}))
		p.table(levels)
	}
}

// table writes a table indented by two.
func (p *terminal) table(t table) {
	cells, columns := fit(t, p.width-2)
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = columnsOf(c.heading())
		for _, row := range cells {
			widths[i] = max(widths[i], columnsOf(row[i]))
		}
	}
	shrink(widths, columns, p.width-2)
	write := func(row []string) {
		line := " "
		for i, text := range row {
			text = (&runewidth.Condition{}).Truncate(text, widths[i], "…")
			pad := strings.Repeat(" ", widths[i]-columnsOf(text))
			if columns[i].Number {
				text = pad + text
			} else {
				text += pad
			}
			line += strings.Repeat(" ", min(i, 1)*(gutter-1)+1) + text
		}
		p.line(line)
	}
	var headings []string
	for _, c := range columns {
		headings = append(headings, c.heading())
	}
	write(headings)
	for _, row := range cells {
		write(row)
	}
}

// fit leaves out columns, the one with the highest keep first, until the table
// is no wider than width or only those remain that always stay. Names count
// with what they can be cut to.
func fit(t table, width int) ([][]string, []column) {
	keep := make([]bool, len(t.Columns))
	for i := range keep {
		keep[i] = true
	}
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		for _, cell := range row {
			rows[i] = append(rows[i], clean(cell))
		}
	}
	need := func(i int) int {
		n := columnsOf(t.Columns[i].heading())
		for _, row := range rows {
			n = max(n, columnsOf(row[i]))
		}
		if !t.Columns[i].Number && t.Columns[i].keep == 0 {
			n = min(n, max(leastName, width/3))
		}
		return n
	}
	for {
		total, worst := -gutter, -1
		for i, c := range t.Columns {
			if !keep[i] {
				continue
			}
			total += need(i) + gutter
			if c.keep > 0 && (worst < 0 || c.keep > t.Columns[worst].keep) {
				worst = i
			}
		}
		if total <= width || worst < 0 {
			break
		}
		keep[worst] = false
	}
	var columns []column
	out := make([][]string, len(rows))
	for i, c := range t.Columns {
		if !keep[i] {
			continue
		}
		columns = append(columns, c)
		for j := range rows {
			out[j] = append(out[j], rows[j][i])
		}
	}
	return out, columns
}

// shrink cuts the widest name columns until the table fits.
func shrink(widths []int, columns []column, width int) {
	total := -gutter
	for _, n := range widths {
		total += n + gutter
	}
	for total > width {
		widest := -1
		for i, c := range columns {
			if !c.Number && widths[i] > leastName && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
		total--
	}
}
