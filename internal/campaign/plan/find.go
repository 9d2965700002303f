package plan

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/yamlfile"
)

// Values of keys that a search leaves out.
const (
	DefaultGain         = 0.02
	DefaultSearchRounds = 4 // the search, and three turns of the best level and its neighbours
)

// addSearch makes a factor of the levels that the search may reach, after all others.
func (p *Plan) addSearch(d *yamlfile.File) error {
	f := &p.Find
	wrong := func(at, code string, figures measure.Figures) error {
		return d.LocateAt(at, measure.Fail(measure.KindFile, code, figures))
	}
	_, taken := p.Factors.Get(f.Option)
	switch {
	case *f == Search{}:
		return nil
	case f.Option == "":
		return wrong("find", "campaign.find_without_option", nil)
	case taken:
		return wrong("find.option", "campaign.find_and_factor", measure.Figures{"option": yamlfile.Shorten(f.Option)})
	case f.While != "" && f.Gain != 0:
		return wrong("find.gain", "campaign.find_gain_and_while", nil)
	case p.Until.Adds():
		return wrong("until", "campaign.find_and_until", nil)
	}
	scale := f.Scale
	if scale == "" && f.Step == "" {
		scale = scaleLog2
	}
	if f.Gain == 0 && f.While == "" {
		f.Gain = DefaultGain
	}
	p.Factors = append(p.Factors, yamlfile.Entry[Factor]{Name: f.Option, Value: Factor{Option: f.Option, From: f.From, To: f.To, Scale: scale, Step: f.Step}})
	return nil
}

// factorPath is the path of a factor in the plan.
func (p *Plan) factorPath(name string) string {
	if p.Searches() && name == p.Find.Option {
		return "find"
	}
	return "factors." + name
}

// checkSearch finds the test whose figure decides, and what is searched for: the levels of
// each combination of the other factors.
func (p *Plan) checkSearch(d *yamlfile.File) error {
	if !p.Searches() {
		return nil
	}
	if _, named := yamlfile.Ordered[[]string](p.Only).Get(p.Find.Option); named {
		return d.LocateAt("only", searchedFactor(p.Find.Option))
	}
	if p.Find.Test != "" {
		t, ok := p.Tests.Get(p.Find.Test)
		if !ok {
			unknown := measure.Fail(measure.KindFile, "campaign.no_test_label", measure.Figures{"label": yamlfile.Shorten(p.Find.Test)})
			return d.LocateAt("find.test", suggest(unknown, p.Find.Test, p.Tests.Names(), "campaign.test_labels_are"))
		}
		if !p.canDecide(t.Test) {
			return d.LocateAt("find.test", measure.Fail(measure.KindFile, "campaign.find_by_test", measure.Figures{"test": t.Test, "option": p.Find.Option, "while": string(p.Find.While)}))
		}
	} else {
		i := slices.IndexFunc(p.Tests, func(t yamlfile.Entry[Test]) bool { return p.canDecide(t.Value.Test) })
		if i < 0 {
			return d.LocateAt("find", measure.Fail(measure.KindFile, "campaign.find_by_no_test", measure.Figures{"option": p.Find.Option, "while": string(p.Find.While)}))
		}
		p.Find.Test = p.Tests[i].Name
	}
	if t, _ := p.Tests.Get(p.Find.Test); p.RoundsOf(&t) < p.LastRound() {
		at := "tests." + p.Find.Test
		if t.Rounds > 0 {
			at += ".rounds"
		}
		return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.find_rounds", measure.Figures{"test": p.Find.Test, "rounds": p.RoundsOf(&t), "most": p.LastRound()}))
	}
	p.groupSearches()
	return nil
}

// canDecide reports whether a search can go by the figure of a test.
func (p *Plan) canDecide(test measure.Test) bool {
	if figure, _, _, err := p.Find.While.parts(); err == nil {
		return HasOption(test, p.Find.Option) && slices.Contains(figure.Tests(), test)
	}
	return HasOption(test, p.Find.Option) && metric.Of(test).Ranking[0].Better == metric.Higher
}

// PatternsBySearch returns the patterns of each search, as indices in [Plan.AllPatterns], from the
// lowest level on.
func (p *Plan) PatternsBySearch() [][]int { return p.searches }

// groupSearches sorts the patterns into searches: those that differ in nothing but the level
// that is searched, from the lowest level on.
func (p *Plan) groupSearches() {
	searched := slices.IndexFunc(p.Factors, func(f yamlfile.Entry[Factor]) bool { return f.Name == p.Find.Option })
	level := map[string]int{}
	for i, l := range p.Factors[searched].Value.Levels {
		level[l.Name] = i
	}
	number := map[string]int{} // of a search
	for i := range p.patterns {
		others := slices.Delete(slices.Clone(p.patterns[i].Levels), searched, searched+1)
		key := measure.LevelsKey(others)
		if _, known := number[key]; !known {
			number[key] = len(p.searches)
			p.searches = append(p.searches, nil)
		}
		p.searches[number[key]] = append(p.searches[number[key]], i)
	}
	for _, patterns := range p.searches {
		slices.SortStableFunc(patterns, func(a, b int) int {
			return level[p.patterns[a].Levels[searched].Value] - level[p.patterns[b].Levels[searched].Value]
		})
	}
}

// Sweep is the search over a number of levels: the first round visits levels
// upwards, each other one is a turn of the best level and its neighbours; with while the first
// round bisects, and each other one is a turn of the highest level that holds.
func (p *Plan) Sweep(levels, rounds int) stats.Sweep {
	return stats.Sweep{Levels: levels, Gain: float64(p.Find.Gain), Turns: max(rounds-1, 0), Bisect: p.Find.While != ""}
}

// Deciding is the figure of a trial by which the plan decides what runs next: with while 1 if that
// holds and 0 if not, otherwise that by which reports rank, whose metric is m.
func (p *Plan) Deciding(r *measure.Result) (m *metric.Definition, value float64, found bool) {
	if p.Find.While != "" {
		if p.Find.While.Holds(r) {
			value = 1
		}
		return nil, value, true
	}
	if r.Error != nil {
		return nil, 0, false
	}
	m = metric.Ranking(r.Test, []*measure.Result{r})
	value, found = m.Value(r)
	return m, value, found
}

// SearchTrials is how many trials the searches of the selected patterns have in the plan's
// rounds and some that were added, at least and at most.
func (p *Plan) SearchTrials(only Selection, added int) (fewest, most int) {
	first := p.TrialsOfTurn() * p.PairCount()
	later := p.trialsOfPair()*p.PairCount() + (added-1)*first // in the turns of a level
	for _, patterns := range p.searches {
		if only.Matches(p.patterns[patterns[0]].Levels) {
			few, many := p.Sweep(len(patterns), 1).Trials()
			fewTurns, manyTurns := p.Sweep(len(patterns), 2).Trials()
			fewest, most = fewest+few*first+(fewTurns-few)*later, most+many*first+(manyTurns-many)*later
		}
	}
	return fewest, most
}

// TrialsOfList is how many trials of the selected patterns it takes to measure every level as
// often as the plateau is measured after the search.
func (p *Plan) TrialsOfList(only Selection) int {
	trials, patterns := 0, 0
	for i := range p.Tests {
		t := &p.Tests[i].Value
		trials += p.RepeatsOf(t) * max(p.RoundsOf(t)-1, 1)
	}
	for _, search := range p.SearchedPatterns(only) {
		patterns += len(search)
	}
	return patterns * trials * p.PairCount()
}

// SearchedLevels are the levels that a search may reach, from the lowest on; nil without find.
func (p *Plan) SearchedLevels() []string {
	f, _ := p.Factors.Get(p.Find.Option)
	var out []string
	for _, l := range f.Levels {
		out = append(out, l.Name)
	}
	return out
}

// SearchedPatterns are the selected patterns of each search, one element a combination of
// the other factors' levels.
func (p *Plan) SearchedPatterns(only Selection) (out [][]*Pattern) {
	for _, numbers := range p.searches {
		var patterns []*Pattern
		for _, i := range numbers {
			patterns = append(patterns, &p.patterns[i])
		}
		if only.Matches(patterns[0].Levels) {
			out = append(out, patterns)
		}
	}
	return out
}

// Trials is how many trials the whole campaign has, with find at most.
func (p *Plan) Trials() int {
	if p.Searches() {
		_, most := p.SearchTrials(nil, 0)
		return most
	}
	return p.PairsOfPatterns() * p.trialsOfPair()
}

// TrialsOfRound is how many trials a round that is added has.
func (p *Plan) TrialsOfRound() int {
	if p.Searches() {
		_, before := p.SearchTrials(nil, 0)
		_, most := p.SearchTrials(nil, 1)
		return most - before
	}
	return p.PairsOfPatterns() * p.TrialsOfTurn()
}

// DecidesByFigures reports whether what runs next depends on what was measured.
func (p *Plan) DecidesByFigures() bool { return p.Until.Adds() || p.Searches() }
