package report

import (
	"fmt"
	"slices"
	"strings"

	"soku/internal/measure"
)

// Reported are the round trips of trials without a histogram, as the sources of
// ingested results sum them up. Nothing is averaged but means: of percentiles
// Min and Max are what counts, their range over the trials.
type Reported struct {
	Trials int     `json:"trials"`
	Ranged bool    `json:"ranged,omitempty"` // trials are the ends of a published range: their mean is of no trials that were made
	Min    *Spread `json:"min,omitempty"`
	Mean   *Spread `json:"mean,omitempty"`
	P50    *Spread `json:"p50,omitempty"`
	P90    *Spread `json:"p90,omitempty"`
	P95    *Spread `json:"p95,omitempty"`
	P99    *Spread `json:"p99,omitempty"`
	P999   *Spread `json:"p99_9,omitempty"`
	P9999  *Spread `json:"p99_99,omitempty"`
	Max    *Spread `json:"max,omitempty"`
}

// Lack is what ingested results do not have, and how many of them.
type Lack struct {
	Text   string `json:"text"`
	Trials int    `json:"trials"`
}

// Source is a program or a publication that results were taken over from.
type Source struct {
	Text   string `json:"text"` // "iperf3 3.12, read by soku 1.2"
	Trials int    `json:"trials"`
}

// reportedOf are the figures of a result that has no histogram, nil for others.
func reportedOf(r *measure.Result) *measure.RTTFigures {
	if histogramOf(r) != nil {
		return nil
	}
	return r.Summary.ReportedRTT
}

func mergeReported(results []*measure.Result, rounds map[int]int) *Reported {
	out := &Reported{}
	for _, r := range results {
		if r.Error == nil && reportedOf(r) != nil {
			out.Trials++
			out.Ranged = out.Ranged || ranged(r)
		}
	}
	if out.Trials == 0 {
		return nil
	}
	spread := func(f func(*measure.RTTFigures) *float64) *Spread {
		return spreadOf(results, rounds, func(r *measure.Result) (float64, bool) {
			if v := reportedOf(r); v != nil {
				return value(f(v))
			}
			return 0, false
		})
	}
	out.Min = spread(func(f *measure.RTTFigures) *float64 { return f.Min })
	out.Mean = spread(func(f *measure.RTTFigures) *float64 { return f.Mean })
	out.P50 = spread(func(f *measure.RTTFigures) *float64 { return f.P50 })
	out.P90 = spread(func(f *measure.RTTFigures) *float64 { return f.P90 })
	out.P95 = spread(func(f *measure.RTTFigures) *float64 { return f.P95 })
	out.P99 = spread(func(f *measure.RTTFigures) *float64 { return f.P99 })
	out.P999 = spread(func(f *measure.RTTFigures) *float64 { return f.P999 })
	out.P9999 = spread(func(f *measure.RTTFigures) *float64 { return f.P9999 })
	out.Max = spread(func(f *measure.RTTFigures) *float64 { return f.Max })
	return out
}

// ranged tells whether a result is the end of a range.
func ranged(r *measure.Result) bool { return r.Origin != nil && r.Origin.Part != "" }

// reportedText writes a percentile of several trials as their range.
func reportedText(s *Spread, unit scale) string {
	switch {
	case s == nil:
		return "–"
	case unit.text(s.Min) == unit.text(s.Max):
		return unit.text(s.Min)
	}
	return unit.text(s.Min) + " to " + unit.text(s.Max)
}

// least, largest and middle make one figure of several trials': of their minima
// the smallest, of their maxima the largest, of their means the mean.
func least(s *Spread) *Spread   { return single(s, func(s *Spread) float64 { return s.Min }) }
func largest(s *Spread) *Spread { return single(s, func(s *Spread) float64 { return s.Max }) }
func middle(s *Spread) *Spread  { return single(s, func(s *Spread) float64 { return s.Mean }) }

// mean is the mean of the trials' means, nil for a range.
func (p *Reported) mean() *Spread {
	if p.Ranged {
		return nil
	}
	return middle(p.Mean)
}

func single(s *Spread, figure func(*Spread) float64) *Spread {
	if s == nil {
		return nil
	}
	v := figure(s)
	return &Spread{Mean: v, Min: v, Max: v, N: s.N}
}

// Figures that a ranking of round trips can rest on.
const (
	medianFigure = "rtt_p50_ns"
	meanFigure   = "rtt_mean_ns"
	middleFigure = "rtt_mean_middle_ns" // of a range, of which a source gives the ends
)

// roundTripBasis ranks by the median. Where a source gives none but a mean, all
// are ranked by their means: a median and a mean do not compare.
func roundTripBasis(results []*measure.Result, waits string) Basis {
	means, missing, ends := true, false, false
	for _, r := range results {
		if r.Error != nil || histogramOf(r) != nil {
			continue
		}
		f := reportedOf(r)
		if f == nil {
			continue
		}
		ends = ends || ranged(r)
		missing = missing || f.P50 == nil
		means = means && f.Mean != nil
	}
	if ends && missing && means {
		return Basis{Figure: middleFigure, Text: "middle between the smallest and the largest mean of a run, lower is better"}
	}
	if missing && means {
		return Basis{Figure: meanFigure, Text: "mean " + waits + ", lower is better"}
	}
	return Basis{Figure: medianFigure, Text: "median " + waits + ", lower is better"}
}

// roundTripValue is the figure of a trial that roundTripBasis names.
func roundTripValue(b Basis, r *measure.Result) (float64, bool) {
	h, f := histogramOf(r), reportedOf(r)
	switch {
	case h != nil && b.Figure != medianFigure:
		return meanOf(h), true
	case h != nil:
		return float64(h.Percentile(50)), true
	case f == nil:
		return 0, false
	case b.Figure != medianFigure:
		return value(f.Mean)
	}
	return value(f.P50)
}

// ingested says which results of a test were taken over and what those lack,
// each with the number of trials, the most frequent first.
func ingested(results []*measure.Result) (sources []Source, lacks []Lack) {
	for _, r := range results {
		if r.Origin == nil {
			continue
		}
		text := sourceText(r)
		if i := slices.IndexFunc(sources, func(s Source) bool { return s.Text == text }); i >= 0 {
			sources[i].Trials++
		} else {
			sources = append(sources, Source{text, 1})
		}
		for _, l := range r.Origin.Lacks {
			if i := slices.IndexFunc(lacks, func(o Lack) bool { return o.Text == l }); i >= 0 {
				lacks[i].Trials++
			} else if len(lacks) < maxWarnings {
				lacks = append(lacks, Lack{l, 1})
			}
		}
	}
	slices.SortStableFunc(sources, func(a, b Source) int { return b.Trials - a.Trials })
	slices.SortStableFunc(lacks, func(a, b Lack) int { return b.Trials - a.Trials })
	return sources, lacks
}

// sourceText is "iperf3 3.12" or what the mapping file says of a publication.
func sourceText(r *measure.Result) string {
	tool := join(" ", r.Origin.Tool, r.Origin.ToolVersion)
	if tool == "" {
		tool = "a table"
	}
	return join(", ", tool, r.Origin.Source)
}

// ingestCaveats are the sentences on results that soku did not measure.
func (t *Test) ingestCaveats(trials int) []string {
	if len(t.Ingested) == 0 {
		return nil
	}
	n, names := 0, []string{}
	for _, s := range t.Ingested {
		n += s.Trials
		names = append(names, s.Text)
	}
	who := "All trials were"
	if n < trials {
		who = fmt.Sprintf("%d of %s %s", n, measure.Plural(trials, "trial"), wasWere(n))
	}
	if len(names) > 4 {
		names = append(names[:4], "others")
	}
	out := []string{fmt.Sprintf("%s ingested, not measured by soku: %s.", who, strings.Join(names, "; "))}
	var parts []string
	for _, l := range t.Lacks {
		text := l.Text
		if l.Trials < trials {
			text += fmt.Sprintf(" (%s)", measure.Plural(l.Trials, "trial"))
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		out = append(out, "What ingested trials lack: "+strings.Join(parts, "; ")+".")
	}
	if t.Rounds > 1 {
		out = append(out, "Nobody knows that the rounds of ingested trials were interleaved: a change over time can look like a difference.")
	}
	return out
}

// reportedColumns are those of a CSV file. Percentiles have the smallest and the
// largest trial and no mean.
func reportedColumns() []csvColumn {
	mean := func(p *Reported) *Spread { return p.Mean }
	out := []csvColumn{
		reportedColumn("min", func(p *Reported) *Spread { return p.Min }, func(s *Spread) float64 { return s.Min }),
		reportedColumn("mean", func(p *Reported) *Spread { return p.mean() }, func(s *Spread) float64 { return s.Mean }),
		reportedColumn("mean_low", mean, func(s *Spread) float64 { return s.Min }),
		reportedColumn("mean_high", mean, func(s *Spread) float64 { return s.Max }),
	}
	for _, c := range []struct {
		name string
		pick func(*Reported) *Spread
	}{
		{"p50", func(p *Reported) *Spread { return p.P50 }}, {"p90", func(p *Reported) *Spread { return p.P90 }},
		{"p95", func(p *Reported) *Spread { return p.P95 }}, {"p99", func(p *Reported) *Spread { return p.P99 }},
		{"p99_9", func(p *Reported) *Spread { return p.P999 }}, {"p99_99", func(p *Reported) *Spread { return p.P9999 }},
	} {
		out = append(out,
			reportedColumn(c.name+"_low", c.pick, func(s *Spread) float64 { return s.Min }),
			reportedColumn(c.name+"_high", c.pick, func(s *Spread) float64 { return s.Max }))
	}
	return append(out, reportedColumn("max", func(p *Reported) *Spread { return p.Max }, func(s *Spread) float64 { return s.Max }))
}

func reportedColumn(name string, pick func(*Reported) *Spread, figure func(*Spread) float64) csvColumn {
	return csvColumn{"rtt_reported_" + name + "_ns", func(_ *Test, r *Row) string {
		if r.Reported == nil || pick(r.Reported) == nil {
			return ""
		}
		return exact(figure(pick(r.Reported)))
	}}
}
