package campaign

import (
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// checkLevels checks the levels of a factor and works out which options each
// sets: those it names and, where the factor stands for an option, its own name.
func (p *Plan) checkLevels(d *yamlfile.File, path, name string, f *Factor) error {
	option := f.Option
	if option == "" {
		if _, ok := optionField(name); ok {
			option = name // a factor called streams would mislead if it did not set streams
		}
	}
	seen := map[string]bool{}
	for i := range f.Levels {
		l := &f.Levels[i]
		at := path + "." + strconv.Itoa(i+1)
		if hint := printable(l.Name); hint != "" {
			return d.ErrorAt(at, hint, "%s: %q cannot name a level", path, yamlfile.Shorten(l.Name))
		}
		if seen[l.Name] {
			return d.ErrorAt(at, "give each its own name", "%s: the level %q is there twice", path, yamlfile.Shorten(l.Name))
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
		for key, ref := range map[string]string{"from": l.From, "to": l.To} {
			if err := p.checkReference(d, at+"."+key, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSetting sees that an option exists, has a value of its kind, and applies
// to one of the plan's tests.
func (p *Plan) checkSetting(d *yamlfile.File, path, at, key, text string) error {
	f, ok := optionField(key)
	if !ok {
		hint := "options are " + strings.Join(measure.OptionKeys(), ", ")
		if near := yamlfile.Nearest(key, measure.OptionKeys()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return d.ErrorAt(at+".options."+key, hint, "%s: there is no option %q", path, yamlfile.Shorten(key))
	}
	if err := setOption(new(measure.Options), f, text); err != nil {
		hint := measure.AsError(err, "").Hint
		if path == "factors."+key {
			hint = "a factor with the name of an option sets it; rename the factor if that is not meant"
		}
		return d.ErrorAt(at, hint, "%s: %s: %s", path, key, measure.AsError(err, "").Message)
	}
	for _, t := range p.Tests {
		for _, applies := range f.Tests() {
			if t.Value.Test == applies {
				return nil
			}
		}
	}
	return d.ErrorAt(at, "it is for "+names(f.Tests()), "%s: %s applies to none of the plan's tests", path, key)
}

// checkSelections sees that patterns, exclude and only name factors and levels that exist.
func (p *Plan) checkSelections(d *yamlfile.File) error {
	lists := map[string][]Selection{"patterns": p.Patterns, "exclude": p.Exclude}
	for key, list := range lists {
		for i, s := range list {
			path := key + "." + strconv.Itoa(i+1)
			if err := p.CheckSelection(s); err != nil {
				e := measure.AsError(err, measure.KindFile)
				return d.ErrorAt(selectionPath(d, path, s, e.Message), e.Hint, "%s: %s", key, e.Message)
			}
			if key == "exclude" && len(s) == 0 {
				return d.ErrorAt(path, "name a factor and a level", "exclude: an empty entry would leave out every pattern")
			}
		}
	}
	if err := p.CheckSelection(p.Only); err != nil {
		e := measure.AsError(err, measure.KindFile)
		return d.ErrorAt(selectionPath(d, "only", p.Only, e.Message), e.Hint, "only: %s", e.Message)
	}
	return nil
}

// selectionPath finds the entry of a selection that a message is about.
func selectionPath(d *yamlfile.File, path string, s Selection, message string) string {
	for _, e := range s {
		if _, ok := d.PlaceOf(path + "." + e.Name); ok && strings.Contains(message, strconv.Quote(yamlfile.Shorten(e.Name))) {
			return path + "." + e.Name
		}
	}
	return path
}

// CheckSelection returns an error of kind usage if s names a factor or level
// that the plan does not have.
func (p *Plan) CheckSelection(s Selection) error {
	for _, e := range s {
		f, ok := p.Factors.Get(e.Name)
		if !ok {
			hint := "factors are " + strings.Join(p.Factors.Names(), ", ")
			if len(p.Factors) == 0 {
				hint = "the plan has no factors"
			} else if near := yamlfile.Nearest(e.Name, p.Factors.Names()); near != "" {
				hint = "did you mean " + near + "?"
			}
			return measure.Errorf(measure.KindUsage, "there is no factor %q", yamlfile.Shorten(e.Name)).WithHint("%s", hint)
		}
		levels := make([]string, len(f.Levels))
		for i, l := range f.Levels {
			levels[i] = l.Name
		}
		if len(e.Value) == 0 {
			return measure.Errorf(measure.KindUsage, "factor %q is named without a level", yamlfile.Shorten(e.Name)).WithHint("its levels are %s", strings.Join(levels, ", "))
		}
		for _, v := range e.Value {
			if !contains(levels, v) {
				hint := "its levels are " + strings.Join(levels, ", ")
				if near := yamlfile.Nearest(v, levels); near != "" {
					hint = "did you mean " + near + "?"
				}
				return measure.Errorf(measure.KindUsage, "factor %q has no level %q", yamlfile.Shorten(e.Name), yamlfile.Shorten(v)).WithHint("%s", hint)
			}
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// ParseSelection reads "factor=level,level" texts as --only takes them.
func ParseSelection(texts []string) (Selection, error) {
	var s Selection
	for _, t := range texts {
		name, levels, ok := strings.Cut(t, "=")
		if !ok || name == "" || levels == "" {
			return nil, measure.Errorf(measure.KindUsage, "%q selects no patterns", t).WithHint("write for example gateway=standard,ultra")
		}
		s = append(s, yamlfile.Entry[[]string]{Name: name, Value: strings.Split(levels, ",")})
	}
	return s, nil
}
