package ingest

import (
	"cmp"
	"fmt"

	"soku/internal/measure"
)

// rounds are the rounds and sessions of a campaign of ingested results.
type rounds struct {
	last     map[string]int   // highest round of a pattern and label
	sessions map[string]int   // number by name
	numbered map[ownRound]int // number in the campaign of a round that a table states
	owner    map[int]string   // session of a round of the campaign
	moved    map[int]bool     // rounds of the campaign whose number in the table is another
	highest  int
	stated   map[string]*measure.Origin // trials whose table states their round
}

// ownRound is the number of a round within a session; no session is a session, too.
type ownRound struct {
	session string
	round   int
}

// severalSessions is the owner of a round that has results of several. It is the name of no
// session: names have no zero bytes.
const severalSessions = "\x00"

func newRounds() *rounds {
	return &rounds{
		last: map[string]int{}, sessions: map[string]int{}, numbered: map[ownRound]int{},
		owner: map[int]string{}, moved: map[int]bool{}, stated: map[string]*measure.Origin{},
	}
}

// learn takes note of a result that is in the campaign.
func (rs *rounds) learn(r *measure.Result) {
	t, session := r.Trial, sessionOf(r.Trial)
	key := roundKey(t)
	rs.last[key] = max(rs.last[key], t.Round)
	rs.highest = max(rs.highest, t.Round)
	if t.Session != nil {
		rs.sessions[session] = t.Session.Number
	}
	if owner, known := rs.owner[t.Round]; known && owner != session {
		session = severalSessions
	}
	rs.owner[t.Round] = session
	if o := r.Origin; o != nil && o.Round > 0 {
		rs.numbered[ownRound{sessionOf(t), o.Round}] = t.Round
		rs.moved[t.Round] = rs.moved[t.Round] || o.Round != t.Round
		rs.stated[statedKey(r)] = o
	}
}

// give gives a result the number of its session and its round.
//
// A round that the table states keeps its number, so that it is paired with the same round of
// other patterns. If another round of the campaign has that number, it gets the next free one:
// rounds of two sessions were not interleaved. A round that the path names keeps its number.
//
// Otherwise each result of a pattern and label gets a round of its own. The two ends of a range
// are repeats of one round: it is unknown which trials of two ranges belong together, so they
// must not be paired.
func (rs *rounds) give(r *measure.Result) {
	t := r.Trial
	if t.Session != nil {
		number, known := rs.sessions[t.Session.ID]
		if !known {
			number = len(rs.sessions) + 1
		}
		t.Session.Number = number
	}
	last := rs.last[roundKey(t)]
	if r.Origin.Part == "high" {
		t.Repeat = 2
	}
	switch {
	case r.Origin.Round > 0:
		t.Round = rs.number(ownRound{sessionOf(t), r.Origin.Round})
	case t.Round != 0:
	case r.Origin.Part == "high" && last > 0:
		t.Round = last
	default:
		t.Round = last + 1
	}
}

// number is the campaign's number of a session's round.
func (rs *rounds) number(own ownRound) int {
	if n, known := rs.numbered[own]; known {
		return n
	}
	if owner, taken := rs.owner[own.round]; taken && (owner != own.session || rs.moved[own.round]) {
		return rs.highest + 1
	}
	return own.round
}

// Check checks that the results of one file are trials of their own: where a table states
// rounds, no trial is in it or in the campaign twice. Results that are already in the campaign
// are left out. The error is of kind file and names the line.
func (in *Intake) Check(results []*measure.Result) error {
	seen := map[string]*measure.Origin{}
	for _, r := range results {
		if r.Origin.Round == 0 || in.Known(r) != nil {
			continue
		}
		key := statedKey(r)
		first := seen[key]
		first = cmp.Or(first, in.rounds.stated[key])
		if first != nil {
			return located(r.Origin.File, r.Origin.Line, measure.Fail(measure.KindFile, "ingest.table.twice", measure.Figures{
				"label": r.Trial.Label, "pattern": r.Trial.Pattern, "round": r.Origin.Round, "repeat": r.Trial.Repeat,
				"session": sessionOf(r.Trial), "file": first.File, "line": first.Line,
			}))
		}
		seen[key] = r.Origin
	}
	return nil
}

// statedKey identifies a trial whose table states its round.
func statedKey(r *measure.Result) string {
	t, repeat := r.Trial, r.Trial.Repeat
	if r.Origin.Part != "" {
		repeat = 1 // as it is before [rounds.give]
	}
	return fmt.Sprintf("%s\x00%s\x00%d %d %s", roundKey(t), sessionOf(t), r.Origin.Round, repeat, r.Origin.Part)
}

// sessionOf is the name of a trial's session, empty for none.
func sessionOf(t *measure.Trial) string {
	if t.Session == nil {
		return ""
	}
	return t.Session.ID
}

// roundKey is what rounds are counted for: a pattern's trials of one label.
func roundKey(t *measure.Trial) string { return measure.LevelsKey(t.Levels) + "\x00" + t.Label }
