package plan

import (
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// checkSelections sees that exclude, only and control name factors and levels that exist.
func (p *Plan) checkSelections(d *yamlfile.File) error {
	for i, s := range p.Exclude {
		path := "exclude." + strconv.Itoa(i+1)
		if err := p.wrongSelection(s); err != nil {
			return d.LocateAt(selectionPath(d, path, s, err), err)
		}
		if len(s) == 0 {
			return d.LocateAt(path, measure.Fail(measure.KindFile, "campaign.exclude_all", nil))
		}
	}
	if _, known := p.Factors.Get(p.Question); p.Question != "" && !known && !slices.Contains(measure.Questions, p.Question) {
		return d.LocateAt("question", p.unknownFactor(p.Question))
	}
	for _, e := range p.Baseline {
		if len(e.Value) > 1 {
			return d.LocateAt("baseline."+e.Name, measure.Fail(measure.KindFile, "campaign.baseline_levels", measure.Figures{"factor": yamlfile.Shorten(e.Name)}))
		}
	}
	for key, s := range map[string]Selection{"only": p.Only, "control": p.Control, "baseline": p.Baseline} {
		if err := p.wrongSelection(s); err != nil {
			return d.LocateAt(selectionPath(d, key, s, err), err)
		}
	}
	return nil
}

// selectionPath finds the entry of a selection that a failure is about.
func selectionPath(d *yamlfile.File, path string, s Selection, wrong *measure.Error) string {
	for _, e := range s {
		if _, ok := d.PlaceOf(path + "." + e.Name); ok && wrong.Figures["factor"] == yamlfile.Shorten(e.Name) {
			return path + "." + e.Name
		}
	}
	return path
}

// CheckSelection returns an error of kind usage if s names a factor or level
// that the plan does not have.
func (p *Plan) CheckSelection(s Selection) error {
	if _, named := yamlfile.Ordered[[]string](s).Get(p.Find.Option); named && p.Searches() {
		return searchedFactor(p.Find.Option)
	}
	if wrong := p.wrongSelection(s); wrong != nil {
		return wrong
	}
	return nil
}

func (p *Plan) wrongSelection(s Selection) *measure.Error {
	for _, e := range s {
		f, ok := p.Factors.Get(e.Name)
		if !ok {
			return p.unknownFactor(e.Name)
		}
		levels := make([]string, len(f.Levels))
		for i, l := range f.Levels {
			levels[i] = l.Name
		}
		if len(e.Value) == 0 {
			return measure.Fail(measure.KindUsage, "campaign.factor_without_level", measure.Figures{"factor": yamlfile.Shorten(e.Name), "known": levels})
		}
		for _, v := range e.Value {
			if !slices.Contains(levels, v) {
				unknown := measure.Fail(measure.KindUsage, "campaign.no_level", measure.Figures{"factor": yamlfile.Shorten(e.Name), "level": yamlfile.Shorten(v)})
				return suggest(unknown, v, levels, "campaign.levels_are")
			}
		}
	}
	return nil
}

// unknownFactor is the failure of a factor that the plan does not have.
func (p *Plan) unknownFactor(name string) *measure.Error {
	unknown := measure.Fail(measure.KindUsage, "campaign.no_factor", measure.Figures{"factor": yamlfile.Shorten(name)})
	if len(p.Factors) > 0 {
		unknown = suggest(unknown, name, p.Factors.Names(), "campaign.factors_are")
	}
	return unknown
}

// Levels are the selected levels.
func (s Selection) Levels() (out []measure.Level) {
	for _, e := range s {
		for _, v := range e.Value {
			out = append(out, measure.Level{Factor: e.Name, Value: v})
		}
	}
	return out
}

// ParseSelection reads "factor=level,level" texts as --only takes them.
func ParseSelection(texts []string) (Selection, error) {
	var s Selection
	for _, t := range texts {
		name, levels, ok := strings.Cut(t, "=")
		if !ok || name == "" || levels == "" {
			return nil, measure.Fail(measure.KindUsage, "campaign.only_form", measure.Figures{"text": t})
		}
		s = append(s, yamlfile.Entry[[]string]{Name: name, Value: strings.Split(levels, ",")})
	}
	return s, nil
}

// searchedFactor is the failure of a selection of levels that a search chooses.
func searchedFactor(option string) *measure.Error {
	return measure.Fail(measure.KindUsage, "campaign.only_of_find", measure.Figures{"option": option})
}

// DecodeYAML reads {factor: level} and {factor: [level, level]}.
func (s *Selection) DecodeYAML(d *yamlfile.File, n yamlfile.Node, path string) error {
	pairs, err := d.Members(n, path)
	if err != nil {
		return err
	}
	*s = nil
	for _, m := range pairs {
		p := yamlfile.Join(path, m.Key)
		d.Mark(p, m.Place)
		e := yamlfile.Entry[[]string]{Name: m.Key}
		for _, v := range d.ItemsOrOne(m.Value) {
			if err := d.Scalar(v, p, func(text string) error { e.Value = append(e.Value, text); return nil }); err != nil {
				return err
			}
		}
		*s = append(*s, e)
	}
	return nil
}
