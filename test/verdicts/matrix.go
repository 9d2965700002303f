package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"soku/internal/measure"
)

// outcome is one trial and what was said of it.
type outcome struct {
	name    string
	labels  []measure.Bottleneck
	verdict *measure.Verdict
}

// right reports whether a limit of the case was named, with medium confidence or more. Other
// limits that were named as alternatives do not count.
func (o outcome) right() bool {
	return o.verdict != nil && slices.Contains(o.labels, o.verdict.LimitedBy) && o.verdict.Confidence != measure.Low
}

// wrong reports whether another limit was named with a confidence.
func (o outcome) wrong(c measure.Confidence) bool {
	return o.verdict != nil && o.verdict.Confidence == c && !slices.Contains(o.labels, o.verdict.LimitedBy)
}

// alternative reports whether a limit of the case was named only as an alternative that looks the same.
func (o outcome) alternative() bool {
	return !o.right() && o.verdict != nil && slices.ContainsFunc(o.labels, func(l measure.Bottleneck) bool { return slices.Contains(o.verdict.Alternatives, l) })
}

func (o outcome) said() string {
	if o.verdict == nil {
		return "no verdict"
	}
	return string(o.verdict.LimitedBy)
}

// tally is the confusion matrix of outcomes.
type tally []outcome

func (t tally) right() (n int) {
	for _, o := range t {
		if o.right() {
			n++
		}
	}
	return n
}

// print writes a row for each true limit: how many trials, how many right, and what else was
// said. A last row adds up.
func (t tally) print(w io.Writer) {
	rows := map[measure.Bottleneck]tally{}
	for _, o := range t {
		rows[o.labels[0]] = append(rows[o.labels[0]], o)
	}
	fmt.Fprintln(w, "| limited by | cases | trials | right | said instead |\n|---|---:|---:|---:|---|")
	for _, label := range slices.Sorted(maps.Keys(rows)) {
		row := rows[label]
		fmt.Fprintf(w, "| `%s` | %d | %d | %d | %s |\n", label, row.cases(), len(row), row.right(), row.instead())
	}
	fmt.Fprintf(w, "| all | %d | %d | %d (%.1f %%) | %d of the wrong ones named it as one that looks the same |\n",
		t.cases(), len(t), t.right(), 100*float64(t.right())/float64(max(len(t), 1)), t.alternatives())
}

// mostWrong is the share of trials on busy hosts that may be wrong with medium confidence.
const mostWrong = 0.05

// onBusyHosts fails if verdicts of busy hosts are more certain than they are right.
func (t tally) onBusyHosts() error {
	high, medium := 0, 0
	for _, o := range t {
		high, medium = high+count(o.wrong(measure.High)), medium+count(o.wrong(measure.Medium))
	}
	if high > 0 || float64(medium) > mostWrong*float64(len(t)) {
		return fmt.Errorf("of %d trials on busy hosts %d are wrong with high confidence and %d with medium", len(t), high, medium)
	}
	return nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t tally) cases() int {
	names := map[string]bool{}
	for _, o := range t {
		names[o.name] = true
	}
	return len(names)
}

func (t tally) alternatives() (n int) {
	for _, o := range t {
		if o.alternative() {
			n++
		}
	}
	return n
}

// instead lists the wrong answers, the most frequent first.
func (t tally) instead() string {
	counts := map[string]int{}
	for _, o := range t {
		if !o.right() {
			said := o.said()
			if o.verdict != nil && o.verdict.Confidence == measure.Low {
				said += " (low)"
			}
			counts[said]++
		}
	}
	text := ""
	for i, said := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) }) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", counts[said], said)
	}
	return text
}
