package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// RowVerdict is what limited the trials of a pattern: the limit that more of them name than any
// other.
type RowVerdict struct {
	LimitedBy  measure.Bottleneck `json:"limited_by"`
	Confidence measure.Confidence `json:"confidence"` // the lowest of the trials that name it
	Trials     int                `json:"trials"`     // that name it
	Of         int                `json:"of"`         // trials with a verdict
}

// Moved is a factor whose level decides what limits: of each level all patterns have one limit.
type Moved struct {
	Factor string       `json:"factor"`
	Levels []LevelLimit `json:"levels"` // in the order of the rows
}

// LevelLimit is what limits at a level of a factor.
type LevelLimit struct {
	Level     string             `json:"level"`
	LimitedBy measure.Bottleneck `json:"limited_by"`
}

// found reports whether anything was found; "none" with low confidence is nothing.
func (v *RowVerdict) found() bool {
	return v != nil && (v.LimitedBy != measure.BottleneckNone || v.sure())
}

// sure reports whether sentences may state it.
func (v *RowVerdict) sure() bool { return v != nil && v.Confidence != measure.Low }

// verdictOf is what most trials of a pattern were limited by, or nil if none has a verdict. Of
// limits named equally often, the one with the higher confidence counts, or the first by name.
func verdictOf(results []*measure.Result) *RowVerdict {
	var all []RowVerdict
	of := 0
	for _, r := range results {
		v := r.Verdict
		if v == nil {
			continue
		}
		of++
		i := slices.IndexFunc(all, func(o RowVerdict) bool { return o.LimitedBy == v.LimitedBy })
		if i < 0 {
			all = append(all, RowVerdict{LimitedBy: v.LimitedBy, Confidence: v.Confidence, Trials: 1})
			continue
		}
		all[i].Trials++
		if sureness(v.Confidence) < sureness(all[i].Confidence) {
			all[i].Confidence = v.Confidence
		}
	}
	if of == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b RowVerdict) int {
		return cmp.Or(cmp.Compare(a.Trials, b.Trials), cmp.Compare(sureness(a.Confidence), sureness(b.Confidence)), cmp.Compare(b.LimitedBy, a.LimitedBy))
	})
	most.Of = of
	return &most
}

func sureness(c measure.Confidence) int {
	return slices.Index([]measure.Confidence{measure.Low, measure.Medium, measure.High}, c)
}

// findMoved finds the factor with which the limit moves: the first of which every level has
// one limit, in patterns that do not all have the same.
func (t *Test) findMoved() {
	if !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.limitedBy() != t.Rows[0].limitedBy() }) {
		return
	}
	for f, name := range t.Factors {
		m := Moved{Factor: name}
		whole := true
		for i := range t.Rows {
			r := &t.Rows[i]
			level, by := r.Levels[f].Value, r.limitedBy()
			at := slices.IndexFunc(m.Levels, func(l LevelLimit) bool { return l.Level == level })
			if at < 0 {
				m.Levels = append(m.Levels, LevelLimit{level, by})
			}
			whole = whole && by != "" && (at < 0 || m.Levels[at].LimitedBy == by)
		}
		if whole {
			t.Moved = &m
			return
		}
	}
}

// limitedBy is the limit of a row that sentences may state: it is sure, and more than half of the
// trials with a verdict name it. Empty if there is none.
func (r *Row) limitedBy() measure.Bottleneck {
	if v := r.Verdict; v.sure() && 2*v.Trials > v.Of {
		return v.LimitedBy
	}
	return ""
}

// addVerdict adds the column of what limited each pattern, if that is known of one.
func (t testView) addVerdict(out *outline.Table) {
	if !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Verdict.found() }) {
		return
	}
	out.AddText(t.named("column.limited_by", outline.Column{Drop: 4}), func(i int) string { return t.verdictText(t.Rows[i].Verdict) })
}

func (t testView) verdictText(v *RowVerdict) string {
	if !v.found() {
		return text.Absent
	}
	return t.Sentence("limited.cell", text.Args{"Limit": t.Bottleneck(v.LimitedBy), "Trials": v.Trials, "Of": v.Of, "Unsure": !v.sure()})
}

// mostLimits is how many limits a sentence names.
const mostLimits = 6

// limited says what limited the patterns, or returns "" if nothing is known.
func (t testView) limited() string {
	by := map[measure.Bottleneck][]int{} // rows
	var order []measure.Bottleneck
	known := 0
	for i := range t.Rows {
		r := &t.Rows[i]
		if b := r.limitedBy(); b != "" {
			if by[b] == nil {
				order = append(order, b)
			}
			by[b] = append(by[b], i)
			known++
		}
	}
	switch {
	case len(order) == 0 || len(order) > mostLimits:
		return ""
	case len(order) == 1 && known == len(t.Rows):
		return t.Sentence("limited.all", text.Args{"N": len(t.Rows), "Limit": t.Bottleneck(order[0])})
	case t.Moved != nil && len(t.Moved.Levels) <= mostLimits:
		var each []string
		for _, l := range t.Moved.Levels {
			each = append(each, t.Sentence("limited.level", text.Args{"Level": l.Level, "Limit": t.Bottleneck(l.LimitedBy)}))
		}
		return t.Sentence("limited.moved", text.Args{"Factor": t.Moved.Factor, "Each": each})
	}
	// Where each pattern has a limit, the one of most patterns is that of all others.
	most := slices.MaxFunc(order, func(a, b measure.Bottleneck) int { return cmp.Compare(len(by[a]), len(by[b])) })
	others := known == len(t.Rows) && len(by[most]) > mostListed
	var each []string
	for _, b := range order {
		if b != most || !others {
			each = append(each, t.Sentence("limited.patterns", text.Args{"Limit": t.Bottleneck(b), "Patterns": t.limitSet(by[b])}))
		}
	}
	if others {
		each = append(each, t.Sentence("limited.patterns", text.Args{"Limit": t.Bottleneck(most), "Patterns": t.Sentence("limited.set.others", text.Args{"Patterns": len(by[most])})}))
	}
	return t.Sentence("limited.each", text.Args{"Each": each})
}

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
			used[f] = addOnce(used[f], t.Rows[i].Levels[f].Value)
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
