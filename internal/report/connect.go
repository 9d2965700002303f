package report

import "soku/internal/measure"

const connectionsFigure = "connections_per_second"

// connectBasis ranks by connections a second. Where every trial had a rate to
// keep they would all be alike, and the set-up time is what differs; so it is
// where an ingested trial tells of set-ups only.
func connectBasis(results []*measure.Result) Basis {
	for _, r := range results {
		if r.Options.RequestRate == 0 && (r.Origin == nil || r.Summary.ConnectionsPerSecond > 0) {
			return Basis{Figure: connectionsFigure, HigherIsBetter: true, Text: "connections a second, higher is better"}
		}
	}
	return roundTripBasis(results, "set-up time")
}

// connectionsOf is a result's connections a second.
func connectionsOf(r *measure.Result) (float64, bool) {
	return r.Summary.ConnectionsPerSecond, r.Test == measure.TestConnect && r.Summary.ConnectionsPerSecond > 0
}

// connectionSeries is a trial over time: connections a second of each live interval.
func connectionSeries(l *measure.Latency, most int) []point {
	if l == nil || len(l.Rows) == 0 {
		return nil
	}
	per := (len(l.Rows) + most - 1) / most
	var out []point
	for i := 0; i < len(l.Rows); i += per {
		run := l.Rows[i:min(i+per, len(l.Rows))]
		from, to := float64(run[0].StartNs)/1e9, float64(run[len(run)-1].EndNs)/1e9
		var n float64
		for _, row := range run {
			n += float64(counted(row.RTT.Count))
		}
		if to > from {
			out = append(out, point{at: (from + to) / 2, value: n / (to - from)})
		}
	}
	return out
}

// higherScales are the units of a basis figure of which more is better.
func (t *Test) higherScales() []scale {
	switch t.Basis.Figure {
	case connectionsFigure:
		return eventScales
	case mtuFigure:
		return byteScales
	}
	return rateScales
}

// connectColumns are the rates of connections, before their set-up times.
func (t *Test) connectColumns(out *table) {
	if list, found := t.spreads(func(r *Row) *Spread { return r.CPS }); found {
		out.add(column{Name: "connections/s", Number: true, Why: "mean of the round means, counted at the server"}, func(i int) string { return countText(list[i]) })
	}
}

// wait is what the times of a test's histogram are of, and waits several.
func (t *Test) wait() string {
	if t.Test == measure.TestConnect {
		return "set-up"
	}
	return "round trip"
}

func (t *Test) waits() string { return t.wait() + "s" }

// lossText says what the loss of a test with a histogram counts.
func (t *Test) lossText() string {
	if t.Test == measure.TestConnect {
		return "attempts that came to no connection"
	}
	return "requests without a reply in time"
}
