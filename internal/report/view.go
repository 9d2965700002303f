package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"

	"soku/internal/text"
)

//go:embed templates/report.html.tmpl templates/chart.svg.tmpl templates/report.css
var pageFiles embed.FS

// HTML writes one self-contained page in a language: no script, no external resource, every
// text from results escaped. It prints on A4 and fits a telephone.
func (r *Report) HTML(w io.Writer, c *text.Catalogue) error {
	t, err := pageTemplate(c)
	if err != nil {
		return err
	}
	return t.Execute(w, newView(r, c).withCharts())
}

// pageTemplate parses the templates of the page, in a language.
func pageTemplate(c *text.Catalogue) (*template.Template, error) {
	css, err := pageFiles.ReadFile("templates/report.css")
	if err != nil {
		return nil, err
	}
	return template.New("report.html.tmpl").Funcs(template.FuncMap{
		"css":   func() template.CSS { return template.CSS(css) },
		"say":   c.SentenceFunc(),
		"lang":  c.Language,
		"clean": clean,
		"dict":  text.Pairs,
		"color": color,
		"dash":  func(i int) int { return (i + i/colours) % colours },
	}).ParseFS(pageFiles, "templates/report.html.tmpl", "templates/chart.svg.tmpl")
}

// view is what the page templates see: the report with its texts and tables
// made, still unescaped.
type view struct {
	*Report
	Title     string
	Subtitle  string
	Methods   []string // of measuring and of ranking
	Sections  []section
	Warned    []string
	HostTable table
	Tools     []string
	Plan      string
}

// section is one test of a page.
type section struct {
	testView
	ID                 string
	Label              string
	Description        string
	Answer             string
	Causes             []string // what else the test shows, in sentences
	Caveats            []string
	Basis              string // of the ranking
	Heading            string
	Figures            table
	Long               bool  // tables are folded, because there are many patterns
	Control            table // the figures of the control
	Pivot              table
	PivotBy            string // what it has
	Spread             table  // of the pairs of hosts
	SpreadBy           string // what it has
	Heats              []heatMap
	HeatBy             string    // what the maps have
	ContentionCost     table     // what contention costs
	ContentionCostCut  bool      // it has not all pairs
	ContentionCostMost int       // pairs
	ContentionMaps     []heatMap // the same, by client and server
	Start              string    // how far apart trials of a group started
	Sweep              *figure   // over the levels of a factor that are numbers
	Sweeps             []figure
	SweepTable         table
	SweepBy            string // what it has
	Plateaus           table  // where each of several curves levels off
	PlateausBy         string // what it has
	Reach              table  // how much of the published limit is reached
	ReachBy            string // what it has
	Flows              table  // groups of them
	RunsOf             table  // what each run of the campaign measured
	RunsBy             string // what it has
	Effects            table  // what the factors do
	Levels             table  // the levels of each factor compared
	LevelsCut          bool   // it has not all pairs
	LevelsMost         int    // pairs of a factor
	Places             table
	Load               table // latency under load
	Hops               table
	Failed             []string
	Options            []string
	Strip              *figure
	Curves             *figure
	OverTime           []figure
	Streams            []figure
	Loads              *figure
	LoadTime           []figure
	Copy               table  // disk and network of the typical copy
	CopyBy             string // what it has
	CopyTime           []figure
	CopyLegend         []legend
}

func newView(r *Report, c *text.Catalogue) view {
	whole := reportView{r, c}
	v := view{
		Report: r, Title: whole.title(), Subtitle: whole.subtitle(), Methods: whole.methods(), HostTable: hostTable(r.Hosts, c),
		Plan: cleanLines(r.Campaign.Plan), Warned: whole.warningsWithPlaces(),
	}
	for _, tool := range r.Tools {
		v.Tools = append(v.Tools, tool.in(c))
	}
	for i := range r.Tests {
		t := testView{&r.Tests[i], c}
		sentences := t.sentences()
		v.Sections = append(v.Sections, section{
			testView: t, ID: fmt.Sprintf("t%d", i+1), Label: t.label(), Description: t.description(), Heading: t.heading(),
			Answer: sentences[0], Causes: sentences[1:], Caveats: t.caveats(), Basis: t.basis(),
			Figures: t.figureTable(true), Long: len(t.Rows) > mostRows, Control: t.controlTable(true), Pivot: t.pivotTable(), PivotBy: t.pivotHeading(), Places: t.rankTable(true), Load: t.loadTable(true), Hops: t.hopTable(),
			Spread: t.spreadTable(), SpreadBy: t.spreadHeading(), Heats: t.heatMaps(), HeatBy: t.heatHeading(), ContentionCost: t.contentionTable(), ContentionCostCut: t.contentionCut(), ContentionCostMost: mostContentionPairs,
			ContentionMaps: t.contentionMaps(), Start: t.startSkew(), SweepTable: t.curveTable(), SweepBy: t.curveHeading(),
			Plateaus: t.plateauTable(), PlateausBy: t.plateauHeading(), Reach: t.reachedTable(), ReachBy: t.reachedHeading(), Flows: t.flowTable(), RunsOf: t.runTable(), RunsBy: t.runHeading(),
			Effects: t.effectTable(true), Levels: t.levelTable(true), LevelsCut: t.cutPairs(), LevelsMost: mostPairs,
			Copy: t.copyTable(true), CopyBy: t.copyHeading(),
			Failed: t.failures(), Options: t.options(),
		})
	}
	return v
}

// withCharts draws every section's charts. A pattern has the same colour in
// all tests.
func (v view) withCharts() view {
	series := map[string]int{}
	for _, s := range v.Sections {
		for _, r := range s.Rows {
			if _, known := series[r.Pattern]; !known {
				series[r.Pattern] = len(series)
			}
		}
	}
	for i := range v.Sections {
		s := &v.Sections[i]
		s.Strip = s.stripFigure(s.ID+"-trials", series)
		s.Sweep, s.Sweeps = s.sweepFigures(s.ID + "-sweep")
		s.Curves = s.curveFigure(s.ID+"-percentiles", series)
		s.OverTime = s.timeFigures(s.ID+"-time", series)
		s.Streams = s.sharingFigures(s.ID+"-streams", series)
		s.Loads = s.loadFigure(s.ID+"-load", series)
		s.LoadTime = s.loadOverTime(s.ID+"-load-time", series)
		s.CopyTime, s.CopyLegend = s.copyFigures(s.ID+"-copy"), s.copyLegend()
	}
	return v
}
