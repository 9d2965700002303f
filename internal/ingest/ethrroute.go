package ingest

import (
	"strings"

	"soku/internal/measure"
)

// routeLine reads the lines of Ethr's tests tr and mtr: the hops with the round trip of one probe, and
// the table that mtr prints each second, of which the last counts. Other lines are not read here.
func (p *ethrRun) routeLine(s *Source, line int, text string) (read bool, err error) {
	switch {
	case strings.HasPrefix(text, "Tracing route to "):
		words := strings.Fields(text)
		p.route = &route{target: short(words[min(3, len(words)-1)])}
		if len(words) > 4 && strings.HasPrefix(words[4], "(") { // a name before its address
			p.route.target = short(strings.Trim(words[4], "()"))
		}
		return true, nil
	case p.route == nil:
		return false, nil
	case strings.HasPrefix(text, "Host: ") && strings.Contains(text, "Wrst"):
		p.route = &route{target: p.route.target, counted: true}
		return true, nil
	}
	hop, rest, ok := hopLine(text)
	words := strings.Fields(rest)
	if !ok || len(words) == 0 {
		return false, nil
	}
	h := routeHop{hop: hop, address: short(words[0])}
	if h.address == "???" {
		h.address = ""
	}
	if p.route.counted {
		ok = h.counts(words)
	} else {
		h.sent = 1
		if h.address == "" {
			h.lost = 1
		}
		h.probe(words[1:])
	}
	if !ok {
		return false, s.fail(line, "ingest.number.figure", measure.Figures{"tool": "Ethr", "text": short(text)})
	}
	p.route.add(h)
	return true, nil
}

// probe reads "[localhost]  39.298us"; mtr prints no time here.
func (h *routeHop) probe(words []string) {
	for _, w := range words {
		if name, ok := strings.CutPrefix(w, "["); ok {
			h.name = short(strings.TrimSuffix(name, "]"))
		} else if v, ok := span(w); ok && v > 0 {
			h.last, h.mean, h.best, h.worst, h.hasTimes = v, v, v, v, true
		}
	}
}

// counts reads "10.0.0.1  3  3  60.610us  70.144us  53.159us  80.740us"; a hop without an answer has dashes.
func (h *routeHop) counts(words []string) bool {
	if len(words) != 7 {
		return false
	}
	if h.address == "" {
		return true
	}
	sent, ok := count(words[1])
	got, ok2 := count(words[2])
	row, ok3 := spans(words[3:]...)
	if !ok || !ok2 || !ok3 || got > sent {
		return false
	}
	h.sent, h.lost = sent, sent-got
	h.last, h.mean, h.best, h.worst, h.hasTimes = row[0], row[1], row[2], row[3], got > 0
	return true
}

// traced is the result of a test of the route.
func (p *ethrRun) traced(r *measure.Result) {
	r.Test = measure.TestTrace
	p.route.fill(r, "Ethr", "icmp")
	if p.port {
		r.Trace.Probe = "tcp"
	}
}
