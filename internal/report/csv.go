package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"soku/internal/measure"
	"soku/internal/text"
)

// CSV writes one row a test and pattern (RFC 4180, UTF-8), figures in base
// units that the column's name ends with. Factors are columns named
// factor_NAME. A cell is empty where the test does not measure the figure.
func (r *Report) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	factors := r.factors()
	header := csvHeader(factors)
	columns := csvColumns()
	for _, c := range columns {
		header = append(header, c.name)
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for i := range r.Tests {
		t := &r.Tests[i]
		rows := slices.Concat(t.Rows, t.ControlRows)
		for j := range rows {
			row := &rows[j]
			line := r.csvStart(t, row, factors)
			for _, c := range columns {
				line = append(line, c.cell(t, row))
			}
			if err := out.Write(line); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// factors are those of all tests, in the order of the first that has each.
func (r *Report) factors() []string {
	var out []string
	for _, t := range r.Tests {
		for _, f := range t.Factors {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// csvHeader names the columns of [Report.csvStart].
func csvHeader(factors []string) []string {
	header := []string{"campaign", "label", "test", "pattern"}
	for _, f := range factors {
		header = append(header, "factor_"+clean(f))
	}
	return header
}

// csvStart is the cells that say which pattern a line is of.
func (r *Report) csvStart(t *Test, row *Row, factors []string) []string {
	line := []string{csvText(r.Campaign.ID), csvText(testView{t, text.ForPrograms()}.label()), csvText(string(t.Test)), csvText(row.Pattern)}
	for _, f := range factors {
		line = append(line, csvText(levelOf(row.Levels, f)))
	}
	return line
}

// levelOf is the level of a factor; empty without one.
func levelOf(levels []measure.Level, factor string) string {
	for _, l := range levels {
		if l.Factor == factor {
			return l.Value
		}
	}
	return ""
}

// csvText guards a text from outside: a spreadsheet takes a cell that begins
// with one of these, some also in full width, for a formula. Numbers stay as they are.
func csvText(s string) string {
	s = clean(s)
	if first, _ := utf8.DecodeRuneInString(s); s == "" || !strings.ContainsRune("=+-@＝＋－＠", first) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}

type csvColumn struct {
	name string
	cell func(*Test, *Row) string
}

// csvColumns are what a file has of a row, in the order of the file.
func csvColumns() []csvColumn {
	count := func(n func(*Row) int) func(*Test, *Row) string {
		return func(_ *Test, r *Row) string { return strconv.Itoa(n(r)) }
	}
	out := []csvColumn{
		{"rank", func(_ *Test, r *Row) string {
			return rankText(r.Rank)
		}},
		{"rank_basis", func(t *Test, _ *Row) string { return t.Basis.Metric.Key }},
		{"estimate", placed(func(p *Place) *float64 { return p.Estimate })},
		{"estimate_low95", placed(func(p *Place) *float64 { return p.Low })},
		{"estimate_high95", placed(func(p *Place) *float64 { return p.High })},
		{"trials", count(func(r *Row) int { return r.Trials })},
		{"failed", count(func(r *Row) int { return r.Failed })},
		{"confidence_high", count(func(r *Row) int { return r.Confidence.High })},
		{"confidence_medium", count(func(r *Row) int { return r.Confidence.Medium })},
		{"confidence_low", count(func(r *Row) int { return r.Confidence.Low })},
	}
	for _, key := range csvFirst {
		out = append(out, metricColumns(measure.MetricByKey(key))...)
	}
	out = append(out, csvColumn{"ingested", count(func(r *Row) int { return r.Ingested })})
	out = append(out,
		csvColumn{"rank_low", ofPlace(func(p *Place) string { return rankText(p.RankLow) })},
		csvColumn{"rank_high", ofPlace(func(p *Place) string { return rankText(p.RankHigh) })},
		csvColumn{"best", ofPlace(func(p *Place) string {
			if p.RankLow == 0 {
				return ""
			}
			return strconv.FormatBool(p.Best)
		})},
		csvColumn{"letters", ofPlace(func(p *Place) string { return p.Letters })},
	)
	out = append(out, limitColumns()...)
	for _, m := range measure.Metrics() {
		if !slices.Contains(csvFirst, m.Key) {
			out = append(out, metricColumns(m)...)
		}
	}
	return append(out, verdictColumns()...)
}

// rankText is empty for 0, which is no rank.
func rankText(rank int) string {
	if rank == 0 {
		return ""
	}
	return strconv.Itoa(rank)
}

// csvFirst are the metrics of the first version of the format, in its order. Those
// that came later stand behind its columns, in the order of [measure.Metrics].
var csvFirst = []string{
	"goodput_bps", "forward_bps", "reverse_bps", "loss_ratio", "jitter_ns", "packets_per_second", "retransmits", "connections_per_second",
	"rtt_count", "rtt_min_ns", "rtt_mean_ns", "rtt_p50_ns", "rtt_p90_ns", "rtt_p95_ns", "rtt_p99_ns", "rtt_p99_9_ns", "rtt_p99_99_ns", "rtt_max_ns",
	"rtt_run_mean_ns", "rtt_loss_ratio", "floor_ns", "cpu_seconds_per_gb", "fairness_index",
	"idle_rtt_p50_ns", "idle_rtt_p99_ns", "loaded_rtt_p50_ns", "loaded_rtt_p99_ns", "loaded_rtt_max_ns", "responsiveness_rpm",
	"rtt_reported_min_ns", "rtt_reported_mean_ns", "rtt_reported_p50_ns", "rtt_reported_p90_ns", "rtt_reported_p95_ns", "rtt_reported_p99_ns",
	"rtt_reported_p99_9_ns", "rtt_reported_p99_99_ns", "rtt_reported_max_ns", "duration_ns",
}

// metricColumns are the columns of a metric.
func metricColumns(m *measure.Metric) []csvColumn {
	var out []csvColumn
	for _, c := range m.CSVColumns() {
		out = append(out, csvColumn{c.Name, func(_ *Test, r *Row) string {
			if s := r.figure(m); s != nil {
				if v, known := s.part(c.Part); known {
					return exact(v)
				}
			}
			return ""
		}})
	}
	return out
}

// placed is a figure of the row's place.
func placed(pick func(*Place) *float64) func(*Test, *Row) string {
	return ofPlace(func(p *Place) string {
		if v := pick(p); v != nil {
			return exact(*v)
		}
		return ""
	})
}

// ofPlace is a cell of the row's place; empty without one.
func ofPlace(cell func(*Place) string) func(*Test, *Row) string {
	return func(t *Test, r *Row) string {
		if p := t.place(r.Pattern); p != nil {
			return cell(p)
		}
		return ""
	}
}

// place is the place of a pattern in the ranking, nil for none.
func (t *Test) place(pattern string) *Place {
	for i := range t.Ranking {
		if t.Ranking[i].Pattern == pattern {
			return &t.Ranking[i]
		}
	}
	return nil
}

// exact writes a figure with ten digits, more than any of them means, and
// without an exponent.
func exact(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 10, 64), 64)
	if err != nil {
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
