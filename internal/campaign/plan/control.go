package plan

import (
	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// IsControl reports whether a pattern with these levels shows what the hosts alone reach. It
// is reported apart from those that are compared.
func (p *Plan) IsControl(levels []measure.Level) bool {
	return len(p.Control) > 0 && p.Control.Matches(levels)
}

// checkControl sees that some patterns are the control, and some are left to compare.
func (p *Plan) checkControl(d *yamlfile.File) error {
	n := 0
	for i := range p.patterns {
		if p.IsControl(p.patterns[i].Levels) {
			n++
		}
	}
	switch {
	case len(p.Control) > 0 && n == 0:
		return d.LocateAt("control", measure.Fail(measure.KindFile, "campaign.control_selects_none", nil))
	case n == len(p.patterns):
		return d.LocateAt("control", measure.Fail(measure.KindFile, "campaign.control_selects_all", nil))
	}
	return nil
}
