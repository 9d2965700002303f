package campaign

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/sorting"
	"soku/internal/yamlfile"
)

// Limits are documented limits of figures.
type Limits []measure.Limit

// limitSource is the key beside the figures that names who published them.
const limitSource = "source"

// DecodeYAML reads {goodput: 12 Gbit/s, source: "..."}.
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
		metric := measure.FindMetric(m.Key)
		if metric == nil {
			return d.UnknownKey(m, path, append(limitNames(), limitSource))
		}
		limit := measure.Limit{Metric: metric.Key}
		if err := d.Scalar(m.Value, at, func(text string) (err error) {
			limit.Value, err = metric.ParseValue(text)
			return err
		}); err != nil {
			return err
		}
		if limit.Value <= 0 {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.limit_not_positive", nil))
		}
		*l = append(*l, limit)
	}
	if len(*l) == 0 {
		return d.LocateAt(path, measure.Fail(measure.KindFile, "campaign.limit_of_nothing", nil))
	}
	for i := range *l {
		(*l)[i].Source = source
	}
	return nil
}

// limitNames are the figures that can have a limit, as a plan calls them.
func limitNames() (out []string) {
	for _, m := range measure.Metrics() {
		if measure.FindMetric(m.Name()) == m {
			out = append(out, m.Name())
		}
	}
	return out
}

// checkLimits sees that each limit is of a figure that one of the plan's tests has.
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
	for _, l := range limits {
		tests := measure.MetricByKey(l.Metric).Tests()
		if !slices.ContainsFunc(p.Tests, func(t yamlfile.Entry[TestPlan]) bool { return slices.Contains(tests, t.Value.Test) }) {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.limit_unused", measure.Figures{"figure": l.Metric, "tests": tests}))
		}
	}
	return nil
}

// LimitsOf are the documented limits of what a trial between these ends, of a pattern with
// these levels, goes through: of each figure the smallest that a level or an end has, and
// only if none has one that of the plan.
func (p *Plan) LimitsOf(levels []measure.Level, client, server string) []measure.Limit {
	var out Limits
	for _, l := range levels {
		f, _ := p.Factors.Get(l.Factor)
		if i := slices.IndexFunc(f.Levels, func(x Level) bool { return x.Name == l.Value }); i >= 0 {
			out = append(out, f.Levels[i].Limits.of(l.Factor+"="+l.Value)...)
		}
	}
	for _, end := range []string{client, server} {
		e, _ := p.Endpoints.Get(end)
		out = append(out, e.Limits.of(end)...)
	}
	for _, l := range p.Limits {
		if !slices.ContainsFunc(out, func(o measure.Limit) bool { return o.Metric == l.Metric }) {
			out = append(out, l)
		}
	}
	sorting.Stable(out, func(a, b measure.Limit) int {
		return cmp.Or(strings.Compare(a.Metric, b.Metric), cmp.Compare(a.Value, b.Value))
	})
	return slices.CompactFunc(out, func(a, b measure.Limit) bool { return a.Metric == b.Metric })
}

// of are the limits with the name of what has them.
func (l Limits) of(name string) Limits {
	out := slices.Clone(l)
	for i := range out {
		out[i].Of = name
	}
	return out
}
