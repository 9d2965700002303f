package report

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/text"
)

// levelNone is how plans and tables call the level of a factor that a pattern does not have.
const levelNone = "none"

// leastShared is how many levels a name keeps when those that all patterns of a sentence share
// are left out of it: fewer do not tell what they are levels of.
const leastShared = 2

// impliedLevels tells which levels of a factor go with each level of another.
type impliedLevels map[measure.Level]map[string]string // level, other factor: its level, or "" if there are several

func (t *Test) impliedLevels() impliedLevels {
	out := impliedLevels{}
	for _, r := range slices.Concat(t.Rows, t.ControlRows) {
		for _, l := range r.Levels {
			with := out[l]
			if with == nil {
				with = map[string]string{}
				out[l] = with
			}
			for _, other := range r.Levels {
				if level, known := with[other.Factor]; known && level != other.Value {
					with[other.Factor] = ""
				} else {
					with[other.Factor] = other.Value
				}
			}
		}
	}
	return out
}

// telling are the levels without those that a factor is absent by: that are empty, or "none"
// in every pattern with a level that stays.
func (i impliedLevels) telling(levels []measure.Level) []measure.Level {
	absent := func(l measure.Level) bool { return l.Value == "" || strings.EqualFold(l.Value, levelNone) }
	return slices.DeleteFunc(slices.Clone(levels), func(l measure.Level) bool {
		implied := slices.ContainsFunc(levels, func(o measure.Level) bool { return !absent(o) && i[o][l.Factor] == l.Value })
		return l.Value == "" || absent(l) && implied
	})
}

// patternNames are the names of patterns in sentences, by their names in tables: without the
// levels that a factor is absent by, unless two patterns would have one name.
func (t testView) patternNames() map[string]string {
	rows := slices.Concat(t.Rows, t.ControlRows)
	out, uses := make(map[string]string, len(rows)), map[string]int{}
	if t.ByHand {
		return out
	}
	implied := t.impliedLevels()
	for _, r := range rows {
		if r.Pattern == joinAligned(r.Levels) { // as numbered duplicates are not
			out[r.Pattern] = joinPresent(implied.telling(r.Levels))
		} else {
			out[r.Pattern] = r.Pattern
		}
		uses[out[r.Pattern]]++
	}
	for name, short := range out {
		if short == "" || uses[short] > 1 {
			out[name] = name
		}
		if len(t.Factors) == 1 {
			out[name] = t.levelNamed(t.Factors[0], out[name])
		}
	}
	return out
}

// joinAligned is a pattern's name in tables, with a place for each factor.
func joinAligned(levels []measure.Level) string {
	levels = slices.Clone(levels)
	for i, l := range levels {
		levels[i].Value = cmp.Or(l.Value, text.Absent)
	}
	return measure.JoinLevels(levels)
}

// called is how a sentence names a pattern.
func (t testView) called(pattern string) string { return t.callEach([]string{pattern})[0] }

// callEach is how sentences name patterns.
func (t testView) callEach(patterns []string) []string {
	names, out := t.patternNames(), make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = cmp.Or(names[p], p)
	}
	return out
}

// callTogether is how one sentence names several patterns: without the levels that all of them
// have, which are returned apart, as long as each keeps [leastShared] levels.
func (t testView) callTogether(patterns []string) (names []string, shared []measure.Level) {
	names = t.callEach(patterns)
	if len(patterns) < 2 || t.ByHand {
		return names, nil
	}
	implied := t.impliedLevels()
	of := make([][]measure.Level, len(patterns))
	for i, p := range patterns {
		at := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Pattern == p })
		if at < 0 {
			return names, nil
		}
		if of[i] = implied.telling(t.Rows[at].Levels); names[i] != joinPresent(of[i]) {
			return names, nil
		}
	}
	for _, l := range of[0] {
		if !slices.ContainsFunc(of, func(levels []measure.Level) bool { return !slices.Contains(levels, l) }) {
			shared = append(shared, l)
		}
	}
	factors := func(levels []measure.Level) (names []string) {
		for _, l := range levels {
			names = append(names, l.Factor)
		}
		return names
	}
	short := make([]string, len(of))
	for i, levels := range of {
		if !slices.Equal(factors(levels), factors(of[0])) {
			return names, nil // a level less is easily taken for that of another factor
		}
		kept := slices.DeleteFunc(slices.Clone(levels), func(l measure.Level) bool { return slices.Contains(shared, l) })
		if short[i] = joinPresent(kept); len(kept) < leastShared || slices.Contains(short[:i], short[i]) {
			return names, nil
		}
	}
	return short, shared
}

// shared writes the levels that all patterns of a sentence have in common, or returns "" if
// there are none.
func (t testView) shared(levels []measure.Level) string {
	if len(levels) == 0 {
		return ""
	}
	return t.Sentence("pattern.shared", text.Args{"Levels": t.levelsText(levels)})
}

// callFirst is how one sentence names the first patterns and the next one, if there is one.
func (t testView) callFirst(first []string, next *Estimate) (names []string, last string, shared []measure.Level) {
	all := slices.Clone(first)
	if next != nil {
		all = append(all, next.Pattern)
	}
	names, shared = t.callTogether(all)
	if next != nil {
		last = names[len(first)]
	}
	return names[:len(first)], last, shared
}

// levelsText names levels with their factors.
func (t testView) levelsText(levels []measure.Level) string {
	parts := make([]string, len(levels))
	for i, l := range levels {
		parts[i] = t.Sentence("compare.level", text.Args{"Factor": l.Factor, "Level": t.level(l.Value)})
	}
	return t.List(parts)
}
