package report

import (
	"fmt"
	"io"

	"soku/internal/report/outline"
	"soku/internal/report/printer"
	"soku/internal/text"
)

// HTML writes one self-contained page in a language, see [printer.HTML].
func (r *Report) HTML(w io.Writer, c *text.Catalogue) error {
	return printer.HTML(w, r.outline(c, true), c)
}

// XLSX writes the report as a workbook in a language, see [printer.XLSX].
func (r *Report) XLSX(w io.Writer, c *text.Catalogue) error {
	return printer.XLSX(w, r.outline(c, false), c)
}

// Markdown writes the report in a language, see [printer.Markdown].
func (r *Report) Markdown(w io.Writer, c *text.Catalogue) error {
	return r.MarkdownWith(w, c, printer.MarkdownOptions{})
}

// MarkdownWith is Markdown with options. Its pictures are [Report.Pictures].
func (r *Report) MarkdownWith(w io.Writer, c *text.Catalogue, o printer.MarkdownOptions) error {
	return printer.Markdown(w, r.outline(c, o.Picture != nil), c, o)
}

// Pictures are the charts of the report with texts in a language, see [printer.SVG].
func (r *Report) Pictures(c *text.Catalogue) []printer.Picture {
	return printer.Pictures(r.outline(c, true))
}

// Text writes the report in a language for a terminal, see [printer.Text].
func (r *Report) Text(w io.Writer, c *text.Catalogue, width int) error {
	return printer.Text(w, r.outline(c, false), c, width)
}

// WithData is the report with a link to its data in formats that have links.
func (r *Report) WithData(url string) *Report {
	out := *r
	out.dataURL = url
	return &out
}

// outline is what the report shows, in a language. Charts are drawn only for formats that have them.
func (r *Report) outline(c *text.Catalogue, charts bool) *outline.Document {
	v := reportView{r, c}
	d := &outline.Document{Title: v.title(), Subtitle: v.subtitle(), DataURL: r.dataURL}
	colours := map[string]int{} // a pattern has the same in all tests
	for i := range r.Tests {
		for _, row := range r.Tests[i].Rows {
			if _, known := colours[row.Pattern]; !known {
				colours[row.Pattern] = len(colours)
			}
		}
	}
	for i := range r.Tests {
		b := blocks{testView: testView{&r.Tests[i], c}, id: fmt.Sprintf("t%d", i+1), charts: charts, colours: colours}
		b.addTest()
		d.Sections = append(d.Sections, outline.Section{ID: b.id, Title: b.label(), Heading: b.heading(), Description: b.description(), Blocks: b.list})
	}
	d.Sections = append(d.Sections, v.common()...)
	return d
}

// common are the sections that concern all tests.
func (v reportView) common() (out []outline.Section) {
	if len(v.Warnings) > 0 {
		out = append(out, outline.Section{ID: "warnings", Title: v.Sentence("page.warnings", nil), Blocks: []outline.Block{
			{Lines: v.warnings(), Style: outline.List},
		}})
	}
	method := outline.Section{ID: "method", Title: v.Sentence("page.method", nil), Blocks: []outline.Block{
		{Details: true, Lines: v.methods(), Style: outline.List},
	}}
	if s := v.missing(); s != "" {
		method.Blocks = append(method.Blocks, outline.Block{Lines: []string{s}, Style: outline.List})
	}
	var tools []string
	for _, tool := range v.Tools {
		tools = append(tools, tool.in(v.Catalogue))
	}
	environment := outline.Section{ID: "environment", Title: v.Sentence("page.environment", nil)}
	if t := hostTable(v.Hosts, v.Catalogue); len(t.Columns) > 0 {
		environment.Blocks = append(environment.Blocks, outline.Block{Key: "hosts", Details: true, Tables: []outline.Table{t}})
	}
	environment.Blocks = append(environment.Blocks, outline.Block{Details: true, Lines: []string{v.Sentence("page.tools", text.Args{"Tools": tools})}})
	if v.Campaign.Plan != "" {
		environment.Blocks = append(environment.Blocks, outline.Block{
			Key: "plan", Heading: v.Sentence("page.plan", nil), Fold: outline.Closed, Details: true, Style: outline.Code, Lines: []string{v.Campaign.Plan},
		})
	}
	return append(out, method, environment)
}

// blocks are those of a test. Blocks without a content are left out.
type blocks struct {
	testView
	id      string
	charts  bool
	colours map[string]int // of patterns
	list    []outline.Block
}

func (b *blocks) add(block outline.Block) {
	if !block.Empty() {
		b.list = append(b.list, block)
	}
}

// table adds a table, unless it has no columns.
func (b *blocks) table(key, heading string, fold outline.Fold, t outline.Table) {
	b.add(outline.Block{Key: key, Heading: heading, Fold: fold, Tables: tables(t)})
}

func tables(t outline.Table) []outline.Table {
	if len(t.Columns) == 0 {
		return nil
	}
	return []outline.Table{t}
}

// chart is the chart id of the test, if the format has charts and there is one.
func (b *blocks) chart(id string, draw func(id string, colours map[string]int) *outline.Figure) *outline.Charts {
	if !b.charts {
		return nil
	}
	if f := draw(b.id+"-"+id, b.colours); f != nil {
		return &outline.Charts{Figures: []outline.Figure{*f}}
	}
	return nil
}

// panels are many charts, as chart.
func (b *blocks) panels(id string, draw func(id string, colours map[string]int) []outline.Figure) *outline.Charts {
	if !b.charts {
		return nil
	}
	if all := draw(b.id+"-"+id, b.colours); len(all) > 0 {
		return &outline.Charts{Panels: true, Figures: all}
	}
	return nil
}

// addTest adds all blocks of the test in their order.
func (b *blocks) addTest() {
	b.add(outline.Block{Lines: b.sentences(), Style: outline.Answers})
	b.add(outline.Block{Lines: b.caveats(), Style: outline.Caveats})
	if s := b.startSkew(); s != "" {
		b.add(outline.Block{Lines: []string{s}})
	}
	b.addPairs()
	b.addCurves()
	b.table("reached", b.reachedHeading(), outline.Always, b.reachedTable())
	b.table("groups", b.Sentence("flows.heading", nil), outline.Always, b.flowTable())
	b.addPatternTables()
	b.addTrials()
	b.table("hops", b.Sentence("page.hops", nil), outline.Always, b.hopTable())
	b.addOverTime()
	b.table("runs", b.runHeading(), outline.Always, b.runTable())
	failures := b.failures()
	b.add(outline.Block{Key: "failures", Heading: b.Sentence("page.failures", text.Args{"Trials": len(failures)}), Fold: outline.Open, Lines: failures, Style: outline.List})
	b.add(outline.Block{Key: "options", Heading: b.Sentence("page.options", nil), Fold: outline.Closed, Details: true, Lines: b.options(), Style: outline.Tags})
}

// addPairs adds what pairs of hosts have, and what contention costs them.
func (b *blocks) addPairs() {
	if b.Pairs == nil {
		return
	}
	b.table("spread", b.spreadHeading(), outline.Always, b.spreadTable())
	b.add(outline.Block{Key: "pairs", Heading: b.heatHeading(), Tables: b.heatMaps()})
	b.add(outline.Block{Key: "contention-map", Heading: b.Sentence("page.contention_map", nil), Tables: b.contentionMaps()})
	b.table("contention", b.Sentence("page.contention", text.Args{"Cut": b.contentionCut(), "Most": mostContentionPairs}), outline.Always, b.contentionTable())
}

// addCurves adds the curves over a factor whose levels are numbers.
func (b *blocks) addCurves() {
	var charts *outline.Charts
	if b.charts {
		charts = b.sweepCharts(b.id + "-sweep")
	}
	b.add(outline.Block{Key: "curve", Heading: b.curveHeading(), Tables: tables(b.curveTable()), Charts: charts})
	b.table("plateaus", b.plateauHeading(), outline.Always, b.plateauTable())
}

// addPatternTables adds the figures of all patterns, what factors do and the ranking.
func (b *blocks) addPatternTables() {
	fold, heading := outline.Always, b.Sentence("page.figures", nil)
	figures := b.figureTable()
	if n := len(b.Rows); n > mostRows {
		fold, heading = outline.Closed, b.Sentence("page.figures_of", text.Args{"Patterns": n})
		figures.Note = b.Sentence("text.lines", text.Args{"All": n, "Best": bestLines, "Last": lastLines})
	}
	b.table("figures", heading, fold, figures)
	b.table("control", b.Sentence("page.control", nil), outline.Always, b.controlTable())
	b.table("pivot", b.pivotHeading(), outline.Always, b.pivotTable())
	b.table("factors", b.Sentence("page.factors", text.Args{"Plateau": b.PlateauOf}), outline.Always, b.effectTable())
	b.table("levels", b.Sentence("page.levels", text.Args{"Cut": b.cutPairs(), "Most": mostPairs}), outline.Always, b.levelTable())
	if len(b.Ranking) > 1 {
		b.table("ranking", b.Sentence("page.ranking", text.Args{"Basis": b.basis()}), fold, b.rankTable())
	}
}

// addTrials adds what single trials and single round trips show.
func (b *blocks) addTrials() {
	b.add(outline.Block{Key: "trials", Heading: b.Sentence("page.trials", nil), Charts: b.chart("trials", b.stripFigure)})
	b.add(outline.Block{Key: "percentiles", Heading: b.Sentence("page.curves", nil), Charts: b.chart("percentiles", b.curveFigure)})
	if load := tables(b.loadTable()); load != nil {
		b.add(outline.Block{Key: "load", Heading: b.Sentence("page.load", nil), Tables: load, Charts: b.chart("load", b.loadFigure)})
		b.add(outline.Block{Key: "load-time", Heading: b.Sentence("page.load_time", nil), Fold: outline.Open, Charts: b.panels("load-time", b.loadOverTime)})
	}
}

// addOverTime adds how trials went.
func (b *blocks) addOverTime() {
	if table := tables(b.copyTable()); table != nil {
		charts := b.panels("copy", func(id string, _ map[string]int) []outline.Figure { return b.copyFigures(id) })
		if charts != nil {
			charts.Legend = b.copyLegend()
		}
		b.add(outline.Block{Key: "copy", Heading: b.copyHeading(), Tables: table, Charts: charts})
	}
	b.add(outline.Block{Key: "streams", Heading: b.Sentence("page.streams", nil), Fold: outline.Open, Charts: b.panels("streams", b.sharingFigures)})
	fold := outline.Closed
	if len(b.Rows) > mostRows {
		fold = outline.Hidden
	}
	if charts := b.panels("time", b.timeFigures); charts != nil {
		heading := b.Sentence("page.over_time", text.Args{"Patterns": len(charts.Figures), "All": len(b.Rows)})
		b.add(outline.Block{Key: "time", Heading: heading, Fold: fold, Charts: charts})
	}
}
