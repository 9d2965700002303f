package plan

import (
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/yamlfile"
)

// setsSomething reports whether the patterns of a level differ by it from those of
// another level.
func (l *Level) setsSomething() bool {
	return l.setsEnd() || l.contention != "" || len(l.Options) > 0 || l.Before != "" || l.After != ""
}

// setsEnd reports whether a level sets an endpoint or an address of one.
func (l *Level) setsEnd() bool {
	return l.choosesEnd || l.From != "" || l.FromLabel != "" || l.To != "" || l.ToLabel != ""
}

// checkEffects sees that the levels of each factor differ in more than their names. One
// level may set nothing: it stands for what the others change. With two of them a report
// would compare trials of the same network under two names. Levels may be names of what the
// levels of another factor set if they go together in all patterns.
func (p *Plan) checkEffects(d *yamlfile.File) error {
	if p.recorded {
		return nil // a plan of an older version ran as it is
	}
	for i := range p.Factors {
		if err := p.checkEffect(d, i); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) checkEffect(d *yamlfile.File, factor int) error {
	name, f := p.Factors[factor].Name, &p.Factors[factor].Value
	path := "factors." + name
	if f.By == "" && len(f.Levels) > 1 && len(p.idleLevels(factor, []int{factor})) < 2 {
		return nil
	}
	companions := p.companions(factor)
	switch {
	case slices.ContainsFunc(companions, p.changedElsewhere):
		return nil
	case f.By == ByCommand:
		return d.LocateAt(path+".by", measure.Fail(measure.KindFile, "campaign.no_command", nil))
	case f.By != "":
		return d.LocateAt(path+".by", measure.Fail(measure.KindFile, "campaign.by", measure.Figures{"by": yamlfile.Shorten(f.By)}))
	}
	idle := p.idleLevels(factor, companions)
	if len(idle) == 0 || len(idle) == 1 && len(f.Levels) > 1 {
		return nil
	}
	e := measure.Fail(measure.KindFile, "campaign.sets_nothing", measure.Figures{
		"factor": yamlfile.Shorten(name), "levels": idle[:min(len(idle), mostIdle)], "more": max(len(idle)-mostIdle, 0),
	})
	if near := yamlfile.Nearest(name, p.optionsOfTests()); near != "" {
		e = e.WithHintCode("campaign.factor_near_option", measure.Figures{"near": near})
	}
	return d.LocateAt(path, e)
}

// companions are the factors whose levels go together with those of a factor: in all patterns each
// occurs with one of the other. The factor itself is among them.
func (p *Plan) companions(factor int) (out []int) {
	levels := make([][]measure.Level, len(p.patterns))
	for i := range p.patterns {
		levels[i] = p.patterns[i].Levels
	}
	for other := range p.Factors {
		if other == factor || Determines(levels, factor, other) && Determines(levels, other, factor) {
			out = append(out, other)
		}
	}
	return out
}

// idleLevels are the names of a factor's levels with which no level of its companions sets anything.
func (p *Plan) idleLevels(factor int, companions []int) (idle []string) {
	for _, l := range p.Factors[factor].Value.Levels {
		if l.setsSomething() {
			continue
		}
		with, sets := slices.IndexFunc(p.patterns, func(pt Pattern) bool { return pt.Levels[factor].Value == l.Name }), false
		for _, c := range companions {
			sets = sets || with >= 0 && slices.ContainsFunc(p.Factors[c].Value.Levels, func(other Level) bool {
				return other.Name == p.patterns[with].Levels[c].Value && other.setsSomething()
			})
		}
		if !sets {
			idle = append(idle, yamlfile.Shorten(l.Name))
		}
	}
	return idle
}

// changedElsewhere reports whether a person or the plan's before command makes the change
// of a factor.
func (p *Plan) changedElsewhere(factor int) bool {
	f := &p.Factors[factor]
	return f.Value.By == ByHand || f.Value.By == ByCommand && p.Before != "" || namesVariable(p.Before, FactorVariable(f.Name))
}

// mostIdle is how many levels an error names.
const mostIdle = 8

// optionsOfTests are the keys of the options that the plan's tests have.
func (p *Plan) optionsOfTests() []string {
	var out []string
	for _, t := range p.Tests {
		for _, f := range option.Fields(t.Value.Test) {
			if !slices.Contains(out, f.Key) {
				out = append(out, f.Key)
			}
		}
	}
	return out
}

// namesVariable reports whether a command names an environment variable.
func namesVariable(command, variable string) bool {
	for {
		_, after, found := strings.Cut(command, variable)
		if !found {
			return false
		}
		if after == "" || !strings.ContainsAny(after[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") {
			return true
		}
		command = after
	}
}

// Unvaried are, for each test by its label, the factors that set nothing in it: their
// levels only set options that other tests have, and no command names their variable. All
// trials of the test share one network and one set of options for such levels.
func (p *Plan) Unvaried() map[string][]string {
	out := map[string][]string{}
	for _, t := range p.Tests {
		for i := range p.Factors {
			if len(p.Factors[i].Value.Levels) > 1 && !p.varies(i, t.Value.Test) {
				out[t.Name] = append(out[t.Name], p.Factors[i].Name)
			}
		}
	}
	return out
}

// varies reports whether the trials of a test differ by the levels of a factor. Levels that
// are names alone stand for those that they go together with.
func (p *Plan) varies(factor int, test measure.Test) bool {
	if !p.namesOnly(factor) {
		return p.variesAlone(factor, test)
	}
	alone := true
	for _, c := range p.companions(factor) {
		if p.namesOnly(c) {
			continue
		}
		if p.variesAlone(c, test) {
			return true
		}
		alone = false
	}
	return alone
}

func (p *Plan) variesAlone(factor int, test measure.Test) bool {
	f := &p.Factors[factor]
	return f.Value.By != "" || p.commandsName(FactorVariable(f.Name)) || !f.Value.onlyOptions() || f.Value.setsOptionOf(test)
}

// namesOnly reports whether nothing is set by the levels of a factor, and nothing
// learns them.
func (p *Plan) namesOnly(factor int) bool {
	f := &p.Factors[factor]
	sets := func(l Level) bool { return l.setsSomething() }
	return f.Value.By == "" && !slices.ContainsFunc(f.Value.Levels, sets) && !p.commandsName(FactorVariable(f.Name))
}

// onlyOptions reports whether levels set only options.
func (f *Factor) onlyOptions() bool {
	options := false
	for i := range f.Levels {
		l := &f.Levels[i]
		if l.setsEnd() || l.contention != "" || l.Before != "" || l.After != "" {
			return false
		}
		options = options || len(l.Options) > 0
	}
	return options
}

// setsOptionOf reports whether a level sets an option that the test has.
func (f *Factor) setsOptionOf(test measure.Test) bool {
	for i := range f.Levels {
		for _, o := range f.Levels[i].Options {
			if HasOption(test, o.Name) {
				return true
			}
		}
	}
	return false
}

// commandsName reports whether a command of the plan names an environment variable.
func (p *Plan) commandsName(variable string) bool {
	if namesVariable(p.Before, variable) || namesVariable(p.After, variable) {
		return true
	}
	for i := range p.Factors {
		for _, l := range p.Factors[i].Value.Levels {
			if namesVariable(l.Before, variable) || namesVariable(l.After, variable) {
				return true
			}
		}
	}
	return false
}

// Determines reports whether each level of a factor occurs with one level of another, and both
// vary.
func Determines(patterns [][]measure.Level, factor, other int) bool {
	of, seen := map[string]string{}, map[string]bool{}
	for _, levels := range patterns {
		a, b := levels[factor].Value, levels[other].Value
		if known, found := of[a]; found && known != b {
			return false
		}
		of[a], seen[b] = b, true
	}
	return len(of) > 1 && len(seen) > 1
}
