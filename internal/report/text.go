package report

import (
	"io"
	"slices"
	"strings"

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
	p.section(t.plateauHeading(), t.plateauTable())
	p.section(t.reachedHeading(), t.reachedTable())
	p.section(t.Sentence("flows.heading", nil), t.flowTable())
	p.line("")
	if len(t.Factors) > 0 && !t.ByHand {
		p.wrap("  ", t.Sentence("text.patterns", text.Args{"Factors": strings.Join(t.Factors, measure.LevelSeparator)}))
	}
	short, which := t.lines()
	if which != "" {
		p.wrap("  ", which)
	}
	p.table(short.figureTable(false))
	p.section(t.Sentence("text.control", nil), t.controlTable(false))
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
		if t.Rounds > 1 && len(short.Ranking) > 0 {
			p.places(t, short.Ranking)
		}
	}
	p.section(t.Sentence("text.load", nil), short.loadTable(false))
	p.section(t.copyHeading(), short.copyTable(false))
	p.section(t.Sentence("text.hops", nil), t.hopTable())
	p.section(t.runHeading(), t.runTable())
	if len(t.Failures) > 0 {
		p.line("")
		p.wrap("  ", t.Sentence("text.failures", nil))
		for _, f := range t.failures() {
			p.wrap("    ", f)
		}
	}
}

// places writes why patterns have their places, once if all have one reason.
func (p *terminal) places(t testView, ranking []Place) {
	reason := t.because(ranking[0])
	if !slices.ContainsFunc(ranking, func(p Place) bool { return t.because(p) != reason }) {
		p.wrap("    ", reason)
		return
	}
	for _, place := range ranking {
		if reason := t.reason(place); reason != "" {
			p.wrap("    ", t.Sentence("text.place", text.Args{"Pattern": t.called(place.Pattern), "Reason": reason}))
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
	p.section(t.spreadHeading(), t.spreadTable())
	p.maps(t.heatHeading(), t.heatMaps())
	p.maps(t.Sentence("text.contention_map", nil), t.contentionMaps())
	p.section(t.Sentence("text.contention", text.Args{"Cut": t.contentionCut(), "Most": mostContentionPairs}), t.contentionTable())
}

// maps writes maps below a heading.
func (p *terminal) maps(heading string, all []heatMap) {
	for i, h := range all {
		p.line("")
		if i == 0 {
			p.wrap("  ", heading)
		}
		if h.Caption != "" {
			p.wrap("  ", h.Caption)
		}
		p.wide(h.Table())
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
	p.section(t.Sentence("text.levels", text.Args{"Cut": t.cutPairs(), "Most": mostPairs}), t.levelTable(wide))
}
