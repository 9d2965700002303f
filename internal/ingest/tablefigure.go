package ingest

import (
	"math"
	"slices"
	"strings"
	"sync"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

// tableFigure is a figure that a column can hold.
type tableFigure struct {
	name string
	kind unitKind
	main bool // a result needs at least one of these
	// metrics are the keys of the metrics that the figure sets: it applies to tests that
	// have one of them. nil: all tests.
	metrics []string
	put     func(*tableRow, float64)
}

type unitKind int

const (
	rateUnit unitKind = iota
	timeUnit
	bytesUnit
	ratioUnit
	countUnit
)

// tableRow is a result while its figures are read.
type tableRow struct {
	r     *measure.Result
	flow  measure.Summary
	rtt   measure.RTTFigures
	bytes float64
}

// tableFigures are all figures; they are looked up for each cell of a table.
var tableFigures = sync.OnceValue(func() []tableFigure {
	rtt := func(name string, field func(*measure.RTTFigures) **float64) tableFigure {
		return tableFigure{name, timeUnit, true, []string{"rtt_count"}, func(t *tableRow, v float64) { *field(&t.rtt) = new(v) }}
	}
	return []tableFigure{
		{"goodput", rateUnit, true, []string{"goodput_bps"}, func(t *tableRow, v float64) { t.flow.GoodputBps = v }},
		{"bytes", bytesUnit, true, []string{"goodput_bps"}, func(t *tableRow, v float64) { t.bytes = v }},
		{"duration", timeUnit, false, nil, func(t *tableRow, v float64) { t.flow.DurationNs = measure.Duration(v) }},
		{"retransmits", countUnit, false, []string{"retransmits"}, func(t *tableRow, v float64) { t.flow.Retransmits = new(int64(v)) }},
		{"loss", ratioUnit, false, []string{"loss_ratio", "rtt_loss_ratio"}, func(t *tableRow, v float64) { t.flow.LossRatio = new(v) }},
		{"jitter", timeUnit, false, []string{"jitter_ns"}, func(t *tableRow, v float64) { t.flow.JitterNs = new(v) }},
		{"packets_per_second", countUnit, true, []string{"packets_per_second"}, func(t *tableRow, v float64) { t.flow.PacketsPerSecond = v }},
		{"connections_per_second", countUnit, true, []string{"connections_per_second"}, func(t *tableRow, v float64) { t.flow.ConnectionsPerSecond = v }},
		rtt("min", func(f *measure.RTTFigures) **float64 { return &f.Min }),
		rtt("mean", func(f *measure.RTTFigures) **float64 { return &f.Mean }),
		rtt("p50", func(f *measure.RTTFigures) **float64 { return &f.P50 }),
		rtt("p90", func(f *measure.RTTFigures) **float64 { return &f.P90 }),
		rtt("p95", func(f *measure.RTTFigures) **float64 { return &f.P95 }),
		rtt("p99", func(f *measure.RTTFigures) **float64 { return &f.P99 }),
		rtt("p99_9", func(f *measure.RTTFigures) **float64 { return &f.P999 }),
		rtt("p99_99", func(f *measure.RTTFigures) **float64 { return &f.P9999 }),
		rtt("max", func(f *measure.RTTFigures) **float64 { return &f.Max }),
		rtt("std_dev", func(f *measure.RTTFigures) **float64 { return &f.StdDev }),
		{"count", countUnit, false, []string{"rtt_count"}, func(t *tableRow, v float64) { t.rtt.Count = int64(v) }},
	}
})

func figureOf(name string) (tableFigure, bool) {
	all := tableFigures()
	i := slices.IndexFunc(all, func(f tableFigure) bool { return f.name == name })
	if i < 0 {
		return tableFigure{}, false
	}
	return all[i], true
}

func figureNames() (names []string) {
	for _, f := range tableFigures() {
		names = append(names, f.name)
	}
	return names
}

// fits reports whether a test has the figure.
func (f tableFigure) fits(test measure.Test) bool {
	return f.metrics == nil || slices.ContainsFunc(f.metrics, func(key string) bool {
		return slices.Contains(metric.ByKey(key).Tests(), test)
	})
}

// scale is a unit in base units.
type scale struct {
	name string
	per  float64
}

func (k unitKind) scales() []scale {
	switch k {
	case rateUnit:
		return []scale{
			{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {"Tbit/s", 1e12},
			{"B/s", 8}, {"kB/s", 8e3}, {"MB/s", 8e6}, {"GB/s", 8e9}, {"KiB/s", 8 << 10}, {"MiB/s", 8 << 20}, {"GiB/s", 8 << 30},
		}
	case timeUnit:
		return []scale{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"m:s", 1e9}}
	case bytesUnit:
		return []scale{
			{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
			{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		}
	case ratioUnit:
		return []scale{{"ratio", 1}, {"%", 0.01}}
	}
	return []scale{{"", 1}, {"1", 1}, {"k", 1e3}, {"M", 1e6}}
}

func (f tableFigure) unit(name string) (scale, bool) {
	all := f.kind.scales()
	i := slices.IndexFunc(all, func(s scale) bool { return s.name == name })
	if i < 0 {
		return scale{}, false
	}
	return all[i], true
}

func (f tableFigure) units() (names []string) {
	for _, s := range f.kind.scales() {
		if s.name != "" {
			names = append(names, s.name)
		}
	}
	return names
}

// read converts a cell to base units. Minutes and seconds, and hours before them, are
// separated by colons.
func (f tableFigure) read(text string, u scale) (float64, bool) {
	text = strings.TrimSpace(text)
	if u.name == "m:s" {
		var sum float64
		parts := strings.Split(text, ":")
		if len(parts) < 2 || len(parts) > 3 {
			return 0, false
		}
		for i, p := range parts {
			v, ok := number(p)
			if !ok || i > 0 && v >= 60 {
				return 0, false
			}
			sum = sum*60 + v
		}
		return sum * u.per, plausible(sum * u.per)
	}
	v, ok := number(strings.TrimSpace(strings.TrimSuffix(text, u.name)))
	if v *= u.per; !ok || !plausible(v) || f.kind == ratioUnit && v > 1 {
		return 0, false
	}
	if f.kind != ratioUnit && v < 1e12 {
		v = math.Round(v*1e3) / 1e3 // 4.02 GB and 0.233 ms are not exact in binary
	}
	return v, true
}

// limits returns the metric whose documented limit a column of the figure can hold, or nil if
// there is none. Only figures where more is better have a limit that can be reached.
func (f tableFigure) limits() *metric.Definition {
	for _, key := range f.metrics {
		m := metric.ByKey(key)
		if m.Better == metric.Higher && (f.name == m.Key || f.name == m.Name()) {
			return m
		}
	}
	return nil
}

// checkLimits checks the limits of a result; at is its path.
func (m *Mapping) checkLimits(at string, r *Mapped, test measure.Test) error {
	for _, c := range r.Limits {
		path := at + ".limits." + c.Name
		f, known := figureOf(c.Name)
		if !known || f.limits() == nil || !f.fits(test) {
			return m.fail(path, "ingest.mapping.limit", measure.Figures{"figure": short(c.Name), "figures": limitedFigures(test)})
		}
		if _, ok := f.unit(c.Unit); !ok {
			return m.fail(path, "ingest.mapping.unit", measure.Figures{"figure": c.Name, "unit": short(c.Unit), "units": f.units()})
		}
	}
	return nil
}

// limitedFigures are the figures of a test that can have a limit.
func limitedFigures(test measure.Test) (out []string) {
	for _, f := range tableFigures() {
		if f.limits() != nil && f.fits(test) {
			out = append(out, f.name)
		}
	}
	return out
}

// setLimits gives a result the limits that the mapping names; an empty cell is an unknown limit.
func (m *Mapping) setLimits(s *Source, line int, r *measure.Result, cells Cells, row map[string]string) error {
	for _, c := range cells {
		text := c.text(row)
		if text == "" {
			continue
		}
		f, _ := figureOf(c.Name)
		u, _ := f.unit(c.Unit)
		v, ok := f.read(text, u)
		if !ok || v <= 0 {
			return s.fail(line, "ingest.table.figure", measure.Figures{"figure": c.Name, "text": short(text), "unit": c.Unit})
		}
		r.Origin.Limits = append(r.Origin.Limits, measure.Limit{Metric: f.limits().Key, Value: v})
	}
	return nil
}
