package catalog

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
)

// Values of the attributes of a limit. The zero value of each is the first that
// docs/reference/catalog.md names.
const (
	In  = "in"  // into the component
	Out = "out" // out of it

	Single = "single" // one flow

	Burst = "burst" // for a while, at the cost of an allowance
)

// Component is one thing with documented limits, such as a size of virtual machine.
type Component struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Limits []Limit `json:"limits"` // not empty; in the order of the files

	also string // other words that people search for
}

// searched is the text in which a search looks for its words: the identity, the name and other words for them, and
// what its limits are of.
func (c *Component) searched() string {
	words := []string{c.ID, c.Name, c.also}
	for _, l := range c.Limits {
		words = append(words, l.Flow, l.Duration)
	}
	return strings.ToLower(strings.Join(words, " "))
}

// Limit is one documented figure of a component.
type Limit struct {
	Figure    string  `json:"figure"` // see [Figures]
	Value     float64 `json:"value"`  // in Unit
	Unit      string  `json:"unit"`
	Direction string  `json:"direction,omitempty"` // In or Out; empty: each direction
	Flow      string  `json:"flow,omitempty"`      // Single; empty: all flows together
	Duration  string  `json:"duration,omitempty"`  // Burst; empty: sustained
	Source    string  `json:"source"`              // address of the page
	Date      string  `json:"date"`                // day on which it was read, YYYY-MM-DD
}

// Metric returns the key of the metric that tests measure for the figure, or an empty string if
// no test does.
func (l Limit) Metric() string {
	return figureOf(l.Figure).metric
}

// kind is all of a limit but its value and where it was read.
func (l Limit) kind() Limit {
	return Limit{Figure: l.Figure, Direction: l.Direction, Flow: l.Flow, Duration: l.Duration}
}

// Role is where a component is in a trial.
type Role int

// Roles. A gateway, a circuit or whatever is not bound to one end is on the path.
const (
	OnPath Role = iota
	AtClient
	AtServer
)

// Of are the limits of the component of what a trial with these options measures, of each
// metric the smallest. A limit of one flow counts for one stream only. Burst counts where both
// that and a sustained figure are documented: a trial is short. With both directions the limits
// of goodput are those of each direction.
func (c *Component) Of(role Role, o measure.Options) []measure.Limit {
	var out []measure.Limit
	directions := o.Direction.Flows()
	for _, d := range directions {
		for _, l := range c.Limits {
			metric := metricOf(l.Figure, d, len(directions) > 1)
			switch {
			case metric == "", l.Flow == Single && o.Streams > 1, !passes(l.Direction, role, d):
				continue
			case l.Duration == "" && c.has(l, Burst):
				continue
			}
			out = append(out, measure.Limit{Metric: metric, Value: l.Value, Component: c.Name, Source: l.Source, Date: l.Date})
		}
	}
	slices.SortStableFunc(out, func(a, b measure.Limit) int {
		return cmp.Or(strings.Compare(a.Metric, b.Metric), cmp.Compare(a.Value, b.Value))
	})
	return slices.CompactFunc(out, func(a, b measure.Limit) bool { return a.Metric == b.Metric })
}

// has reports whether the component has a limit as l, but of this duration.
func (c *Component) has(l Limit, duration string) bool {
	want := l.kind()
	want.Duration = duration
	return slices.ContainsFunc(c.Limits, func(o Limit) bool { return o.kind() == want })
}

// passes reports whether packets of a direction of a trial go through a component in the
// direction of a limit. Through one on the path they go in and out.
func passes(limit string, role Role, d measure.Direction) bool {
	switch {
	case limit == "" || role == OnPath:
		return true
	case (role == AtClient) == (d == measure.Forward):
		return limit == Out
	}
	return limit == In
}
