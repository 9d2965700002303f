package campaign

import "soku/internal/campaign/plan"

// outcome is what a trial left.
type outcome struct {
	result string // ID of its newest result
	failed bool   // which is an error
}

// outcomes are what trials left, by their keys. The zero value is not usable.
type outcomes struct {
	numbers map[string]int32 // of the texts in keys, so that each is kept once
	of      map[compactKey]outcome
	failed  int                   // outcomes that are errors
	begun   map[compactKey]string // results of trials that began and have no end in the journal
}

// compactKey is a key with numbers for its texts, so that keys can be compared.
type compactKey struct{ pattern, client, server, label, round, repeat int32 }

func newOutcomes() outcomes {
	return outcomes{numbers: map[string]int32{}, of: map[compactKey]outcome{}, begun: map[compactKey]string{}}
}

func (o *outcomes) get(k plan.TrialKey) (outcome, bool) {
	out, done := o.of[o.compact(k)]
	return out, done
}

func (o *outcomes) set(k plan.TrialKey, out outcome) {
	p := o.compact(k)
	if o.of[p].failed {
		o.failed--
	}
	if out.failed {
		o.failed++
	}
	o.of[p] = out
	delete(o.begun, p)
}

func (o *outcomes) compact(k plan.TrialKey) compactKey {
	return compactKey{
		pattern: o.number(k.PatternText()), client: o.number(k.Client), server: o.number(k.Server), label: o.number(k.Label),
		round: int32(k.Round), repeat: int32(k.Repeat),
	}
}

func (o *outcomes) number(text string) int32 {
	n, known := o.numbers[text]
	if !known {
		n = int32(len(o.numbers))
		o.numbers[text] = n
	}
	return n
}
