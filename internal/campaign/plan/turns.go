package plan

// RepeatsOf is how often a test runs each time a pattern has its turn.
func (p *Plan) RepeatsOf(t *Test) int {
	if t.Repeats > 0 {
		return t.Repeats
	}
	return p.Repeats
}

// NamesRounds reports whether the plan says how many rounds there are.
func (p *Plan) NamesRounds() bool { return !p.roundsByDefault }

// RoundsOf is in how many rounds a test runs.
func (p *Plan) RoundsOf(t *Test) int {
	if t.Rounds > 0 {
		return t.Rounds
	}
	return p.Rounds
}

// LastRound is the number of rounds of the plan: those of the test that has most.
func (p *Plan) LastRound() int {
	last := 0
	for i := range p.Tests {
		last = max(last, p.RoundsOf(&p.Tests[i].Value))
	}
	return last
}

// trialsOfPair is how many trials the campaign has for one pair in one pattern.
func (p *Plan) trialsOfPair() int {
	n := 0
	for i := range p.Tests {
		t := &p.Tests[i].Value
		n += p.RepeatsOf(t) * p.RoundsOf(t)
	}
	return n
}

// TrialsOfTurn is how many trials each pair of a pattern has in a round with all tests.
func (p *Plan) TrialsOfTurn() int {
	n := 0
	for i := range p.Tests {
		n += p.RepeatsOf(&p.Tests[i].Value)
	}
	return n
}
