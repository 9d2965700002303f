package ethr

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
)

// rule is the line above and below the table of round trips.
const rule = "-----------------------------------------------------------------------------------------"

// trips are Ethr's figures of a batch of round trips, in the order of the table.
type trips [9]time.Duration

// figures sorts all, at least one. A percentile is one of the values, the one before the
// rank, without interpolation.
func figures(all []time.Duration) (t trips) {
	slices.Sort(all)
	for _, d := range all {
		t[0] += d
	}
	t[0] /= time.Duration(len(all))
	n := max(len(all), 2) // with a single value every percentile is that value
	t[1], t[8] = all[0], all[len(all)-1]
	for i, percent := range []float64{50, 90, 95, 99, 99.9, 99.99} {
		t[2+i] = all[min(max(int(float64(n)*percent/100)-1, 0), len(all)-1)]
	}
	return t
}

func (t trips) texts() (out []string) {
	for _, d := range t {
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
// The figures are soku's: percentiles of histograms. A percentile that a row has too few round trips
// for is its largest one, because Ethr's rows have no empty column.
func WriteTable(w io.Writer, rows []measure.Percentiles) error {
	if _, err := fmt.Fprintf(w, "%s\n%s\n", rule, tripsHeadRow()); err != nil {
		return err
	}
	for _, p := range rows {
		var t trips
		for i, ns := range []float64{p.Mean, p.Min, p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999, p.Max} {
			t[i] = time.Duration(cmp.Or(ns, p.Max))
		}
		if _, err := fmt.Fprintln(w, columns(t.texts()...)); err != nil {
			return err
		}
	}
	return nil
}
