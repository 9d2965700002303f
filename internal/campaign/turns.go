package campaign

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
