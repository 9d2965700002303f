package plan

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// DecodeYAML reads one way, or a list of them.
func (c *Contention) DecodeYAML(d *yamlfile.File, n yamlfile.Node, path string) error {
	for _, v := range d.ItemsOrOne(n) {
		var way string
		if err := d.Scalar(v, path, func(text string) error { way = text; return nil }); err != nil {
			return err
		}
		wrong := ""
		switch {
		case way != Isolated && way != Together:
			wrong = "campaign.contention"
		case slices.Contains(*c, way):
			wrong = "campaign.contention_twice"
		}
		if wrong != "" {
			return d.Locate(v.Place(), path, measure.Fail(measure.KindFile, wrong, measure.Figures{"way": yamlfile.Shorten(way)}))
		}
		*c = append(*c, way)
	}
	return nil
}

// addContention makes a factor of several ways of contention, after the plan's own.
func (p *Plan) addContention(d *yamlfile.File) error {
	p.startTogether = slices.Equal(p.Contention, Contention{Together})
	if len(p.Contention) < 2 {
		return nil
	}
	if _, taken := p.Factors.Get(ContentionFactor); taken {
		return d.LocateAt("factors."+ContentionFactor, measure.Fail(measure.KindFile, "campaign.contention_factor", nil))
	}
	f := Factor{}
	for _, way := range p.Contention {
		f.Levels = append(f.Levels, Level{Name: way, contention: way})
	}
	p.Factors = append(p.Factors, yamlfile.Entry[Factor]{Name: ContentionFactor, Value: f})
	if at, ok := d.PlaceOf("contention"); ok {
		d.Mark("factors."+ContentionFactor, at)
	}
	return nil
}

// ComparesContention reports whether the plan measures pairs both by themselves and concurrently.
func (p *Plan) ComparesContention() bool { return len(p.Contention) > 1 }

// Concurrency is how many trials of a campaign run concurrently: with pairs as many as
// have hosts of their own, or as the plan allows; otherwise one. Where isolated pairs are compared
// with all together, one: pairs side by side already share what the comparison is of.
func (p *Plan) Concurrency() int {
	switch {
	case p.paired == nil:
		return 1
	case p.TrialsAtOnce > 0:
		return p.TrialsAtOnce
	case len(p.Contention) > 1:
		return 1
	}
	return max(1, p.paired.hosts/2)
}
