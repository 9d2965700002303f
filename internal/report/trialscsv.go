package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"time"

	"soku/internal/measure"
)

// TrialsCSV writes one row a trial and figure (RFC 4180, UTF-8), tests and patterns in the
// order of the report and trials in that of round and repeat. A trial that failed, or has no
// figure, has one row without a figure. Figures are in the unit of their row.
func (r *Report) TrialsCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	factors := r.factors()
	header := append(csvHeader(factors), "client", "server", "round", "repeat", "session", "started_at", "metric", "unit", "value", "result", "error")
	if err := out.Write(header); err != nil {
		return err
	}
	for i := range r.Tests {
		t := &r.Tests[i]
		rows := slices.Concat(t.Rows, t.ControlRows)
		for j := range rows {
			row := &rows[j]
			start := r.csvStart(t, row, factors)
			for _, x := range row.results {
				if err := writeTrial(out, start, x); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// writeTrial writes the rows of one trial.
func writeTrial(out *csv.Writer, start []string, r *measure.Result) error {
	endpoint := func(of ...measure.Endpoint) string { return cmp.Or(of...).String() }
	client, server := endpoint(r.Path.Client), endpoint(r.Path.Server)
	round, repeat, session := "", "", ""
	if t := r.Trial; t != nil {
		round, repeat = strconv.Itoa(t.Round), strconv.Itoa(t.Repeat)
		if t.Pair != nil {
			client, server = endpoint(t.Pair.Client, r.Path.Client), endpoint(t.Pair.Server, r.Path.Server)
		}
		if t.Session != nil {
			session = t.Session.ID
		}
	}
	line := append(start[:len(start):len(start)],
		csvText(client), csvText(server), round, repeat, csvText(session), r.StartedAt.UTC().Format(time.RFC3339Nano))
	write := func(metric, unit, value, failure string) error {
		return out.Write(append(line[:len(line):len(line)], metric, unit, value, csvText(r.ID), failure))
	}
	if r.Error != nil {
		return write("", "", "", csvText(r.Error.Message))
	}
	found := false
	for _, family := range measure.MetricsOf(r.Test).Families {
		for _, m := range family.Metrics {
			v, known := m.Value(r)
			if !known || finite(v) == nil {
				continue
			}
			found = true
			if err := write(m.Key, m.Unit, exact(v), ""); err != nil {
				return err
			}
		}
	}
	if !found {
		return write("", "", "", "")
	}
	return nil
}
