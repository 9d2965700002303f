package store

import (
	"math"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

// Entry is one line of the history: what a store knows of a result without
// reading its document.
type Entry struct {
	ID        string
	StartedAt time.Time
	Test      measure.Test
	Client    string // as [measure.Endpoint.String] writes it
	Server    string
	Direction measure.Direction
	Via       string // option via, or empty if the test has no such option
	Streams   int    // option streams, or 0 if the test has no such option

	Campaign string // ID, or empty if the test was run by hand
	Pattern  string
	Label    string
	Round    int
	Order    int // within the round
	Repeat   int

	ErrorKind measure.Kind // empty for a trial that succeeded
	Error     string       // its message

	// Figures are the metrics of the test ([metric.Definition]) by their keys. One that
	// the result does not have is absent; a trial that failed has none.
	Figures map[string]float64
}

// EntryOf is the entry of a whole result; an outline has no figures.
func EntryOf(r *measure.Result) Entry {
	e := Entry{
		ID: r.ID, StartedAt: Moment(Nanos(r.StartedAt)), Test: r.Test, Client: r.Path.Client.String(), Server: r.Path.Server.String(),
		Direction: r.Path.Direction, Via: r.Options.Via, Streams: r.Options.Streams, Figures: figuresOf(r),
	}
	if t := r.Trial; t != nil {
		e.Campaign, e.Pattern, e.Label, e.Round, e.Order, e.Repeat = t.Campaign, t.Pattern, t.Label, t.Round, t.Order, t.Repeat
	}
	if r.Error != nil {
		e.ErrorKind, e.Error = r.Error.Kind, r.Error.Message
	}
	return e
}

// figuresOf are all metrics of the result's test that the result has; none of a
// trial that failed.
func figuresOf(r *measure.Result) map[string]float64 {
	out := map[string]float64{}
	if r.Error != nil {
		return out
	}
	for _, family := range metric.Of(r.Test).Families {
		for _, m := range family.Metrics {
			if v, found := m.Value(r); found && !math.IsNaN(v) && !math.IsInf(v, 0) {
				out[m.Key] = v
			}
		}
	}
	return out
}

// EndpointNames are the texts that [Query.Endpoint] finds a result by.
func EndpointNames(r *measure.Result) []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, e := range []measure.Endpoint{r.Path.Client, r.Path.Server} {
		names := []string{e.Name, e.Address}
		if e.Name != "" && e.Label != "" {
			names = append(names, e.String())
		}
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out
}
