package verdict

import (
	"strconv"
	"strings"

	"soku/internal/measure"
)

// truth is whether a condition holds; it is unknown where a figure is absent.
type truth int

const (
	unknown truth = iota
	no
	yes
)

func (t truth) reversed() truth { return [...]truth{unknown, yes, no}[t] }

// Condition is what a rule asks of the figures.
type Condition interface {
	// holds returns the comparisons that decided, too.
	holds(f *Figures) (truth, []measure.Evidence)
	// String is the condition in the notation of docs/method.md.
	String() string
}

// comparison compares one figure with its threshold.
type comparison struct {
	key       Key
	atLeast   bool // otherwise: below
	threshold float64
}

// AtLeast holds if the figure is the threshold or more.
func AtLeast(key Key, threshold float64) Condition { return comparison{key, true, threshold} }

// Below holds if the figure is less than the threshold.
func Below(key Key, threshold float64) Condition { return comparison{key, false, threshold} }

func (c comparison) holds(f *Figures) (truth, []measure.Evidence) {
	r, known := f.readings[c.key]
	if !known {
		return unknown, nil
	}
	e := []measure.Evidence{{
		Figure: string(c.key), Value: r.value, Unit: unitOf(c.key), Comparison: "<", Threshold: c.threshold, Where: r.where, Detail: r.detail,
	}}
	if r.value >= c.threshold {
		e[0].Comparison = ">="
	}
	if c.atLeast == (r.value >= c.threshold) {
		return yes, e
	}
	return no, e
}

func (c comparison) String() string {
	sign := " < "
	if c.atLeast {
		sign = " >= "
	}
	return "`" + string(c.key) + "`" + sign + figureText(c.threshold, unitOf(c.key))
}

// figureText writes a threshold with its unit.
func figureText(v float64, unit string) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	switch unit {
	case unitNs:
		return number(v/1e6) + " ms"
	case unitBytes:
		return number(v) + " bytes"
	case unitRatio:
		return number(v*100) + " %"
	case unitTimes:
		return number(v) + " x"
	}
	return number(v)
}

// list combines conditions: the first whose truth is decisive decides, and otherwise each has to
// be known.
type list struct {
	conditions []Condition
	decisive   truth
	with       string // between the conditions, in text
}

// All holds if every condition holds.
func All(conditions ...Condition) Condition { return list{conditions, no, " and "} }

// Any holds if one condition holds.
func Any(conditions ...Condition) Condition { return list{conditions, yes, " or "} }

func (l list) holds(f *Figures) (truth, []measure.Evidence) {
	whole, evidence := l.decisive.reversed(), []measure.Evidence(nil)
	for _, c := range l.conditions {
		t, e := c.holds(f)
		if t == l.decisive {
			return t, e
		}
		if t == unknown {
			whole = unknown
		}
		evidence = append(evidence, e...)
	}
	return whole, evidence
}

// String has an "or" in parentheses, and an "and" within an "or".
func (l list) String() string {
	parts := make([]string, len(l.conditions))
	for i, c := range l.conditions {
		parts[i] = c.String()
		if inner, ok := c.(list); ok && l.decisive == yes && inner.decisive == no && len(inner.conditions) > 1 {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	text := strings.Join(parts, l.with)
	if l.decisive == yes {
		return "(" + text + ")"
	}
	return text
}

type not struct{ Condition }

// Not holds if the condition is known not to hold.
func Not(c Condition) Condition { return not{c} }

func (n not) holds(f *Figures) (truth, []measure.Evidence) {
	t, e := n.Condition.holds(f)
	return t.reversed(), e
}

func (n not) String() string { return "not " + n.Condition.String() }

type ifKnown struct{ Condition }

// IfKnown holds unless the condition is known not to hold.
func IfKnown(c Condition) Condition { return ifKnown{c} }

func (i ifKnown) holds(f *Figures) (truth, []measure.Evidence) {
	t, e := i.Condition.holds(f)
	if t == unknown {
		return yes, nil
	}
	return t, e
}

func (i ifKnown) String() string { return i.Condition.String() + " if known" }

type orLoopback struct{ Condition }

// OrLoopback holds also over loopback without a queueing discipline, where no path has a queue.
func OrLoopback(c Condition) Condition { return orLoopback{c} }

func (o orLoopback) holds(f *Figures) (truth, []measure.Evidence) {
	if f.queueless {
		return yes, nil
	}
	return o.Condition.holds(f)
}

func (o orLoopback) String() string { return "(" + o.Condition.String() + " or loopback)" }

// named is a condition that several rules share, under the name that docs/method.md gives it.
type named struct {
	Condition
	name string
}

func (n named) String() string { return "*" + n.name + "*" }
