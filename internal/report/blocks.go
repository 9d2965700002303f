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
	d := r.outline(c, false)
	if r.brief {
		d = d.Lead()
		d.Sections = append(d.Sections, outline.Section{ID: "more", Blocks: []outline.Block{{Lines: []string{c.Sentence("report.more", text.Args{"Campaign": r.Campaign.ID, "Runs": r.Trials})}}}})
	}
	return printer.Text(w, d, c, width)
}

// Brief returns the report that has, as text for a terminal, the answers and what shows them alone.
func (r *Report) Brief() *Report {
	out := *r
	out.brief = true
	return &out
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
	for i := range r.Tests {
		b := blocks{testView: testView{&r.Tests[i], c}, id: fmt.Sprintf("t%d", i+1), charts: charts}
		if len(r.Tests) > 1 {
			b.fold = outline.Hidden
		}
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
		{Key: "how", Heading: v.Sentence("page.method_how", nil), Fold: outline.Closed, Place: outline.Details, Lines: v.methods(), Style: outline.List},
	}}
	if s := v.missing(); s != "" {
		method.Blocks = append(method.Blocks, outline.Block{Lines: []string{s}, Style: outline.List})
	}
	environment := outline.Section{ID: "environment", Title: v.Sentence("page.environment", nil)}
	if t := hostTables(v.Hosts, v.Catalogue); t != nil {
		environment.Blocks = append(environment.Blocks, outline.Block{
			Key: "hosts", Heading: v.Sentence("page.hosts", text.Args{"Hosts": len(v.Hosts)}), Fold: outline.Hidden, Place: outline.Details, Tables: t,
		})
	}
	environment.Blocks = append(environment.Blocks, outline.Block{Place: outline.Details, Lines: []string{v.Sentence("page.tools", text.Args{"Tools": v.tools()})}})
	return append(append(out, method, environment), v.repeat()...)
}

// blocks are those of a test. Blocks without a content are left out.
type blocks struct {
	testView
	id     string
	charts bool
	fold   outline.Fold // of what shows more than the answer: a page of several tests would be long
	list   []outline.Block
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
func (b *blocks) chart(id string, draw func(id string) *outline.Figure) *outline.Charts {
	if !b.charts {
		return nil
	}
	if f := draw(b.id + "-" + id); f != nil {
		return &outline.Charts{Figures: []outline.Figure{*f}}
	}
	return nil
}

// panels are many charts, as chart.
func (b *blocks) panels(id string, draw func(id string) []outline.Figure) *outline.Charts {
	if !b.charts {
		return nil
	}
	if all := draw(b.id + "-" + id); len(all) > 0 {
		return &outline.Charts{Panels: true, Figures: all}
	}
	return nil
}

// charted adds charts with a table of their figures for those who cannot see them. Formats without charts
// have their own tables.
func (b *blocks) charted(key, heading string, fold outline.Fold, charts *outline.Charts, figures func() outline.Table) {
	if charts == nil {
		return
	}
	t := figures()
	t.Drawn = true
	b.add(outline.Block{Key: key, Heading: heading, Fold: fold, Charts: charts, Tables: tables(t)})
}

// addTest adds all blocks of the test in their order: the answer and what shows it, what else is to know,
// and folded all figures and comparisons.
func (b *blocks) addTest() {
	first, caveats, further := b.said()
	b.add(outline.Block{Place: outline.Lead, Lines: first, Style: outline.Answers})
	b.add(outline.Block{Place: outline.Lead, Lines: caveats, Style: outline.Caveats})
	shown := b.addShown()
	b.add(outline.Block{Key: "findings", Heading: b.Sentence("page.findings", text.Args{"Findings": len(further)}), Fold: outline.Closed, Lines: further, Style: outline.List})
	b.table("factors", b.Sentence("page.factors", text.Args{"Plateau": b.PlateauOf}), outline.Always, b.effectTable())
	b.addPairs(shown)
	b.addCurves(shown)
	b.table("control", b.Sentence("page.control", nil), outline.Always, b.controlTable())
	b.table("reached", b.reachedHeading(), outline.Always, b.reachedTable())
	b.table("groups", b.Sentence("flows.heading", nil), outline.Always, b.flowTable())
	b.addTrials()
	hops := outline.Block{Key: "hops", Heading: b.Sentence("page.hops", nil), Fold: b.fold, Tables: tables(b.hopTable())}
	if len(b.Rows) == 1 { // the route is what was asked for
		hops.Place, hops.Fold = outline.Lead, outline.Always
	}
	b.add(hops)
	b.addComparisons(shown)
	b.addOverTime()
	b.table("runs", b.runHeading(), outline.Hidden, b.runTable())
	failures := b.failures()
	b.add(outline.Block{Key: "failures", Heading: b.Sentence("page.failures", text.Args{"Trials": len(failures)}), Fold: outline.Open, Lines: failures, Style: outline.List})
	b.charted("coverage", b.Sentence("page.coverage", nil), outline.Hidden, b.chart("coverage", b.coverageFigure), b.coverageTable)
	if s := b.startSkew(); s != "" {
		b.add(outline.Block{Lines: []string{s}})
	}
	b.add(outline.Block{Key: "options", Heading: b.Sentence("page.options", nil), Fold: outline.Hidden, Place: outline.Details, Lines: b.options(), Style: outline.Tags})
}

// Keys of the blocks of which one shows the answer.
const (
	keyStudy      = "study"
	keyPairs      = "pairs"
	keyContention = "contention"
	keyCurve      = "curve"
	keyFigures    = "figures"
)

// mostAnswerChart is the height in pixels up to which a chart stands next to the table that shows the answer.
const mostAnswerChart = 700

// addShown adds the table that shows the answer, with a chart of the same figures, and returns its key.
func (b *blocks) addShown() string {
	shown := b.shown()
	shown.Place = outline.Lead
	var high *outline.Charts
	if shown.Charts == nil {
		best := testView{b.asCompared(), b.Catalogue}
		if shown.Charts = b.chart("answer-chart", best.answerFigure); shown.Charts != nil && shown.Charts.Figures[0].Charts[0].Height > mostAnswerChart {
			shown.Charts, high = nil, shown.Charts
		}
	}
	b.add(shown)
	b.add(outline.Block{Key: "chart", Heading: b.Sentence("page.answer_chart", nil), Fold: outline.Hidden, Charts: high})
	return shown.Key
}

// shown is the table that shows the answer: that of the study, of the pairs of hosts, of contention,
// of the only curve, or of the figures of all patterns.
func (b *blocks) shown() outline.Block {
	s := b.study()
	switch {
	case s != nil:
		return outline.Block{Key: keyStudy, Heading: s.heading(), Tables: tables(s.table())}
	case b.Pairs != nil && len(b.heatMaps()) > 0:
		return b.pairs()
	case b.Pairs != nil && b.Pairs.Contention != nil:
		return b.contention(outline.Always)
	case b.Curve != nil && len(b.varying()) == 1:
		return b.curve()
	}
	return b.figures(outline.Always)
}

func (b *blocks) pairs() outline.Block {
	return outline.Block{Key: keyPairs, Heading: b.heatHeading(), Tables: b.heatMaps()}
}

func (b *blocks) curve() outline.Block {
	var charts *outline.Charts
	if b.charts {
		charts = b.sweepCharts(b.id + "-sweep")
	}
	return outline.Block{Key: keyCurve, Heading: b.curveHeading(), Tables: tables(b.curveTable()), Charts: charts}
}

// figures are those of all patterns.
func (b *blocks) figures(fold outline.Fold) outline.Block {
	heading, figures := b.Sentence("page.figures", nil), b.figureTable()
	if n := len(b.Rows); n > mostRows {
		fold, heading = outline.Hidden, b.Sentence("page.figures_of", text.Args{"Patterns": n})
		figures.Note = b.Sentence("text.lines", text.Args{"All": n, "Best": bestLines, "Last": lastLines})
	}
	return outline.Block{Key: keyFigures, Heading: heading, Fold: fold, Tables: tables(figures)}
}

// addPairs adds what pairs of hosts have, and what contention costs them. shown is the block that is
// there already.
func (b *blocks) addPairs(shown string) {
	if b.Pairs == nil {
		return
	}
	b.table("spread", b.spreadHeading(), outline.Always, b.spreadTable())
	if shown != keyPairs {
		b.add(b.pairs())
	}
	b.add(outline.Block{Key: "contention-map", Heading: b.Sentence("page.contention_map", nil), Tables: b.contentionMaps()})
	if shown != keyContention {
		b.add(b.contention(outline.Hidden))
	}
}

func (b *blocks) contention(fold outline.Fold) outline.Block {
	heading := b.Sentence("page.contention", text.Args{"Cut": b.contentionCut(), "Most": mostContentionPairs})
	return outline.Block{Key: keyContention, Heading: heading, Fold: fold, Tables: tables(b.contentionTable())}
}

// addCurves adds the curves over a factor whose levels are numbers.
func (b *blocks) addCurves(shown string) {
	if shown != keyCurve {
		b.add(b.curve())
	}
	b.table("plateaus", b.plateauHeading(), outline.Always, b.plateauTable())
}

// addComparisons adds the figures of all patterns and how they compare.
func (b *blocks) addComparisons(shown string) {
	if shown != keyFigures {
		b.add(b.figures(outline.Hidden))
	}
	b.table("levels", b.Sentence("page.levels", text.Args{"Cut": b.cutPairs(), "Most": mostPairs}), outline.Hidden, b.levelTable())
	if len(b.Ranking) > 1 {
		b.table("ranking", b.Sentence("page.ranking", text.Args{"Basis": b.basis()}), outline.Hidden, b.rankTable())
	}
}

// addTrials adds what single trials and single round trips show.
func (b *blocks) addTrials() {
	b.charted("trials", b.Sentence("page.trials", nil), b.fold, b.chart("trials", b.stripFigure), b.stripTable)
	b.charted("percentiles", b.Sentence("page.curves", nil), b.fold, b.chart("percentiles", b.curveFigure), b.percentileTable)
	if load := tables(b.loadTable()); load != nil {
		b.add(outline.Block{Key: "load", Heading: b.Sentence("page.load", nil), Tables: load, Charts: b.chart("load", b.loadFigure)})
		b.charted("load-time", b.Sentence("page.load_time", nil), outline.Hidden, b.panels("load-time", b.loadOverTime), func() outline.Table { return b.timeTable(true, loadLines) })
	}
}

// addOverTime adds how trials went.
func (b *blocks) addOverTime() {
	if table := tables(b.copyTable()); table != nil {
		charts := b.panels("copy", b.copyFigures)
		if charts != nil {
			charts.Legend = b.copyLegend()
		}
		b.add(outline.Block{Key: "copy", Heading: b.copyHeading(), Fold: b.fold, Tables: table, Charts: charts})
	}
	b.charted("streams", b.Sentence("page.streams", nil), outline.Hidden, b.panels("streams", b.sharingFigures), b.sharingTable)
	if charts := b.panels("time", b.timeFigures); charts != nil {
		heading := b.Sentence("page.over_time", text.Args{"Patterns": len(charts.Figures), "All": len(b.Rows)})
		b.charted("time", heading, outline.Hidden, charts, func() outline.Table { return b.timeTable(b.Basis.isTime(), timeOf) })
	}
}
