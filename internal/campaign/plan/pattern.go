package plan

import (
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/yamlfile"
)

// OptionsBetween is the options of a trial between two ends: at the server's port, and from the
// client's address if that has a label.
func (t *PatternTest) OptionsBetween(client, server Target) measure.Options {
	o := t.Options
	if server.port != 0 && !t.ownPort && option.HasServer(t.Test) {
		o.Port = server.port
	}
	if client.Endpoint.Label != "" && o.Bind == "" {
		o.Bind = client.Endpoint.Address // measuring from a labelled address means leaving by it
	}
	return o
}

func (p *Plan) addPattern(d *yamlfile.File, chosen []*Level, seen map[string]bool) error {
	pt := Pattern{Levels: []measure.Level{}}
	for i, l := range chosen {
		pt.Levels = append(pt.Levels, measure.Level{Factor: p.Factors[i].Name, Value: l.Name})
	}
	pt.Name = measure.JoinLevels(pt.Levels)
	for _, s := range p.Exclude {
		if s.Matches(pt.Levels) {
			return nil
		}
	}
	id := measure.LevelsKey(pt.Levels)
	if seen[id] {
		return nil // two entries of a recorded plan's patterns overlap
	}
	seen[id] = true
	if err := p.apply(d, &pt, chosen); err != nil {
		return err
	}
	p.patterns = append(p.patterns, pt)
	return nil
}

// apply gives a pattern what its levels set. Two levels that set the same thing
// are an error: which one wins would depend on the order of factors.
func (p *Plan) apply(d *yamlfile.File, pt *Pattern, chosen []*Level) error {
	from, to := newPatternEnd("from", p.From, p.FromLabel, pt.Levels), newPatternEnd("to", p.To, p.ToLabel, pt.Levels)
	pt.Together = p.startTogether
	if p.Before != "" {
		pt.Before = append(pt.Before, p.Before)
	}
	for i, l := range chosen {
		name := p.Factors[i].Name
		clash := func(first, key string) error {
			return d.FailAt("factors."+name, "campaign.factors_set_one_key", measure.Figures{"first": first, "second": name, "key": key, "pattern": pt.Name})
		}
		if key, first := from.set(name, l.at, l.From, l.FromLabel, pt.Levels); key != "" {
			return clash(first, key)
		}
		if key, first := to.set(name, l.at, l.To, l.ToLabel, pt.Levels); key != "" {
			return clash(first, key)
		}
		if l.contention != "" {
			pt.Together = l.contention == Together
		}
		if l.Before != "" {
			pt.Before = append(pt.Before, l.Before)
		}
		if l.After != "" {
			pt.After = append([]string{l.After}, pt.After...)
		}
	}
	if p.After != "" {
		pt.After = append(pt.After, p.After)
	}
	if err := p.setEnds(d, pt, &from, &to); err != nil {
		return err
	}
	if err := p.checkOptionsOnce(d, pt, chosen); err != nil {
		return err
	}
	return p.applyOptions(d, pt, chosen)
}

// setEnds gives a pattern its ends, or the labels of the addresses of the plan's pairs.
func (p *Plan) setEnds(d *yamlfile.File, pt *Pattern, from, to *patternEnd) error {
	if p.paired == nil {
		pt.From, pt.fromAt = from.reference(), from.at()
		pt.To, pt.toAt = to.reference(), to.at()
		return p.checkEnds(d, pt, from, to)
	}
	pt.fromLabel, pt.fromAt = from.label, "pairs"
	pt.toLabel, pt.toAt = to.label, "pairs"
	if from.label != "" {
		pt.fromAt = from.labelAt
	}
	if to.label != "" {
		pt.toAt = to.labelAt
	}
	return p.checkPairEnds(d, pt, from, to)
}

// checkOptionsOnce sees that no two levels of a pattern set one option.
func (p *Plan) checkOptionsOnce(d *yamlfile.File, pt *Pattern, chosen []*Level) error {
	by := map[string]string{} // which factor set it
	for i, l := range chosen {
		name := p.Factors[i].Name
		for _, o := range l.Options {
			if by[o.Name] != "" {
				return d.FailAt("factors."+name, "campaign.factors_set_one_option", measure.Figures{
					"first": by[o.Name], "second": name, "option": o.Name, "pattern": pt.Name,
				})
			}
			by[o.Name] = name
		}
	}
	return nil
}

func (p *Plan) applyOptions(d *yamlfile.File, pt *Pattern, chosen []*Level) error {
	for _, t := range p.Tests {
		o, ownPort := t.Value.Options, t.Value.set["port"]
		if name, _, _ := strings.Cut(pt.To, "."); option.HasServer(t.Value.Test) && !t.Value.set["port"] {
			if e, _ := p.Endpoints.Get(name); e.Port != 0 {
				o.Port = e.Port
			}
		}
		at := "tests." + t.Name
		for i, l := range chosen {
			for _, s := range l.Options {
				f, _ := option.Of(s.Name)
				if !f.AppliesTo(t.Value.Test) {
					continue
				}
				ownPort = ownPort || f.Key == "port"
				if err := setOption(&o, f, s.Value); err != nil {
					return d.LocateAt("factors."+p.Factors[i].Name, err)
				}
				if err := f.Check(&o); err != nil {
					return p.inPattern(d, pt, at, err)
				}
			}
		}
		if _, err := option.Effective(o, t.Value.Test); err != nil {
			if len(p.patterns) > 0 || len(chosen) > 0 {
				err = measure.Fail(measure.KindFile, "campaign.in_pattern", measure.Figures{"pattern": pt.Name, "cause": err})
			}
			return d.LocateAt(at, err)
		}
		pt.Tests = append(pt.Tests, PatternTest{Label: t.Name, Test: t.Value.Test, Options: o, ownPort: ownPort,
			TestTurns: TestTurns{p.RepeatsOf(&t.Value), p.RoundsOf(&t.Value)}})
	}
	return nil
}
