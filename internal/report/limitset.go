package report

import (
	"slices"

	"soku/internal/text"
)

// mostListed is how many patterns or levels a sentence about limits lists; of more it says what
// they have in common.
const mostListed = 6

// A level describes a set of patterns if at least commonPart of them have it, and if that part is
// at least commonTimes the part among all patterns.
const (
	commonPart  = 0.8
	commonTimes = 1.5
)

// limitSet says which patterns the rows are: their names; of many, the levels that these rows
// have and no other; else how many they are, and a level that most of them have and few others.
func (t testView) limitSet(rows []int) string {
	if len(rows) <= mostListed {
		var names []string
		for _, i := range rows {
			names = append(names, t.Rows[i].Pattern)
		}
		return t.List(names)
	}
	if levels := t.levelsOfNoOther(rows); levels != nil {
		return t.Sentence("limited.set.levels", text.Args{"Patterns": len(rows), "Levels": levels})
	}
	part, level := t.commonLevel(rows)
	return t.Sentence("limited.set.count", text.Args{"Patterns": len(rows), "Of": len(t.Rows), "Part": part, "Level": level})
}

// levelsOfNoOther are the levels of each factor that only these rows have, without factors whose
// levels they all have. It is nil if other rows have such levels, or if there are too many to list.
func (t testView) levelsOfNoOther(rows []int) []string {
	used := make([][]string, len(t.Factors)) // in the order of the rows
	for f := range t.Factors {
		for _, i := range rows {
			if level := t.Rows[i].Levels[f].Value; !slices.Contains(used[f], level) {
				used[f] = append(used[f], level)
			}
		}
	}
	within := 0
	for _, r := range t.Rows {
		all := true
		for f := range t.Factors {
			all = all && slices.Contains(used[f], r.Levels[f].Value)
		}
		if all {
			within++
		}
	}
	if within != len(rows) {
		return nil
	}
	var out []string
	for f, name := range t.Factors {
		if !slices.ContainsFunc(t.Rows, func(r Row) bool { return !slices.Contains(used[f], r.Levels[f].Value) }) {
			continue
		}
		if len(used[f]) > mostListed || slices.Contains(used[f], "") {
			return nil
		}
		out = append(out, t.Sentence("limited.set.level", text.Args{"Factor": name, "Levels": used[f]}))
	}
	return out
}

// commonLevel is the level that the largest part of the rows has, and how many of them; empty
// if none is much more common among them than among all.
func (t testView) commonLevel(rows []int) (part int, level string) {
	for f, name := range t.Factors {
		among, all := map[string]int{}, map[string]int{}
		for _, r := range t.Rows {
			all[r.Levels[f].Value]++
		}
		for _, i := range rows {
			among[t.Rows[i].Levels[f].Value]++
		}
		for _, i := range rows { // in the order of the rows
			v := t.Rows[i].Levels[f].Value
			share := float64(among[v]) / float64(len(rows))
			if v != "" && among[v] > part && share >= commonPart && share >= commonTimes*float64(all[v])/float64(len(t.Rows)) {
				part, level = among[v], t.Sentence("limited.set.level", text.Args{"Factor": name, "Levels": []string{v}})
			}
		}
	}
	return part, level
}
