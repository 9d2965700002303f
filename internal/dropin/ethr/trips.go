package ethr

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
)

// rule is the line above and below the table of round trips.
const rule = "-----------------------------------------------------------------------------------------"

// trips are Ethr's figures of a batch of round trips: a percentile is one of the values,
// the one before the rank, without interpolation.
type trips struct{ avg, min, p50, p90, p95, p99, p999, p9999, max time.Duration }

// figures sorts all, at least one.
func figures(all []time.Duration) trips {
	slices.Sort(all)
	sum := time.Duration(0)
	for _, d := range all {
		sum += d
	}
	n := max(len(all), 2) // with a single value every percentile is that value
	at := func(percent float64) time.Duration {
		return all[min(max(int(float64(n)*percent/100)-1, 0), len(all)-1)]
	}
	return trips{
		avg: sum / time.Duration(len(all)), min: all[0], max: all[len(all)-1],
		p50: at(50), p90: at(90), p95: at(95), p99: at(99), p999: at(99.9), p9999: at(99.99),
	}
}

func (t trips) texts() []string {
	var out []string
	for _, d := range []time.Duration{t.avg, t.min, t.p50, t.p90, t.p95, t.p99, t.p999, t.p9999, t.max} {
		out = append(out, duration(d))
	}
	return out
}

// columns is a row of the table of round trips.
func columns(cells ...string) string {
	for i, c := range cells {
		cells[i] = fmt.Sprintf("%9s", c)
	}
	return strings.Join(cells, " ")
}

// tripsHead prints the head of the table.
func (o *output) tripsHead() {
	o.print(rule)
	o.print(tripsHeadRow())
}

func tripsHeadRow() string {
	return columns("Avg", "Min", "50%", "90%", "95%", "99%", "99.9%", "99.99%", "Max")
}

// tripsRow prints a row and writes it to the log.
func (o *output) tripsRow(remote, protocol string, t trips) {
	o.print(columns(t.texts()...))
	o.logTrips(remote, protocol, t)
}

func (o *output) logTrips(remote, protocol string, t trips) {
	x := t.texts()
	o.log(logLatency{o.stamp(), o.title, "LatencyResult", remote, protocol, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]})
}

// WriteTable writes rows of round trips as Ethr's latency table, for scripts that read it.
// The figures are soku's: percentiles of histograms.
func WriteTable(w io.Writer, rows []measure.Percentiles) error {
	if _, err := fmt.Fprintf(w, "%s\n%s\n", rule, tripsHeadRow()); err != nil {
		return err
	}
	for _, p := range rows {
		var cells []string
		for _, ns := range []float64{p.Mean, p.Min, p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999, p.Max} {
			cells = append(cells, duration(time.Duration(ns)))
		}
		if _, err := fmt.Fprintln(w, columns(cells...)); err != nil {
			return err
		}
	}
	return nil
}
