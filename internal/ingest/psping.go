package ingest

import (
	"strings"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// psping reads the output of PsPing at the client: set-ups of connections, pings and round trips over TCP or
// UDP, without its histogram. Warm-ups are not counted.
func psping(s *Source) ([]*measure.Result, error) {
	version := ""
	return s.runs(func(line string, at, record int) (run, error) {
		if rest, ok := strings.CutPrefix(line, "PsPing v"); ok {
			version, _, _ = strings.Cut(rest, " ")
		}
		p := pspingBegins(line)
		switch {
		case strings.Contains(line, " bandwidth test connecting to "):
			return nil, s.fail(at, "ingest.psping.bandwidth", nil)
		case p == nil:
			return nil, nil
		case record > maxTimed:
			return nil, s.fail(at, "ingest.too_many.runs", measure.Figures{"tool": "PsPing", "limit": maxTimed})
		}
		p.r = newReading(p.test, "psping", version, record, at)
		p.r.Path.Server = measure.Endpoint{Name: p.target, Address: p.target}
		p.r.Options.Size, p.r.Options.Port = p.size, p.port
		if p.test == measure.TestLatency {
			p.r.Options.Own = latency.Options{Protocol: p.protocol}
		}
		return p, nil
	})
}

// pspingRun is a run while its lines are read.
type pspingRun struct {
	r         *measure.Result
	test      measure.Test
	target    string
	port      int
	protocol  string
	size      measure.Size
	times     *measure.Histogram
	sent, got int64
	counted   bool
	rtt       measure.RTTFigures
}

// pspingBegins reads the first line of a run, "TCP connect to HOST:PORT:", "TCP latency test connecting to
// HOST:PORT: Connected" or "Pinging HOST with 32 bytes of data:", and returns nil for others.
func pspingBegins(line string) *pspingRun {
	p := &pspingRun{}
	rest, connects := strings.CutPrefix(line, "TCP connect to ")
	what, to, exchanges := strings.Cut(line, " latency test connecting to ")
	address, pings := strings.CutPrefix(line, "Pinging ")
	switch {
	case connects:
		p.test = measure.TestConnect
	case exchanges && (what == "TCP" || what == "UDP"):
		p.test, p.protocol, rest = measure.TestLatency, strings.ToLower(what), strings.TrimSuffix(to, " Connected")
	case pings:
		words := strings.Fields(address)
		if len(words) == 0 {
			return nil
		}
		p.test, p.target, p.size = measure.TestPing, short(words[0]), measure.Size(pingSize(words))
		return p
	default:
		return nil
	}
	rest = strings.TrimSuffix(strings.TrimSpace(rest), ":")
	p.target, p.port = short(rest), portOf(rest)
	if p.port > 0 {
		p.target = short(strings.Trim(rest[:strings.LastIndexByte(rest, ':')], "[]"))
	}
	return p
}

func (p *pspingRun) line(s *Source, at int, line string) error {
	line = strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "Connecting to "), strings.HasPrefix(line, "Reply from "):
		return p.reply(s, at, line)
	case strings.HasPrefix(line, "Sent = "):
		return p.counts(s, at, line)
	case p.counted && strings.HasPrefix(line, "Minimum = "):
		return p.summary(s, at, line)
	}
	return nil
}

// reply reads "Connecting to HOST:443: from 10.9.0.5:50012: 1.31ms" and "Reply from HOST: 1.31ms".
func (p *pspingRun) reply(s *Source, at int, line string) error {
	text, ok := strings.CutSuffix(line[strings.LastIndexByte(line, ' ')+1:], "ms")
	if !ok || strings.Contains(line, "(warmup)") {
		return nil // there was no answer
	}
	v, ok := numberOf(text)
	if !ok {
		return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "PsPing", "text": short(text)})
	}
	if p.times == nil {
		p.times = measure.NewHistogram()
	}
	p.times.Record(int64(max(v*1e6, 1)))
	return nil
}

// counts reads "Sent = 4, Received = 3, Lost = 1 (25% loss)," and "Sent = 1000, Size = 8192, Total Bytes:
// 8192000,".
func (p *pspingRun) counts(s *Source, at int, line string) error {
	for _, part := range strings.Split(line, ", ") {
		name, value, _ := strings.Cut(part, " = ")
		n, ok := count(strings.Trim(value, ","))
		switch name {
		case "Sent":
			p.sent, p.got = n, n
		case "Received":
			p.got = n
		case "Size":
			p.size = measure.Size(min(n, 1<<30))
			p.r.Options.Size = p.size
		default:
			ok = true
		}
		if !ok {
			return s.fail(at, "ingest.number.count", measure.Figures{"tool": "PsPing", "text": short(part)})
		}
	}
	if p.counted = true; p.got > p.sent {
		return s.fail(at, "ingest.counts", measure.Figures{"tool": "PsPing", "sent": p.sent, "received": p.got})
	}
	return nil
}

// summary reads "Minimum = 1.04ms, Maximum = 1.31ms, Average = 1.15ms". Some versions write Maxiumum.
func (p *pspingRun) summary(s *Source, at int, line string) error {
	to := map[string]**float64{"Minimum": &p.rtt.Min, "Maximum": &p.rtt.Max, "Maxiumum": &p.rtt.Max, "Average": &p.rtt.Mean}
	for _, part := range strings.Split(line, ", ") {
		name, value, _ := strings.Cut(part, " = ")
		v, ok := numberOf(strings.TrimSuffix(value, "ms"))
		if to[name] == nil || !ok || !strings.HasSuffix(value, "ms") {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "PsPing", "text": short(part)})
		}
		*to[name] = nsOf(v)
	}
	return nil
}

func (p *pspingRun) result(s *Source) (*measure.Result, error) {
	r := p.r
	if !p.counted || p.sent <= 0 || p.got > 0 && p.rtt.Mean == nil {
		return nil, s.cutOff("ingest.cut_off.psping", measure.Figures{"begin": r.Origin.Line})
	}
	missing(r, finding.RoundedFigures, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline, finding.NoIntervals)
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "psping"}, Sent: p.sent, Received: p.got, Lost: p.sent - p.got}
	switch r.Test {
	case measure.TestConnect:
		r.Connect = &measure.Connect{Opened: p.got, Failed: p.sent - p.got, Port: p.port}
		r.Summary.LossRatio = new(float64(p.sent-p.got) / float64(p.sent))
	case measure.TestPing:
		setLoss(&r.Summary, p.sent, p.sent-p.got)
	default:
		missing(r, finding.NoLoss)
	}
	if p.got > 0 {
		p.rtt.Count = p.got
		r.Summary.ReportedRTT = &p.rtt
	}
	switch {
	case p.times != nil && p.times.Count() == p.got:
		r.Latency.Histogram = p.times
		r.Summary.RTT = p.times.Percentiles()
	case p.got > 0:
		missing(r, finding.NoHistogram, finding.NoPercentiles)
	}
	return r, nil
}
