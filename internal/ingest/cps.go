package ingest

import (
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// cps reads the output of ncps and cps: the connections per second of the whole time, and the percentiles of
// the set-up at a client. What each interval shows is not read.
func cps(s *Source) ([]*measure.Result, error) {
	var open *cpsRun
	return s.runs(func(line string, at, record int) (run, error) {
		words := strings.Fields(line)
		isTable := len(words) > 5 && words[0] == "T(sec)" && words[5] == "Conn/s"
		_, isEnd := strings.CutPrefix(line, cpsEnd)
		switch {
		case !isTable && !isEnd, open != nil && !open.none && (!open.ended || isTable && !open.complete):
			return nil, nil
		case record > maxRecords:
			return nil, s.fail(at, "ingest.too_many.runs", measure.Figures{"tool": "cps", "limit": maxRecords})
		}
		open = &cpsRun{r: newReading(measure.TestConnect, "cps", "", record, at)}
		return open, open.line(s, at, line)
	})
}

// cpsEnd begins the line of the connections per second of the whole time.
const cpsEnd = "###ENDCPS "

type cpsRun struct {
	r               *measure.Result
	seconds         float64 // the last time in the table
	ended, complete bool    // the line of the whole time was read; and one after it
	none            bool    // no connection was established
	rtt             measure.RTTFigures
}

func (p *cpsRun) line(s *Source, at int, line string) error {
	words := strings.Fields(line)
	if len(words) > 5 {
		if v, ok := number(words[0]); ok && v < 1e7 {
			p.seconds = v
		}
	}
	if text, ok := strings.CutPrefix(line, cpsEnd); ok {
		v, ok := number(text)
		if !ok {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "cps", "text": short(text)})
		}
		p.r.Summary.ConnectionsPerSecond, p.ended = v, true
	}
	if text, ok := strings.CutPrefix(line, "###SYNRTT,"); ok {
		p.complete = true
		return p.setUps(s, at, text)
	}
	p.none = p.none || strings.HasPrefix(line, "!!!NO CONNECTIONS WERE ESTABLISHED")
	p.complete = p.complete || p.none
	return nil
}

// setUps reads "25:1100,Median:2200,Mean:5100,75:4000,99.9:1010000" in µs.
func (p *cpsRun) setUps(s *Source, at int, text string) error {
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, ":")
		to := p.rtt.Percentile(name)
		switch name {
		case "Median":
			to = &p.rtt.P50
		case "Mean":
			to = &p.rtt.Mean
		}
		v, ok := number(value)
		switch {
		case to == nil:
		case ok:
			*to = new(v * 1e3)
		case impossible(value): // too few connections for the percentile
			s.noteImpossible(at)
		default:
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "cps", "text": short(part)})
		}
	}
	return nil
}

func (p *cpsRun) result(s *Source) (*measure.Result, error) {
	r := p.r
	missing(r, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline, finding.NoIntervals, finding.NoLoss, finding.NoHistogram)
	r.Summary.DurationNs = seconds(p.seconds)
	r.Connect = &measure.Connect{OpenedPerSecond: r.Summary.ConnectionsPerSecond, DurationNs: int64(r.Summary.DurationNs)}
	switch {
	case p.none:
		r.Error = measure.Fail(measure.KindUnreachable, "ingest.cps.none", nil)
		return r, nil
	case !p.ended:
		return nil, s.cutOff("ingest.cut_off.cps", nil)
	case p.rtt != (measure.RTTFigures{}):
		r.Summary.ReportedRTT = &p.rtt
	}
	if p.rtt.P50 == nil {
		missing(r, finding.NoPercentiles)
	}
	return r, nil
}
