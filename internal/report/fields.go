package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/printable"
	"soku/internal/text"
)

// line is what a field is read from: a row of a test, and in the file of trials one figure of
// one of its trials.
type line struct {
	report *Report
	test   *Test
	row    *Row
	trial  *measure.Result
	metric *metric.Definition // or nil if the trial has no figure
	figure float64
}

// field is one value of a line: a column of the CSV form, a member of the JSON form, or both.
type field struct {
	column string // its name, or empty if the CSV form does not have the field
	member string // its path with dots between names, or empty if the JSON form does not have the field
	sparse bool   // the JSON form leaves a zero out
	// value returns the value, or nil if the line has none. For a part of Row it returns a
	// pointer to the part, through which the JSON form is read, too.
	value func(line) any
}

// rank is a position in a ranking; the CSV form has an empty cell for 0.
type rank int

// rowFields are the fields of a row, columns in the order of the CSV form. The order of
// members is that of [memberOrder].
func rowFields() []field {
	out := []field{
		{member: "pattern", value: func(l line) any { return &l.row.Pattern }},
		{member: "levels", value: func(l line) any { return &l.row.Levels }},
		{member: "paths", value: func(l line) any { return &l.row.Paths }},
		{column: "rank", member: "rank", value: func(l line) any { return (*rank)(&l.row.Rank) }},
		{column: "rank_basis", value: func(l line) any { return l.test.Basis.Metric.Key }},
		{column: "estimate", value: ofPlace(func(p *Place) any { return p.Estimate })},
		{column: "estimate_low95", value: ofPlace(func(p *Place) any { return p.Low })},
		{column: "estimate_high95", value: ofPlace(func(p *Place) any { return p.High })},
		{column: "trials", member: "trials", value: func(l line) any { return &l.row.Trials }},
		{member: "without_figure", sparse: true, value: func(l line) any { return &l.row.WithoutFigure }},
		{column: "failed", member: "failed", value: func(l line) any { return &l.row.Failed }},
		{column: "confidence_high", value: func(l line) any { return l.row.Confidence.High }},
		{column: "confidence_medium", value: func(l line) any { return l.row.Confidence.Medium }},
		{column: "confidence_low", value: func(l line) any { return l.row.Confidence.Low }},
		{member: "confidence", value: func(l line) any { return &l.row.Confidence }},
		{member: "values", value: func(l line) any { return &l.row.Values }},
		{member: "limits", sparse: true, value: func(l line) any { return &l.row.Limits }},
		{member: "verdict", sparse: true, value: func(l line) any { return &l.row.Verdict }},
		{member: "route", sparse: true, value: func(l line) any { return &l.row.Route }},
	}
	for _, key := range csvFirst {
		out = append(out, columnsOfMetric(metric.ByKey(key))...)
	}
	out = append(out,
		field{column: "ingested", member: "ingested", sparse: true, value: func(l line) any { return &l.row.Ingested }},
		field{column: "rank_low", value: ofPlace(func(p *Place) any { return rank(p.RankLow) })},
		field{column: "rank_high", value: ofPlace(func(p *Place) any { return rank(p.RankHigh) })},
		field{column: "best", value: ofPlace(func(p *Place) any {
			if p.RankLow == 0 {
				return nil
			}
			return p.Best
		})},
		field{column: "letters", value: ofPlace(func(p *Place) any { return p.Letters })},
		field{column: "control", value: func(l line) any {
			if slices.ContainsFunc(l.test.ControlRows, func(c Row) bool { return c.Pattern == l.row.Pattern }) {
				return true
			}
			return nil
		}},
		field{column: "limit", value: ofLimit(func(l *RowLimit) any { return l.Value })},
		field{column: "limit_of", value: ofLimit(func(l *RowLimit) any { return l.Of })},
		field{column: "limit_source", value: ofLimit(func(l *RowLimit) any { return l.Source })},
		field{column: "limit_share_ratio", value: ofLimit(func(l *RowLimit) any { return l.Share })},
	)
	for _, m := range metric.All() {
		if !slices.Contains(csvFirst, m.Key) {
			out = append(out, columnsOfMetric(m)...)
		}
	}
	out = append(out,
		field{column: "limited_by", value: ofVerdict(func(v *RowVerdict) any { return string(v.LimitedBy) })},
		field{column: "limited_by_confidence", value: ofVerdict(func(v *RowVerdict) any { return string(v.Confidence) })},
		field{column: "limited_by_trials", value: ofVerdict(func(v *RowVerdict) any { return v.Trials })},
		field{column: "verdicts", value: ofVerdict(func(v *RowVerdict) any { return v.Of })},
		field{member: "rtt_reported_ns.trials", value: ofReported(func(r *Reported) any { return r.Trials })},
		field{member: "rtt_reported_ns.ranged", sparse: true, value: ofReported(func(r *Reported) any { return r.Ranged })},
	)
	for _, m := range metric.All() {
		out = append(out, membersOfMetric(m)...)
	}
	for _, d := range metric.Distributions() {
		out = append(out, field{member: d.Member + ".histogram", value: func(l line) any {
			if !l.row.has(d) {
				return nil
			}
			return cmp.Or(l.row.Histogram(d), measure.NewHistogram())
		}})
	}
	return out
}

// csvFirst are the metrics of the first version of the format, in its order. Those
// that came later stand behind its columns, in the order of [metric.All].
var csvFirst = []string{
	"goodput_bps", "forward_bps", "reverse_bps", "loss_ratio", "jitter_ns", "packets_per_second", "retransmits", "connections_per_second",
	"rtt_count", "rtt_min_ns", "rtt_mean_ns", "rtt_p50_ns", "rtt_p90_ns", "rtt_p95_ns", "rtt_p99_ns", "rtt_p99_9_ns", "rtt_p99_99_ns", "rtt_max_ns",
	"rtt_run_mean_ns", "rtt_loss_ratio", "floor_ns", "cpu_seconds_per_gb", "fairness_index",
	"idle_rtt_p50_ns", "idle_rtt_p99_ns", "loaded_rtt_p50_ns", "loaded_rtt_p99_ns", "loaded_rtt_max_ns", "responsiveness_rpm",
	"rtt_reported_min_ns", "rtt_reported_mean_ns", "rtt_reported_p50_ns", "rtt_reported_p90_ns", "rtt_reported_p95_ns", "rtt_reported_p99_ns",
	"rtt_reported_p99_9_ns", "rtt_reported_p99_99_ns", "rtt_reported_max_ns", "duration_ns",
}

// rowMembers are the members that rows of the first version of the format begin with, in its
// order, and lastMembers those with which rows end. Between them stand the members that came
// later, in the order of [metric.All].
var (
	rowMembers = []string{
		"pattern", "levels", "paths", "trials", "failed", "ingested", "rank",
		"goodput_bps", "forward_bps", "reverse_bps", "retransmits", "loss_ratio", "jitter_ns", "packets_per_second", "cpu_seconds_per_gb",
		"connections_per_second", "path_mtu_bytes", "route", "fairness_index",
		"latency_under_load.idle", "latency_under_load.loaded", "latency_under_load.responsiveness_rpm",
		"rtt_ns", "rtt_reported_ns", "duration_ns", "floor_ns",
	}
	lastMembers = []string{"confidence", "values", "limits", "verdict"}
)

// memberOrder is the position of a member in a row.
func memberOrder(path string) int {
	if i := slices.IndexFunc(rowMembers, func(m string) bool { return path == m || strings.HasPrefix(path, m+".") }); i >= 0 {
		return i
	}
	return len(rowMembers) + 1 + slices.Index(lastMembers, path)
}

// columnsOfMetric are the columns of a metric, those of rates and times also in the units that
// people compare.
func columnsOfMetric(m *metric.Definition) (out []field) {
	for _, c := range m.CSVColumns() {
		value := func(l line) *float64 {
			if s := l.row.figure(m); s != nil {
				if v, known := s.part(c.Part); known {
					return &v
				}
			}
			return nil
		}
		out = append(out, field{column: c.Name, value: func(l line) any { return value(l) }})
		if name, ok := inMillionths(c.Name); ok {
			out = append(out, field{column: name, value: func(l line) any {
				v := value(l)
				if v != nil {
					*v /= 1e6
				}
				return v
			}})
		}
	}
	return out
}

// inMillionths is the column of a figure in a unit a million times as large: Mbit/s of bit/s, ms
// of ns.
func inMillionths(column string) (name string, ok bool) {
	if name, ok = strings.CutSuffix(column, "_bps"); ok {
		return name + "_mbps", true
	}
	if name, ok = strings.CutSuffix(column, "_ns"); ok {
		return name + "_ms", true
	}
	return "", false
}

// membersOfMetric are the members of a metric. A row that has a distribution has all numbers
// of it, 0 for those that are not known.
func membersOfMetric(m *metric.Definition) (out []field) {
	for _, x := range m.ReportMembers() {
		out = append(out, field{member: x.Path, value: func(l line) any {
			s := l.row.figure(m)
			switch {
			case x.Spread && s != nil:
				return s.Spread
			case x.Spread || !l.row.has(m.Of):
				return nil
			case s == nil && m.Quantile > 0 && l.row.Histogram(m.Of).Count() > 0: // too few round trips
				return nil
			case s == nil:
				return 0.0
			}
			v, _ := s.part(x.Part)
			return v
		}})
	}
	return out
}

// patternFields say which campaign, test and pattern a line belongs to.
func patternFields(factors []string) []field {
	out := []field{
		{column: "campaign", value: func(l line) any { return l.report.Campaign.ID }},
		{column: "label", value: func(l line) any { return testView{l.test, text.ForPrograms()}.label() }},
		{column: "test", value: func(l line) any { return string(l.test.Test) }},
		{column: "pattern", value: func(l line) any { return l.row.Pattern }},
	}
	for _, f := range factors {
		out = append(out, field{column: "factor_" + printable.Words(f), value: func(l line) any { return levelOf(l.row.Levels, f) }})
	}
	return out
}

// trialFields are the fields of one figure of a trial.
func trialFields() []field {
	trial := func(value func(*measure.Trial) any) func(line) any {
		return func(l line) any {
			if l.trial.Trial == nil {
				return nil
			}
			return value(l.trial.Trial)
		}
	}
	metric := func(value func(line) any) func(line) any {
		return func(l line) any {
			if l.metric == nil {
				return nil
			}
			return value(l)
		}
	}
	return []field{
		{column: "client", value: func(l line) any { return cmp.Or(l.pair().Client, l.trial.Path.Client).String() }},
		{column: "server", value: func(l line) any { return cmp.Or(l.pair().Server, l.trial.Path.Server).String() }},
		{column: "round", value: trial(func(t *measure.Trial) any { return t.Round })},
		{column: "repeat", value: trial(func(t *measure.Trial) any { return t.Repeat })},
		{column: "session", value: trial(func(t *measure.Trial) any {
			if t.Session == nil {
				return nil
			}
			return t.Session.ID
		})},
		{column: "started_at", value: func(l line) any { return l.trial.StartedAt.UTC().Format(time.RFC3339Nano) }},
		{column: "metric", value: metric(func(l line) any { return l.metric.Key })},
		{column: "unit", value: metric(func(l line) any { return l.metric.Unit })},
		{column: "value", value: metric(func(l line) any { return l.figure })},
		{column: "result", value: func(l line) any { return l.trial.ID }},
		{column: "error", value: func(l line) any {
			if l.trial.Error == nil {
				return nil
			}
			return l.trial.Error.Message
		}},
	}
}

// pair is the pair of hosts that the plan wants for the trial of the line, or an empty one.
func (l line) pair() measure.Pair {
	if l.trial.Trial == nil || l.trial.Trial.Pair == nil {
		return measure.Pair{}
	}
	return *l.trial.Trial.Pair
}

func ofPlace(value func(*Place) any) func(line) any {
	return func(l line) any {
		if p := l.test.place(l.row.Pattern); p != nil {
			return value(p)
		}
		return nil
	}
}

// ofLimit reads the documented limit of the figure that ranks.
func ofLimit(value func(*RowLimit) any) func(line) any {
	return func(l line) any {
		if limit := l.row.Limit(l.test.Basis.Metric); limit != nil {
			return value(limit)
		}
		return nil
	}
}

func ofVerdict(value func(*RowVerdict) any) func(line) any {
	return func(l line) any {
		if l.row.Verdict == nil {
			return nil
		}
		return value(l.row.Verdict)
	}
}

func ofReported(value func(*Reported) any) func(line) any {
	return func(l line) any {
		if l.row.Reported == nil {
			return nil
		}
		return value(l.row.Reported)
	}
}

// place is the place of a pattern in the ranking, or nil if the ranking does not have it.
func (t *Test) place(pattern string) *Place {
	return find(t.Ranking, func(p *Place) bool { return p.Pattern == pattern })
}

// has reports whether the row has any figure of a distribution.
func (r *Row) has(d *metric.Distribution) bool {
	return slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Metric.Of == d })
}

// levelOf is the level of a factor, or empty if the levels have none.
func levelOf(levels []measure.Level, factor string) string {
	for _, l := range levels {
		if l.Factor == factor {
			return l.Value
		}
	}
	return ""
}
