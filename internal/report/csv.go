package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
)

// CSV writes one row a test and pattern (RFC 4180, UTF-8), figures in base
// units that the column's name ends with. Factors are columns named
// factor_NAME. A cell is empty where the test does not measure the figure.
func (r *Report) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var factors []string
	for _, t := range r.Tests {
		for _, f := range t.Factors {
			if !slices.Contains(factors, f) {
				factors = append(factors, f)
			}
		}
	}
	header := []string{"campaign", "label", "test", "pattern"}
	for _, f := range factors {
		header = append(header, "factor_"+clean(f))
	}
	for _, c := range csvColumns {
		header = append(header, c.name)
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for i := range r.Tests {
		t := &r.Tests[i]
		for j := range t.Rows {
			row := &t.Rows[j]
			line := []string{csvText(r.Campaign.ID), csvText(t.Label), string(t.Test), csvText(row.Pattern)}
			for _, f := range factors {
				line = append(line, csvText(levelOf(row, f)))
			}
			for _, c := range csvColumns {
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

func levelOf(row *Row, factor string) string {
	for _, l := range row.Levels {
		if l.Factor == factor {
			return l.Value
		}
	}
	return ""
}

// csvText guards a text from outside: a spreadsheet takes a cell that begins
// with one of these for a formula. Numbers stay as they are.
func csvText(s string) string {
	s = clean(s)
	if s == "" || !strings.ContainsRune("=+-@", rune(s[0])) {
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

// csvColumns are the figures, in the order of the file.
var csvColumns = slices.Concat(
	[]csvColumn{
		{"rank", func(_ *Test, r *Row) string {
			if r.Rank == 0 {
				return ""
			}
			return strconv.Itoa(r.Rank)
		}},
		{"rank_basis", func(t *Test, _ *Row) string { return t.Basis.Figure }},
		{"estimate", placed(func(p *Place) *float64 { return p.Estimate })},
		{"estimate_low95", placed(func(p *Place) *float64 { return p.Low })},
		{"estimate_high95", placed(func(p *Place) *float64 { return p.High })},
		{"trials", func(_ *Test, r *Row) string { return strconv.Itoa(r.Trials) }},
		{"failed", func(_ *Test, r *Row) string { return strconv.Itoa(r.Failed) }},
		{"confidence_high", func(_ *Test, r *Row) string { return strconv.Itoa(r.Confidence.High) }},
		{"confidence_medium", func(_ *Test, r *Row) string { return strconv.Itoa(r.Confidence.Medium) }},
		{"confidence_low", func(_ *Test, r *Row) string { return strconv.Itoa(r.Confidence.Low) }},
	},
	spreadColumns("goodput", "bps", func(r *Row) *Spread { return r.Goodput }),
	spreadColumns("forward", "bps", func(r *Row) *Spread { return r.Forward }),
	spreadColumns("reverse", "bps", func(r *Row) *Spread { return r.Reverse }),
	spreadColumns("loss", "ratio", func(r *Row) *Spread { return r.Loss }),
	spreadColumns("jitter", "ns", func(r *Row) *Spread { return r.Jitter }),
	spreadColumns("packets", "per_second", func(r *Row) *Spread { return r.PPS }),
	spreadColumns("retransmits", "segments", func(r *Row) *Spread { return r.Retrans }),
	spreadColumns("connections", "per_second", func(r *Row) *Spread { return r.CPS }),
	[]csvColumn{
		rttColumn("rtt_count", func(r *RTT) float64 { return float64(r.Count) }),
		rttColumn("rtt_min_ns", func(r *RTT) float64 { return r.Min }), rttColumn("rtt_mean_ns", func(r *RTT) float64 { return r.Mean }),
		rttColumn("rtt_p50_ns", func(r *RTT) float64 { return r.P50 }), rttColumn("rtt_p90_ns", func(r *RTT) float64 { return r.P90 }),
		rttColumn("rtt_p95_ns", func(r *RTT) float64 { return r.P95 }), rttColumn("rtt_p99_ns", func(r *RTT) float64 { return r.P99 }),
		rttColumn("rtt_p99_9_ns", func(r *RTT) float64 { return r.P999 }), rttColumn("rtt_p99_99_ns", func(r *RTT) float64 { return r.P9999 }),
		rttColumn("rtt_max_ns", func(r *RTT) float64 { return r.Max }),
		rttColumn("rtt_run_mean_low_ns", func(r *RTT) float64 { return r.MeanLow }), rttColumn("rtt_run_mean_high_ns", func(r *RTT) float64 { return r.MeanHigh }),
		rttColumn("rtt_loss_ratio", func(r *RTT) float64 { return r.LossRatio }),
	},
	spreadColumns("floor", "ns", func(r *Row) *Spread { return r.Floor })[:1],
	spreadColumns("cpu", "seconds_per_gb", func(r *Row) *Spread { return r.CPU })[:1],
	spreadColumns("fairness", "index", func(r *Row) *Spread { return r.Fairness }),
	[]csvColumn{
		loadColumn("idle_rtt_p50_ns", idleOf, func(w *LatencyStats) float64 { return w.P50 }), loadColumn("idle_rtt_p99_ns", idleOf, func(w *LatencyStats) float64 { return w.P99 }),
		loadColumn("loaded_rtt_p50_ns", loadedOf, func(w *LatencyStats) float64 { return w.P50 }), loadColumn("loaded_rtt_p99_ns", loadedOf, func(w *LatencyStats) float64 { return w.P99 }),
		loadColumn("loaded_rtt_max_ns", loadedOf, func(w *LatencyStats) float64 { return w.Max }),
	},
	spreadColumns("responsiveness", "rpm", func(r *Row) *Spread {
		if r.UnderLoad == nil {
			return nil
		}
		return r.UnderLoad.RPM
	}),
	reportedColumns(),
	spreadColumns("duration", "ns", func(r *Row) *Spread { return r.Duration }),
	[]csvColumn{{"ingested", func(_ *Test, r *Row) string { return strconv.Itoa(r.Ingested) }}},
)

func placed(pick func(*Place) *float64) func(*Test, *Row) string {
	return func(t *Test, r *Row) string {
		for i := range t.Ranking {
			if t.Ranking[i].Pattern == r.Pattern {
				if v := pick(&t.Ranking[i]); v != nil {
					return exact(*v)
				}
			}
		}
		return ""
	}
}

func spreadColumns(name, unit string, pick func(*Row) *Spread) []csvColumn {
	column := func(what string, figure func(*Spread) float64) csvColumn {
		return csvColumn{name + "_" + what + "_" + unit, func(_ *Test, r *Row) string {
			if s := pick(r); s != nil {
				return exact(figure(s))
			}
			return ""
		}}
	}
	return []csvColumn{
		column("mean", func(s *Spread) float64 { return s.Mean }),
		column("min", func(s *Spread) float64 { return s.Min }),
		column("max", func(s *Spread) float64 { return s.Max }),
	}
}

func rttColumn(name string, figure func(*RTT) float64) csvColumn {
	return csvColumn{name, func(_ *Test, r *Row) string {
		if r.RTT == nil || r.RTT.Count == 0 && name != "rtt_loss_ratio" && name != "rtt_count" {
			return ""
		}
		return exact(figure(r.RTT))
	}}
}

func loadColumn(name string, waits func(*UnderLoad) *LatencyStats, figure func(*LatencyStats) float64) csvColumn {
	return csvColumn{name, func(_ *Test, r *Row) string {
		if r.UnderLoad == nil || waits(r.UnderLoad) == nil {
			return ""
		}
		return exact(figure(waits(r.UnderLoad)))
	}}
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
