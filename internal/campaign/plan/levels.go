package plan

import (
	"strconv"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/yamlfile"
)

// checkLevels checks the levels of a factor and works out which options each
// sets: those it names and, where the factor stands for an option, its own name.
func (p *Plan) checkLevels(d *yamlfile.File, path, name string, f *Factor) error {
	option := p.optionOf(name, f)
	seen, choosesEnd := map[string]bool{}, p.choosesEnd(name)
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
		l.at, l.choosesEnd = at, choosesEnd
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
		return d.LocateAt(at+".options."+key, suggest(unknown, key, option.Keys(), "campaign.options_are"))
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
