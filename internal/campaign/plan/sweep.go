package plan

import (
	"math"
	"reflect"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/yamlfile"
)

// Scales of numeric levels, as plans say them.
const (
	scaleLinear = "linear" // step after step
	scaleLog2   = "log2"   // each level is twice the one before
	scaleLog10  = "log10"  // each level is ten times the one before
)

var scales = []string{scaleLinear, scaleLog2, scaleLog10}

// isSweep reports whether the levels of a factor are the numbers from one to another.
func (f *Factor) isSweep() bool {
	return f.From != "" || f.To != "" || f.Scale != "" || f.Step != ""
}

// optionOf is the option that a factor's levels set: the one it names, or the one that
// is called like it. Empty for none. An option that a single test has and the plan has not
// is no such name: factors called cache or files are also of other things.
func (p *Plan) optionOf(name string, f *Factor) string {
	if option, ok := optionField(name); ok && f.Option == "" && (len(option.Tests()) > 1 || p.hasTestWith(option)) {
		return name // a factor called streams would mislead if it did not set streams
	}
	return f.Option
}

// hasTestWith reports whether a test of the plan has an option.
func (p *Plan) hasTestWith(f option.Field) bool {
	for _, t := range p.Tests {
		if f.AppliesTo(t.Value.Test) {
			return true
		}
	}
	return false
}

// sweep is the way from the first of a factor's numeric levels to the last.
type sweep struct {
	file           *yamlfile.File
	path           string // of the factor
	option         option.Field
	scale          string
	from, to, step reflect.Value // of the option's type
}

// expandSweep makes the levels of a factor that has the first and the last of them.
func (p *Plan) expandSweep(d *yamlfile.File, path, name string, f *Factor) error {
	if !f.isSweep() {
		return nil
	}
	s := sweep{file: d, path: path, scale: f.Scale}
	if s.scale == "" && f.Step != "" {
		s.scale = scaleLinear
	}
	var err error
	if s.option, err = p.sweptOption(d, path, name, f); err != nil {
		return err
	}
	if err := s.checkForm(f); err != nil {
		return err
	}
	if err := s.read(f); err != nil {
		return err
	}
	if err := s.checkRange(f); err != nil {
		return err
	}
	for i := range int(s.count()) {
		f.Levels = append(f.Levels, Level{Name: levelText(s.at(i))})
	}
	return nil
}

// sweptOption is the option that a factor with numeric levels sets.
func (p *Plan) sweptOption(d *yamlfile.File, path, name string, f *Factor) (option.Field, error) {
	key := p.optionOf(name, f)
	field, ok := optionField(key)
	switch {
	case !ok && f.Option != "":
		unknown := measure.Fail(measure.KindFile, "campaign.no_option", measure.Figures{"option": yamlfile.Shorten(key)})
		return field, d.LocateAt(path+".option", suggest(unknown, key, option.Keys(), "campaign.options_are"))
	case !ok:
		unknown := measure.Fail(measure.KindFile, "campaign.sweep_of_no_option", measure.Figures{"factor": yamlfile.Shorten(name)})
		return field, d.LocateAt(path, suggest(unknown, name, p.optionsOfTests(), "campaign.options_are"))
	}
	switch field.Type().Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		return field, nil
	}
	return field, d.LocateAt(path, measure.Fail(measure.KindFile, "campaign.sweep_of_text", measure.Figures{"option": key}))
}

func (s *sweep) wrong(key, code string, figures measure.Figures) error {
	return s.file.LocateAt(s.path+key, measure.Fail(measure.KindFile, code, figures))
}

// checkForm sees that the keys of a sweep go together.
func (s *sweep) checkForm(f *Factor) error {
	switch {
	case len(f.Levels) > 0:
		return s.wrong(".levels", "campaign.sweep_and_levels", nil)
	case f.From == "" || f.To == "":
		return s.wrong("", "campaign.sweep_incomplete", nil)
	case s.scale == "":
		return s.wrong("", "campaign.sweep_without_scale", measure.Figures{"known": scales})
	case !slices.Contains(scales, s.scale):
		unknown := measure.Fail(measure.KindFile, "campaign.sweep_scale", measure.Figures{"scale": yamlfile.Shorten(s.scale)})
		return s.file.LocateAt(s.path+".scale", suggest(unknown, s.scale, scales, "campaign.scales_are"))
	case s.scale == scaleLinear && f.Step == "":
		return s.wrong(".scale", "campaign.sweep_without_step", nil)
	case s.scale != scaleLinear && f.Step != "":
		return s.wrong(".step", "campaign.sweep_with_step", measure.Figures{"scale": s.scale})
	}
	return nil
}

// read reads the numbers of a sweep as values of the option.
func (s *sweep) read(f *Factor) error {
	for _, n := range []struct {
		key, text string
		into      *reflect.Value
	}{{".from", f.From, &s.from}, {".to", f.To, &s.to}, {".step", f.Step, &s.step}} {
		var o measure.Options
		if n.text != "" {
			err := setOption(&o, s.option, n.text)
			if err == nil && n.into != &s.step { // a step is no value of the option
				err = s.option.Check(&o)
			}
			if err != nil {
				return s.wrong(n.key, "campaign.option_value", measure.Figures{"option": s.option.Key, "cause": err})
			}
		}
		*n.into = reflect.ValueOf(s.option.Value(&o))
	}
	return nil
}

// checkRange sees that a sweep ends, after not too many levels.
func (s *sweep) checkRange(f *Factor) error {
	from, to, step := number(s.from), number(s.to), number(s.step)
	switch {
	case from > to:
		return s.wrong(".to", "campaign.sweep_backwards", measure.Figures{"from": yamlfile.Shorten(f.From), "to": yamlfile.Shorten(f.To)})
	case s.scale == scaleLinear && !(step > 0):
		return s.wrong(".step", "campaign.sweep_step", measure.Figures{"step": yamlfile.Shorten(f.Step)})
	case s.scale != scaleLinear && !(from > 0):
		return s.wrong(".from", "campaign.sweep_from_zero", measure.Figures{"from": yamlfile.Shorten(f.From), "scale": s.scale})
	}
	if n := s.count(); n > maxLevels {
		return s.wrong("", "campaign.sweep_levels", measure.Figures{"levels": n, "most": maxLevels})
	}
	return nil
}

// count is the number of levels that do not exceed the end. The division of decimal
// fractions, as of 0.3 by 0.1, is a little below the whole number.
func (s *sweep) count() float64 {
	const rounding = 1e-9
	from, to := number(s.from), number(s.to)
	steps := (to - from) / number(s.step)
	switch s.scale {
	case scaleLog2:
		steps = math.Log2(to / from)
	case scaleLog10:
		steps = math.Log10(to / from)
	}
	return math.Floor(steps+rounding) + 1
}

// at is one of the levels, counted from 0.
func (s *sweep) at(i int) reflect.Value {
	v := reflect.New(s.from.Type()).Elem()
	if v.CanFloat() {
		v.SetFloat(sweepStep(s.scale, s.from.Float(), s.step.Float(), i))
	} else {
		v.SetInt(sweepStep(s.scale, s.from.Int(), s.step.Int(), i))
	}
	return v
}

// sweepStep is the number i steps after the first.
func sweepStep[T int64 | float64](scale string, from, step T, i int) T {
	switch scale {
	case scaleLog2:
		return from * T(math.Pow(2, float64(i)))
	case scaleLog10:
		return from * T(math.Pow(10, float64(i)))
	}
	return from + T(i)*step
}

// number is a value of an option as a number.
func number(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}
