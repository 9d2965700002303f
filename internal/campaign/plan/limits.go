package plan

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/yamlfile"
)

// Keys that name no figure.
const (
	limitSource  = "source"  // who published them
	limitCatalog = "catalog" // components with documented limits
)

// DecodeYAML reads {goodput: 12 Gbit/s, source: "..."} and {catalog: azure/Standard_D8s_v5},
// also with a list of components.
func (l *Limits) DecodeYAML(d *yamlfile.File, n yamlfile.Node, path string) error {
	members, err := d.Members(n, path)
	if err != nil {
		return err
	}
	*l = Limits{}
	source := ""
	for _, m := range members {
		at := yamlfile.Join(path, m.Key)
		d.Mark(at, m.Place)
		if m.Key == limitSource {
			if err := d.Scalar(m.Value, at, func(text string) error { source = text; return nil }); err != nil {
				return err
			}
			continue
		}
		if m.Key == limitCatalog {
			for _, id := range d.ItemsOrOne(m.Value) {
				if err := d.Scalar(id, at, func(text string) error { l.components = append(l.components, text); return nil }); err != nil {
					return err
				}
			}
			continue
		}
		figure := metric.Find(m.Key)
		if figure == nil {
			return d.UnknownKey(m, path, append(limitNames(), limitSource, limitCatalog))
		}
		limit := measure.Limit{Metric: figure.Key}
		if err := d.Scalar(m.Value, at, func(text string) (err error) {
			limit.Value, err = figure.ParseValue(text)
			return err
		}); err != nil {
			return err
		}
		if limit.Value <= 0 {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.limit_not_positive", nil))
		}
		l.figures = append(l.figures, limit)
	}
	if len(l.figures)+len(l.components) == 0 {
		return d.LocateAt(path, measure.Fail(measure.KindFile, "campaign.limit_of_nothing", nil))
	}
	for i := range l.figures {
		l.figures[i].Source = source
	}
	return nil
}

// limitNames are the figures that can have a limit, as a plan calls them.
func limitNames() (out []string) {
	for _, m := range metric.All() {
		if metric.Find(m.Name()) == m {
			out = append(out, m.Name())
		}
	}
	return out
}

// checkLimits sees that one of the plan's tests has the figure of each limit.
func (p *Plan) checkLimits(d *yamlfile.File) error {
	if err := p.checkLimitsAt(d, "limits", p.Limits); err != nil {
		return err
	}
	for _, e := range p.Endpoints {
		if err := p.checkLimitsAt(d, "endpoints."+e.Name+".limits", e.Value.Limits); err != nil {
			return err
		}
	}
	for _, f := range p.Factors {
		for _, l := range f.Value.Levels {
			if err := p.checkLimitsAt(d, l.at+".limits", l.Limits); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Plan) checkLimitsAt(d *yamlfile.File, at string, limits Limits) error {
	for _, l := range limits.figures {
		if !p.measures(l.Metric) {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.limit_unused", measure.Figures{"figure": l.Metric, "tests": metric.ByKey(l.Metric).Tests()}))
		}
	}
	if len(limits.components) == 0 || p.recorded { // limits change nothing that was measured
		return nil
	}
	known, err := p.catalog()
	if err != nil {
		return err
	}
	for _, id := range limits.components {
		c, err := known.Find(id)
		if err != nil {
			return d.LocateAt(yamlfile.Join(at, limitCatalog), err)
		}
		if !slices.ContainsFunc(c.Limits, func(l catalog.Limit) bool { return p.measures(l.Metric()) }) {
			return d.LocateAt(yamlfile.Join(at, limitCatalog), measure.Fail(measure.KindFile, "campaign.component_unused", measure.Figures{"id": c.ID}))
		}
	}
	return nil
}

// measures reports whether one of the plan's tests has the figure of a metric.
func (p *Plan) measures(figure string) bool {
	m := metric.ByKey(figure)
	return m != nil && slices.ContainsFunc(p.Tests, func(t yamlfile.Entry[Test]) bool { return slices.Contains(m.Tests(), t.Value.Test) })
}

// LimitsOf are the documented limits of what a trial went through, those of each figure in
// ascending order: those of its levels, of its two ends and, for a figure that none of these
// limits, of the plan. An end without limits of its own has those of the type of machine that it
// said it is. A component that the catalog does not have has no limits.
func (p *Plan) LimitsOf(r *measure.Result, known *catalog.Catalog) []measure.Limit {
	var out []measure.Limit
	var ends measure.Pair // unknown in results of older versions
	if r.Trial != nil {
		for _, l := range r.Trial.Levels {
			f, _ := p.Factors.Get(l.Factor)
			if i := slices.IndexFunc(f.Levels, func(x Level) bool { return x.Name == l.Value }); i >= 0 {
				out = append(out, f.Levels[i].Limits.of(l.Factor+"="+l.Value, r, catalog.OnPath, known)...)
			}
		}
		if r.Trial.Pair != nil {
			ends = *r.Trial.Pair
		}
	}
	for _, end := range []struct {
		name string
		role catalog.Role
		host *measure.Host
	}{{ends.Client.Name, catalog.AtClient, r.Hosts.Client}, {ends.Server.Name, catalog.AtServer, r.Hosts.Server}} {
		e, _ := p.Endpoints.Get(end.name)
		limits := e.Limits.of(end.name, r, end.role, known)
		if len(limits) == 0 {
			limits = named(end.name, known.LimitsOfHost(end.host, end.role, r.Options))
		}
		out = append(out, limits...)
	}
	for _, l := range p.Limits.of("", r, catalog.OnPath, known) {
		if !slices.ContainsFunc(out, func(o measure.Limit) bool { return o.Metric == l.Metric }) {
			out = append(out, l)
		}
	}
	out = slices.DeleteFunc(out, func(l measure.Limit) bool { // a component has limits of what other tests measure, too
		return l.Component != "" && !slices.Contains(metric.ByKey(l.Metric).Tests(), r.Test)
	})
	slices.SortStableFunc(out, func(a, b measure.Limit) int {
		return cmp.Or(strings.Compare(a.Metric, b.Metric), cmp.Compare(a.Value, b.Value))
	})
	return slices.CompactFunc(out, func(a, b measure.Limit) bool { // a level and an end may be one machine
		return a.Component != "" && a.Component == b.Component && a.Metric == b.Metric && a.Value == b.Value
	})
}

// of are the limits, of components those of what a trial measures, with the name of what has them.
func (l Limits) of(name string, r *measure.Result, role catalog.Role, known *catalog.Catalog) []measure.Limit {
	out := slices.Clone(l.figures)
	for _, id := range l.components {
		if c, err := known.Find(id); err == nil {
			out = append(out, c.Of(role, r.Options)...)
		}
	}
	return named(name, out)
}

// named gives limits the name of what has them.
func named(name string, limits []measure.Limit) []measure.Limit {
	for i := range limits {
		limits[i].Of = name
	}
	return limits
}

// catalog is what the plan's limits may name.
func (p *Plan) catalog() (*catalog.Catalog, error) {
	if p.known == nil {
		return catalog.Builtin(), nil
	}
	return p.known()
}
