package ingest

import (
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// mtr reads the reports of mtr (-r, -w), with any columns of -o. They do not name the target: the last
// hop is taken for it if it answered, though it may be a router without a route to the target.
func mtr(s *Source) ([]*measure.Result, error) {
	var started time.Time
	return s.runs(func(line string, at, record int) (run, error) {
		if text, ok := strings.CutPrefix(line, "Start: "); ok {
			started = mtrTime(strings.TrimSpace(text))
		}
		rest, ok := strings.CutPrefix(line, "HOST:")
		i := strings.Index(rest, "Loss%")
		switch {
		case !ok || i < 0:
			return nil, nil
		case record > maxRecords:
			return nil, s.fail(at, "ingest.too_many.runs", measure.Figures{"tool": "mtr", "limit": maxRecords})
		}
		p := &mtrRun{r: newReading(measure.TestTrace, "mtr", "", record, at), columns: strings.Fields(rest[i:])}
		p.r.StartedAt, started = started, time.Time{}
		p.r.Path.Client.Name = short(rest[:i])
		return p, nil
	})
}

// mtrTime reads the time with its zone; versions before 0.87 print none.
func mtrTime(text string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05-0700", text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

type mtrRun struct {
	r       *measure.Result
	columns []string
	route   route
}

// line reads "  1.|-- vm2 (10.0.0.2)   0.0%     3    0.1   0.1   0.1   0.1   0.0".
func (p *mtrRun) line(s *Source, at int, line string) error {
	hop, rest, ok := hopLine(line)
	if !ok {
		return nil
	}
	words := strings.Fields(rest)
	n := len(words) - len(p.columns)
	if n < 1 {
		return s.fail(at, "ingest.mtr.columns", measure.Figures{"figures": len(words) - 1, "columns": len(p.columns)})
	}
	host := words[:n]
	if len(host) > 1 && strings.HasPrefix(host[0], "AS") { // -z
		host = host[1:]
	}
	h := routeHop{hop: hop, address: short(host[len(host)-1])}
	if len(host) > 1 {
		h.name, h.address = short(host[0]), strings.Trim(h.address, "()")
	}
	if h.address == "???" {
		h.address = ""
	}
	if err := p.figures(s, at, &h, words[n:]); err != nil {
		return err
	}
	p.route.add(h)
	return nil
}

func (p *mtrRun) figures(s *Source, at int, h *routeHop, words []string) error {
	loss, rest := 0.0, 0.0
	for i, name := range p.columns {
		v, ok := numberOf(strings.TrimSuffix(words[i], "%"))
		to, scale := &rest, 1e6
		switch name {
		case "Loss%":
			to, scale, ok = &loss, 0.01, ok && v <= 100
		case "Last":
			to = &h.last
		case "Avg":
			to, h.hasTimes = &h.mean, h.address != ""
		case "Best":
			to = &h.best
		case "Wrst":
			to = &h.worst
		case "StDev":
			to, h.hasSD = &h.sd, true
		case "Snt":
			h.sent, ok = int64(v), ok && v < 1e12
		default:
			continue
		}
		if !ok {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "mtr", "text": short(words[i])})
		}
		*to = v * scale
	}
	h.lost = int64(loss*float64(h.sent) + 0.5) // the loss is rounded, packets are whole
	return nil
}

func (p *mtrRun) result(s *Source) (*measure.Result, error) {
	need := slices.Contains(p.columns, "Snt") && slices.Contains(p.columns, "Avg") && slices.Contains(p.columns, "Best") && slices.Contains(p.columns, "Wrst")
	if !need {
		return nil, s.fail(p.r.Origin.Line, "ingest.mtr.no_columns", nil)
	}
	if len(p.route.hops) == 0 || !need {
		return nil, s.cutOff("ingest.cut_off.mtr", nil)
	}
	missing(p.r, finding.RoundedFigures, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline)
	p.route.counted = true
	last := p.route.hops[len(p.route.hops)-1]
	p.route.target = last.address
	p.r.Path.Server = measure.Endpoint{Name: last.name, Address: last.address}
	missing(p.r, finding.NoTarget)
	p.route.fill(p.r, "mtr", "icmp") // its default
	return p.r, nil
}
