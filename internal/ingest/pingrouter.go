package ingest

import (
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// routerPing is a run of ping on a router with Cisco's IOS while its lines are read. The size that it names is
// that of the packet on some systems and that of its data on others, so a result has none.
type routerPing struct {
	r         *measure.Result
	sent, got int64
	counted   bool
	rtt       measure.RTTFigures
}

// routerTarget reads "Sending 5, 1400-byte ICMP Echos to 10.9.0.4, timeout is 2 seconds:".
func routerTarget(line string) (target string, ok bool) {
	before, rest, ok := strings.Cut(strings.TrimSpace(line), "-byte ICMP Echos to ")
	target, _, _ = strings.Cut(rest, ", ")
	return short(target), ok && strings.HasPrefix(before, "Sending ")
}

// line reads "Success rate is 80 percent (4/5), round-trip min/avg/max = 3/4/9 ms".
func (p *routerPing) line(s *Source, at int, line string) error {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "Success rate is ")
	if !ok || p.counted {
		return nil
	}
	_, counts, _ := strings.Cut(rest, "(")
	counts, rest, _ = strings.Cut(counts, ")")
	got, sent, _ := strings.Cut(counts, "/")
	n, ok := count(got)
	m, ok2 := count(sent)
	if !ok || !ok2 || n > m || m == 0 {
		return s.fail(at, "ingest.counts", measure.Figures{"tool": "ping", "sent": m, "received": n})
	}
	p.sent, p.got, p.counted = m, n, true
	_, times, ok := strings.Cut(rest, "round-trip min/avg/max = ")
	times, ok2 = strings.CutSuffix(times, " ms")
	figures := strings.Split(times, "/")
	switch {
	case p.got == 0:
		return nil
	case !ok || !ok2 || len(figures) != 3:
		return s.fail(at, "ingest.ping.summary", measure.Figures{"text": short(rest)})
	}
	for i, to := range []**float64{&p.rtt.Min, &p.rtt.Mean, &p.rtt.Max} {
		v, ok := numberOf(figures[i])
		if !ok {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "ping", "text": short(figures[i])})
		}
		if v > 0 { // whole milliseconds: 0 stands for anything below 1
			*to = nsOf(v)
		}
	}
	return nil
}

func (p *routerPing) result(s *Source) (*measure.Result, error) {
	r := p.r
	if !p.counted {
		return nil, s.cutOff("ingest.cut_off.ping", measure.Figures{"begin": r.Origin.Line})
	}
	missing(r, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline, finding.NoIntervals)
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "ping"}, Sent: p.sent, Received: p.got, Lost: p.sent - p.got}
	setLoss(&r.Summary, p.sent, p.sent-p.got)
	if p.got > 0 {
		p.rtt.Count = p.got
		r.Summary.ReportedRTT = &p.rtt
		missing(r, finding.NoHistogram, finding.NoPercentiles)
	}
	warn(r, finding.WholeMilliseconds)
	return r, nil
}
