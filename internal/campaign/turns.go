package campaign

// kind is a test of a pattern and which of its repeats.
type kind struct{ test, repeat int }

// repeats and rounds of a test: its own, or the plan's.
func (p *Plan) repeatsOf(t *TestPlan) int {
	if t.Repeats > 0 {
		return t.Repeats
	}
	return p.Repeats
}

func (p *Plan) roundsOf(t *TestPlan) int {
	if t.Rounds > 0 {
		return t.Rounds
	}
	return p.Rounds
}

// LastRound is the number of rounds of the plan: those of the test that has most.
func (p *Plan) LastRound() int {
	last := 0
	for i := range p.Tests {
		last = max(last, p.roundsOf(&p.Tests[i].Value))
	}
	return last
}

// kinds are the trials of a pair in a round, in their order: repeat by repeat the tests
// that have so many repeats and rounds. Rounds that were added to the plan's have all
// tests.
func (p *Plan) kinds(round int) []kind {
	added := round > p.LastRound()
	var out []kind
	for repeat := 1; ; repeat++ {
		some := false
		for i := range p.Tests {
			t := &p.Tests[i].Value
			if repeat <= p.repeatsOf(t) && (added || round <= p.roundsOf(t)) {
				out, some = append(out, kind{i, repeat}), true
			}
		}
		if !some {
			return out
		}
	}
}

// alike is how many rounds from one of the plan's on have the same tests.
func (p *Plan) alike(round int) int {
	last := p.LastRound()
	for i := range p.Tests {
		if r := p.roundsOf(&p.Tests[i].Value); r >= round {
			last = min(last, r)
		}
	}
	return last - round + 1
}

// trialsOfPair is how many trials the campaign has for one pair in one pattern.
func (p *Plan) trialsOfPair() int {
	n := 0
	for i := range p.Tests {
		t := &p.Tests[i].Value
		n += p.repeatsOf(t) * p.roundsOf(t)
	}
	return n
}

// Trials is how many trials the whole campaign has, with find at most.
func (p *Plan) Trials() int {
	if p.Searches() {
		_, most := p.searchTrials(nil, 0)
		return most
	}
	return len(p.patterns) * p.PairCount() * p.trialsOfPair()
}

// trialsOfRound is how many trials a round that is added has.
func (p *Plan) trialsOfRound() int {
	if p.Searches() {
		_, before := p.searchTrials(nil, 0)
		_, most := p.searchTrials(nil, 1)
		return most - before
	}
	return len(p.patterns) * p.TrialsOfPattern()
}

// TrialsOfPattern is how many trials a pattern's turn has in a round with all tests.
func (p *Plan) TrialsOfPattern() int {
	n := 0
	for i := range p.Tests {
		n += p.repeatsOf(&p.Tests[i].Value)
	}
	return n * p.PairCount()
}
