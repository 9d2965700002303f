package report

import (
	"fmt"
	"slices"
	"strings"

	"soku/internal/measure"
)

// answer is the one sentence that a reader takes away from a test. It claims
// an order only where the ranking shows one.
func (t *Test) answer() string {
	placed := slices.DeleteFunc(slices.Clone(t.Ranking), func(p Place) bool { return p.Rank == 0 })
	if len(placed) == 0 {
		return t.noFigure()
	}
	first := 0 // patterns that share the first rank
	for first < len(placed) && placed[first].Rank == 1 {
		first++
	}
	switch {
	case len(placed) == 1:
		return t.onlyOne(placed[0])
	case t.Rounds == 1 && first == 1:
		return fmt.Sprintf("%s %s: %s%s; one round, so the order is not tested.", placed[0].Pattern, t.leads(), t.figure(*placed[0].Estimate), t.lead(placed[0], placed[1]))
	case t.Rounds == 1:
		return fmt.Sprintf("%s have the same figure, %s; one round, so the order is not tested.", names(placed[:first]), t.figure(*placed[0].Estimate))
	case first == len(placed):
		return fmt.Sprintf("No difference shown between %s: %s, in %s.", names(placed), t.figures(placed), rounds(t.Rounds))
	case first == 1:
		return fmt.Sprintf("%s %s: %s%s; shown by %s.", placed[0].Pattern, t.leads(), t.figure(*placed[0].Estimate), t.lead(placed[0], placed[1]), rounds(t.Rounds))
	}
	return fmt.Sprintf("No difference shown between %s (%s); next is %s with %s, in %s.",
		names(placed[:first]), t.figures(placed[:first]), placed[first].Pattern, t.figure(*placed[first].Estimate), rounds(t.Rounds))
}

// noFigure is the answer of a test none of whose trials has a figure to rank by.
func (t *Test) noFigure() string {
	for _, r := range t.Rows {
		if r.Trials > 0 && t.Test == measure.TestTrace {
			return "The target answered in no trial; the hops are those up to where answers end."
		}
	}
	return "No trial succeeded, so there is no answer."
}

func (t *Test) onlyOne(p Place) string {
	for _, r := range t.Rows {
		if r.Pattern != p.Pattern || len(r.Values) < 2 {
			continue
		}
		low, high := r.Values[0].Value, r.Values[0].Value
		for _, v := range r.Values {
			low, high = min(low, v.Value), max(high, v.Value)
		}
		return fmt.Sprintf("%s: %s %s (%s to %s in %d trials).", p.Pattern, t.noun(), t.figure(*p.Estimate), t.figure(low), t.figure(high), len(r.Values))
	}
	return fmt.Sprintf("%s: %s %s.", p.Pattern, t.noun(), t.figure(*p.Estimate))
}

// noun is what the ranking compares.
func (t *Test) noun() string {
	switch t.Basis.Metric {
	case measure.MetricGoodput:
		return "goodput"
	case measure.MetricConnections:
		return "connections a second"
	case measure.MetricPathMTU:
		return "path MTU"
	case measure.MetricRTTMeanMiddle:
		return t.middle()
	}
	if t.Test == measure.TestConnect {
		return t.middle() + " set-up time"
	}
	return t.middle() + " round trip"
}

// middle is which figure of a trial's round trips the ranking rests on.
func (t *Test) middle() string {
	switch t.Basis.Metric {
	case measure.MetricRTTMean:
		return "mean"
	case measure.MetricRTTMeanMiddle:
		return "middle of the run means"
	}
	return "median"
}

func (t *Test) leads() string {
	switch {
	case t.Basis.Metric == measure.MetricPathMTU:
		return "carries the largest packets"
	case !t.Basis.isTime():
		return "is fastest"
	case t.Test == measure.TestConnect:
		return "sets connections up soonest"
	}
	switch t.Basis.Metric {
	case measure.MetricRTTMean:
		return "has the shortest mean round trip"
	case measure.MetricRTTMeanMiddle:
		return "has the lowest " + t.middle()
	}
	return "has the shortest round trip"
}

// lead compares the best with the next: as a factor where it is large, in
// percent where it is not, so that 1.1 never stands for anything from 5 to 15 %.
func (t *Test) lead(best, next Place) string {
	a, b := *best.Estimate, *next.Estimate
	if a <= 0 || b <= 0 {
		return fmt.Sprintf("; the next, %s, has %s", next.Pattern, t.figure(b))
	}
	if t.Basis.Metric.Better == measure.Higher {
		if a/b < 1.5 {
			return fmt.Sprintf(", %.1f %% more than the next, %s", (a/b-1)*100, next.Pattern)
		}
		return fmt.Sprintf(", %s × the next, %s", factor(a/b), next.Pattern)
	}
	if b/a < 1.5 {
		return fmt.Sprintf("; the next, %s, takes %.1f %% longer", next.Pattern, (b/a-1)*100)
	}
	return fmt.Sprintf("; the next, %s, takes %s × as long", next.Pattern, factor(b/a))
}

func factor(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// figure writes a value of the basis figure with its unit.
func (t *Test) figure(v float64) string { return valueText(t.Basis.Metric, v) }

// figures lists the estimates of a few patterns, or their range.
func (t *Test) figures(places []Place) string {
	if len(places) > 3 {
		a, b := *places[0].Estimate, *places[len(places)-1].Estimate
		return t.figure(min(a, b)) + " to " + t.figure(max(a, b))
	}
	var out []string
	for _, p := range places {
		out = append(out, t.figure(*p.Estimate))
	}
	return and(out)
}

func names(places []Place) string {
	if len(places) > 4 {
		return fmt.Sprintf("%d patterns", len(places))
	}
	var out []string
	for _, p := range places {
		out = append(out, p.Pattern)
	}
	return and(out)
}

func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}

// caveats are what a reader must know before believing the answer.
func (t *Test) caveats() []string {
	var out []string
	trials, medium, low := 0, 0, 0
	for _, r := range t.Rows {
		trials += r.Trials
		medium += r.Confidence.Medium
		low += r.Confidence.Low
	}
	if n := len(t.Failures); n > 0 {
		out = append(out, fmt.Sprintf("%d of %s failed and %s not in the figures.", n, measure.Plural(trials+n, "trial"), isAre(n)))
	}
	mediumText, lowText := "%d of %s never became steady.", "%d of %s %s too short to judge."
	if t.Test == measure.TestConnect {
		mediumText, lowText = "%d of %s had enough connections for a median but not for the tail.", "%d of %s %s too short for percentiles."
	} else if t.Basis.isTime() && t.Test != measure.TestTrace {
		mediumText, lowText = "%d of %s had enough round trips for a median but not for the tail.", "%d of %s %s too short for percentiles."
	}
	if medium > 0 {
		out = append(out, fmt.Sprintf(mediumText, medium, measure.Plural(trials, "trial")))
	}
	if low > 0 && t.Test != measure.TestTrace {
		out = append(out, fmt.Sprintf(lowText, low, measure.Plural(trials, "trial"), wasWere(low)))
	}
	out = append(out, t.ingestCaveats(trials+len(t.Failures))...)
	if t.ByHand && len(t.Rows) > 1 {
		out = append(out, "These trials were run by hand: nothing interleaved them, so a change over time can look like a difference.")
	}
	if f := t.Floor; f != nil {
		out = append(out, fmt.Sprintf("Tool and host add %s by themselves (median on this host's loopback, mean of %s).", measure.FormatLatency(f.Mean), measure.Plural(f.N, "reading")))
	}
	return out
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
