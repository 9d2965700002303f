package ingest

import (
	"strings"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// lagscope reads the output of lagscope at the client, with or without percentiles, over TCP. Its histogram
// (-H) is not read: its intervals are the user's.
func lagscope(s *Source) ([]*measure.Result, error) {
	return s.runs(func(line string, at, record int) (run, error) {
		version, ok := strings.CutPrefix(strings.TrimSpace(line), "lagscope ")
		switch {
		case !ok || !startsWithDigit(version):
			return nil, nil
		case record > maxRecords:
			return nil, s.fail(at, "ingest.too_many.runs", measure.Figures{"tool": "lagscope", "limit": maxRecords})
		}
		r := newReading(measure.TestLatency, "lagscope", version, record, at)
		r.Options.Own = latency.Options{Protocol: "tcp"}
		return &lagscopeRun{r: r}, nil
	})
}

type lagscopeRun struct {
	r   *measure.Result
	rtt measure.RTTFigures
}

// line reads a line with or without its time, "09:11:22 INFO: ".
func (p *lagscopeRun) line(s *Source, at int, line string) error {
	if _, rest, ok := strings.Cut(line, " INFO: "); ok {
		line = rest
	}
	line = strings.TrimSpace(line)
	if to, ok := strings.CutPrefix(line, "Ping statistics for "); ok {
		p.r.Path.Server = measure.Endpoint{Address: short(strings.TrimSuffix(to, ":"))}
		return nil
	}
	if text, ok := strings.CutPrefix(line, "Number of successful Pings: "); ok {
		if p.rtt.Count, ok = count(text); !ok {
			return s.fail(at, "ingest.number.count", measure.Figures{"tool": "lagscope", "text": short(text)})
		}
		return nil
	}
	if _, to, ok := strings.Cut(line, "] --> "); ok && strings.HasPrefix(line, "New connection: ") {
		p.r.Options.Port = portOf(to)
		return nil
	}
	if strings.HasPrefix(line, "Minimum = ") {
		return p.figures(s, at, strings.Split(line, ", "))
	}
	return p.percentile(s, at, line)
}

// figures reads "Minimum = 108.121us", "Maximum = 4102.002us" and "Average = 160.711us".
func (p *lagscopeRun) figures(s *Source, at int, parts []string) error {
	to := map[string]**float64{"Minimum": &p.rtt.Min, "Maximum": &p.rtt.Max, "Average": &p.rtt.Mean}
	for _, part := range parts {
		name, value, _ := strings.Cut(part, " = ")
		v, ok := span(value)
		if to[name] == nil || !ok {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "lagscope", "text": short(part)})
		}
		*to[name] = &v
	}
	return nil
}

// percentile reads "Percentile (99%) = 301us", and a row of the table of older versions, "99% 	 301".
func (p *lagscopeRun) percentile(s *Source, at int, line string) error {
	rest, isLine := strings.CutPrefix(line, "Percentile (")
	name, value, ok := strings.Cut(rest, "%")
	if !ok || !isLine && !startsWithDigit(line) {
		return nil
	}
	to := p.rtt.Percentile(name)
	if to == nil {
		return nil
	}
	value = strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(value, ") =")), "us")
	v, ok := number(value)
	if !ok {
		return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "lagscope", "text": short(line)})
	}
	*to = new(v * 1e3)
	return nil
}

func (p *lagscopeRun) result(s *Source) (*measure.Result, error) {
	if p.rtt.Mean == nil || p.rtt.Count <= 0 {
		return nil, s.cutOff("ingest.cut_off.lagscope", nil)
	}
	r := p.r
	missing(r, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline, finding.NoIntervals, finding.NoLoss, finding.NoHistogram)
	if p.rtt.P50 == nil {
		missing(r, finding.NoPercentiles)
	} else {
		missing(r, finding.RoundedFigures)
	}
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "lagscope"}, Sent: p.rtt.Count, Received: p.rtt.Count}
	r.Summary.ReportedRTT = &p.rtt
	return r, nil
}

// portOf is the port of "HOST:PORT", or 0.
func portOf(text string) int {
	n, ok := count(text[strings.LastIndexByte(text, ':')+1:])
	if !ok || n >= 65536 {
		return 0
	}
	return int(n)
}
