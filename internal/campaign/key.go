package campaign

import (
	"fmt"
	"slices"

	"soku/internal/measure"
)

// Key identifies a trial within its campaign: by the levels of its pattern, its
// endpoints, the test's label, the round and the repeat.
type Key struct {
	// Pattern is the levels as they are shown. It identifies the pattern only in
	// a journal of an older version, which has no Levels.
	Pattern string          `json:"pattern"`
	Levels  []measure.Level `json:"levels"`           // nil in a journal of an older version
	Client  string          `json:"client,omitempty"` // endpoint or endpoint.label; empty for this machine
	Server  string          `json:"server,omitempty"`
	Label   string          `json:"label"`
	Round   int             `json:"round"`
	Repeat  int             `json:"repeat"`
}

func (k Key) String() string {
	return fmt.Sprintf("%s, %s, round %d, repeat %d", k.Pattern, k.Label, k.Round, k.Repeat)
}

// Key is the identity of the job's trial.
func (j Job) Key() Key {
	return Key{
		Pattern: j.Trial.Pattern, Levels: j.Trial.Levels, Client: j.Client.Reference(), Server: j.Server.Reference(),
		Label: j.Trial.Label, Round: j.Trial.Round, Repeat: j.Trial.Repeat,
	}
}

// resolve completes a key of an older version, which had the levels only as one
// text and at most one pattern with each text. Another key returns as it is.
func (k Key) resolve(patterns []Pattern) Key {
	if k.Levels != nil {
		return k
	}
	i := slices.IndexFunc(patterns, func(pt Pattern) bool { return measure.JoinLevels(pt.Levels) == k.Pattern })
	if i >= 0 {
		k.Levels, k.Client, k.Server = patterns[i].Levels, patterns[i].From, patterns[i].To
	}
	return k
}

// outcome is what a trial left.
type outcome struct {
	result string // ID of its newest result
	failed bool   // which is an error
}

// outcomes are what trials left, by their keys. The zero value is not usable.
type outcomes struct {
	numbers map[string]int32 // of the texts in keys, so that each is kept once
	of      map[compactKey]outcome
	failed  int // outcomes that are errors
}

// compactKey is a key with numbers for its texts, so that keys can be compared.
type compactKey struct{ pattern, client, server, label, round, repeat int32 }

func newOutcomes() outcomes {
	return outcomes{numbers: map[string]int32{}, of: map[compactKey]outcome{}}
}

func (o *outcomes) get(k Key) (outcome, bool) {
	out, done := o.of[o.compact(k)]
	return out, done
}

func (o *outcomes) set(k Key, out outcome) {
	p := o.compact(k)
	if o.of[p].failed {
		o.failed--
	}
	if out.failed {
		o.failed++
	}
	o.of[p] = out
}

func (o *outcomes) compact(k Key) compactKey {
	return compactKey{
		pattern: o.number(patternText(k)), client: o.number(k.Client), server: o.number(k.Server), label: o.number(k.Label),
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

// patternText distinguishes patterns. A key of an older version whose pattern is
// not in the plan has no levels, but the name.
func patternText(k Key) string {
	if k.Levels == nil {
		return k.Pattern
	}
	return measure.LevelsKey(k.Levels)
}
