package ingest

import (
	"strings"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// latte reads the output of latte on Windows at the client, without its histogram. Its latency is the mean of
// whole round trips.
func latte(s *Source) ([]*measure.Result, error) {
	return s.runs(func(line string, at, record int) (run, error) {
		protocol, ok := latteValue(line, "Protocol")
		switch {
		case !ok:
			return nil, nil
		case record > maxRecords:
			return nil, s.fail(at, "ingest.too_many.runs", measure.Figures{"tool": "latte", "limit": maxRecords})
		}
		r := newReading(measure.TestLatency, "latte", "", record, at)
		if protocol = strings.ToLower(protocol); protocol == "tcp" || protocol == "udp" {
			r.Options.Own = latency.Options{Protocol: protocol}
		}
		return &latteRun{r: r}, nil
	})
}

type latteRun struct {
	r     *measure.Result
	count int64
	mean  *float64 // µs
}

// latteValue is the first word after a name, such as of "MsgSize(byte) 4".
func latteValue(line, name string) (value string, ok bool) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != name {
		return "", false
	}
	return words[1], true
}

func (p *latteRun) line(s *Source, at int, line string) error {
	if text, ok := latteValue(line, "Latency(usec)"); ok {
		v, ok := number(text)
		if !ok {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "latte", "text": short(text)})
		}
		p.mean = &v
	}
	if text, ok := latteValue(line, "Iterations"); ok {
		if p.count, ok = count(text); !ok {
			return s.fail(at, "ingest.number.count", measure.Figures{"tool": "latte", "text": short(text)})
		}
	}
	if text, ok := latteValue(line, "MsgSize(byte)"); ok {
		if n, ok := count(text); ok && n <= 1<<30 {
			p.r.Options.Size = measure.Size(n)
		}
	}
	return nil
}

func (p *latteRun) result(s *Source) (*measure.Result, error) {
	if p.mean == nil {
		return nil, s.cutOff("ingest.cut_off.latte", nil)
	}
	r := p.r
	missing(r, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline, finding.NoIntervals, finding.NoLoss, finding.NoHistogram, finding.NoPercentiles)
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "latte"}, Sent: p.count, Received: p.count}
	r.Summary.ReportedRTT = &measure.RTTFigures{Mean: new(*p.mean * 1e3), Count: p.count}
	return r, nil
}
