package campaign

import (
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// Pattern is one assignment of a level to every factor: a row of the published
// table, with what its levels set.
type Pattern struct {
	// Name is the levels as they are shown, and no other pattern of the plan has
	// it. What identifies the pattern is Levels.
	Name   string
	Levels []measure.Level // one element a factor, in the plan's order; not nil
	From   string          // endpoint or endpoint.label, or "" for this machine and with pairs
	To     string          // empty with pairs
	Before []string        // commands in the order they run: the plan's, then each level's
	After  []string        // each level's from the last factor to the first, then the plan's
	Tests  []PatternTest

	fromAt, toAt       string // paths of the plan's values that name the ends
	fromLabel, toLabel string // of the addresses of the plan's pairs, where the pairs name none
	together           bool   // the trials of all pairs start at one barrier
}

// PatternTest is one test of a pattern with the options its levels give it.
type PatternTest struct {
	Label   string
	Test    measure.Test
	Options measure.Options // as asked; not yet effective

	TestTurns // in effect: of the test or the plan

	ownPort bool // the test or a level names the port
}

// between is the options of a trial between two ends: at the server's port, and from the
// client's address if that has a label.
func (t *PatternTest) between(client, server Target) measure.Options {
	o := t.Options
	if server.port != 0 && !t.ownPort && t.Test.NeedsServer() {
		o.Port = server.port
	}
	if client.Endpoint.Label != "" && o.Bind == "" {
		o.Bind = client.Endpoint.Address // measuring from a labelled address means leaving by it
	}
	return o
}

// AllPatterns are the patterns of the plan in the order of its factors' levels,
// without those it excludes.
func (p *Plan) AllPatterns() []Pattern { return p.patterns }

// quoted is the levels in a row, with quotes around levels that have the separator in their
// names, so that no two patterns have the same row.
func quoted(levels []measure.Level) string {
	out := slices.Clone(levels)
	for i, l := range out {
		if strings.Contains(l.Value, measure.LevelSeparator) || strings.Contains(l.Value, `"`) {
			out[i].Value = strconv.Quote(l.Value)
		}
	}
	return measure.JoinLevels(out)
}

// distinguish renames patterns where two of them are shown by the same name.
func (p *Plan) distinguish() {
	seen := map[string]bool{}
	for i := range p.patterns {
		seen[p.patterns[i].Name] = true
	}
	if len(seen) == len(p.patterns) {
		return
	}
	for i := range p.patterns {
		p.patterns[i].Name = quoted(p.patterns[i].Levels)
	}
}

// makePatterns works out the patterns, and checks the trials of each.
func (p *Plan) makePatterns(d *yamlfile.File) error {
	wanted := p.former.patterns
	if len(wanted) == 0 {
		wanted = []Selection{nil}
	}
	c := combiner{Plan: p, file: d, seen: map[string]bool{}, reached: map[*Level]bool{}}
	for _, w := range wanted {
		if err := c.choose(w); err != nil {
			return err
		}
	}
	if err := p.checkReached(d, c.reached); err != nil {
		return err
	}
	p.distinguish()
	if len(p.patterns) == 0 {
		return d.FailAt("exclude", "campaign.no_pattern_left", nil)
	}
	if n := float64(len(p.patterns)) * float64(p.PairCount()) * float64(p.trialsOfPair()); n > maxTrials {
		return d.FailAt("rounds", "campaign.too_many_trials", measure.Figures{"trials": n, "most": maxTrials})
	}
	for _, p2 := range p.patterns {
		if p.Only.Matches(p2.Levels) {
			return nil
		}
	}
	return d.LocateAt("only", measure.Fail(measure.KindFile, "campaign.only_selects_none", nil))
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
	from, to := newPatternEnd("from", p.From, p.FromLabel), newPatternEnd("to", p.To, p.ToLabel)
	pt.together = p.startTogether
	if p.Before != "" {
		pt.Before = append(pt.Before, p.Before)
	}
	for i, l := range chosen {
		name := p.Factors[i].Name
		clash := func(first, key string) error {
			return d.FailAt("factors."+name, "campaign.factors_set_one_key", measure.Figures{"first": first, "second": name, "key": key, "pattern": pt.Name})
		}
		if key, first := from.set(name, l.at, l.From, l.FromLabel); key != "" {
			return clash(first, key)
		}
		if key, first := to.set(name, l.at, l.To, l.ToLabel); key != "" {
			return clash(first, key)
		}
		if l.contention != "" {
			pt.together = l.contention == Together
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
		if name, _, _ := strings.Cut(pt.To, "."); t.Value.Test.NeedsServer() && !t.Value.set["port"] {
			if e, _ := p.Endpoints.Get(name); e.Port != 0 {
				o.Port = e.Port
			}
		}
		at := "tests." + t.Name
		for i, l := range chosen {
			for _, s := range l.Options {
				f, _ := measure.OptionOf(s.Name)
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
		if _, err := o.Effective(t.Value.Test); err != nil {
			if len(p.patterns) > 0 || len(chosen) > 0 {
				err = measure.Fail(measure.KindFile, "campaign.in_pattern", measure.Figures{"pattern": pt.Name, "cause": err})
			}
			return d.LocateAt(at, err)
		}
		pt.Tests = append(pt.Tests, PatternTest{Label: t.Name, Test: t.Value.Test, Options: o, ownPort: ownPort,
			TestTurns: TestTurns{p.repeatsOf(&t.Value), p.roundsOf(&t.Value)}})
	}
	return nil
}
