package campaign

import (
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// checkLevels checks the levels of a factor and works out which options each
// sets: those it names and, where the factor stands for an option, its own name.
func (p *Plan) checkLevels(d *yamlfile.File, path, name string, f *Factor) error {
	option := p.optionOf(name, f)
	seen := map[string]bool{}
	for i := range f.Levels {
		l := &f.Levels[i]
		at := path + "." + strconv.Itoa(i+1)
		if inList := path + ".levels." + strconv.Itoa(i+1); isPlace(d, inList) {
			at = inList // {by: hand, levels: [...]}
		}
		if hint := notPrintable(l.Name); hint != "" {
			e := measure.Fail(measure.KindFile, "campaign.level_name", measure.Figures{"name": yamlfile.Shorten(l.Name)})
			return d.LocateAt(at, e.WithHintCode(hint, measure.Figures{"most": maxName}))
		}
		if seen[l.Name] {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.level_twice", measure.Figures{"level": yamlfile.Shorten(l.Name)}))
		}
		seen[l.Name] = true
		if _, own := l.Options.Get(option); option != "" && !own {
			l.Options = append(Setting{{Name: option, Value: l.Name}}, l.Options...)
		}
		for _, o := range l.Options {
			if err := p.checkSetting(d, path, at, o.Name, o.Value); err != nil {
				return err
			}
		}
		l.at = at
		if err := p.checkEnd(d, at+".from", l.From, l.FromLabel); err != nil {
			return err
		}
		if err := p.checkEnd(d, at+".to", l.To, l.ToLabel); err != nil {
			return err
		}
	}
	return nil
}

// isPlace reports whether a value stands at a path of the plan.
func isPlace(d *yamlfile.File, path string) bool {
	_, ok := d.PlaceOf(path)
	return ok
}

// checkSetting sees that an option exists, has a value of its kind, and applies
// to one of the plan's tests.
func (p *Plan) checkSetting(d *yamlfile.File, path, at, key, text string) error {
	f, ok := optionField(key)
	if !ok {
		unknown := measure.Fail(measure.KindFile, "campaign.no_option", measure.Figures{"option": yamlfile.Shorten(key)})
		return d.LocateAt(at+".options."+key, suggest(unknown, key, measure.OptionKeys(), "campaign.options_are"))
	}
	if err := setOption(new(measure.Options), f, text); err != nil {
		wrong := measure.Fail(measure.KindFile, "campaign.option_value", measure.Figures{"option": key, "cause": err})
		if path == "factors."+key {
			wrong = wrong.WithHintCode("campaign.factor_sets_option", nil)
		}
		return d.LocateAt(at, wrong)
	}
	if p.hasTestWith(f) {
		return nil
	}
	return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.option_unused", measure.Figures{"option": key, "tests": f.Tests()}))
}

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
	for key, s := range map[string]Selection{"only": p.Only, "control": p.Control} {
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
