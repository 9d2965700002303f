package report

import (
	"cmp"
	"fmt"
	"strings"

	"soku/internal/text"
)

// view is what the page templates see: the report with its texts and tables
// made, still unescaped.
type view struct {
	*Report
	Subtitle  string
	Sections  []section
	Warned    []string
	HostTable table
	Tools     []string
	Seed      int64
	Plan      string
}

// section is one test of a page.
type section struct {
	testView
	ID       string
	Answer   string
	Caveats  []string
	Basis    string // of the ranking
	Heading  string
	Figures  table
	Places   table
	Load     table // latency under load
	Hops     table
	Failed   []string
	Options  []string
	Strip    *figure
	Curves   *figure
	OverTime []figure
	Streams  []figure
	Loads    *figure
	LoadTime []figure
}

// testView is a test with the language that its texts are made in.
type testView struct {
	*Test
	*text.Catalogue
}

func newView(r *Report, c *text.Catalogue) view {
	v := view{Report: r, Subtitle: r.subtitle(), HostTable: hostTable(r.Hosts, c), Seed: r.Campaign.Seed, Plan: cleanLines(r.Campaign.Plan)}
	for _, tool := range r.Tools {
		v.Tools = append(v.Tools, tool.in(c))
	}
	for i := range r.Tests {
		t := testView{&r.Tests[i], c}
		s := section{testView: t, ID: fmt.Sprintf("t%d", i+1), Answer: t.answer(), Caveats: t.caveats(), Basis: t.basis(), Heading: t.heading(), Figures: t.figureTable(true), Places: t.rankTable(true), Load: t.loadTable(true), Hops: t.hopTable()}
		for _, f := range t.Failures {
			s.Failed = append(s.Failed, f.sentence())
		}
		for _, o := range t.Same {
			s.Options = append(s.Options, o.Key+" "+o.Values[0])
		}
		for _, o := range t.Different {
			s.Options = append(s.Options, o.Key+" varied: "+strings.Join(shown(o.Values), ", "))
		}
		v.Sections = append(v.Sections, s)
	}
	for _, w := range r.Warnings {
		v.Warned = append(v.Warned, w.sentence()+"; "+strings.Join(w.Tests, ", ")+": "+some(w.Patterns))
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
		if f, ok := s.stripFigure(s.ID+"-trials", series); ok {
			s.Strip = &f
		}
		if f, ok := s.curveFigure(s.ID+"-percentiles", series); ok {
			s.Curves = &f
		}
		s.OverTime = s.timeFigures(s.ID+"-time", series)
		s.Streams = s.sharingFigures(s.ID+"-streams", series)
		if f, ok := s.loadFigure(s.ID+"-load", series); ok {
			s.Loads = &f
		}
		s.LoadTime = s.loadOverTime(s.ID+"-load-time", series)
	}
	return v
}

func shown(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = cmp.Or(v, "not set")
	}
	return out
}

// some lists a few names and counts the rest.
func some(list []string) string {
	const few = 4
	if len(list) <= few {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:few], ", "), len(list)-few)
}
