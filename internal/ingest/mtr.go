package ingest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// mtr reads the reports of mtr (-r, -w), with any columns of -o, and those of --json. They do not name the target: the last
// hop is taken for it if it answered, though it may be a router without a route to the target.
func mtr(s *Source) ([]*measure.Result, error) {
	if s.hasDocuments("mtr", isTextOf("mtr")) {
		return s.mtrJSON()
	}
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
	hop, rest, ok := hopLine(strings.Replace(line, ". AS", ".|-- AS", 1)) // with -z there is no line to the hop
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
			if !ok && impossible(words[i]) {
				s.noteImpossible(at)
				continue
			}
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
	if len(p.route.hops) == 0 {
		return nil, s.cutOff("ingest.cut_off.mtr", nil)
	}
	p.finish("")
	return p.r, nil
}

// finish makes the trace of a result from its hops. target is what the report names, or empty.
func (p *mtrRun) finish(target string) {
	missing(p.r, finding.RoundedFigures, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline)
	p.route.counted = true
	last := p.route.hops[len(p.route.hops)-1]
	p.route.target = last.address
	p.r.Path.Server = measure.Endpoint{Name: last.name, Address: last.address}
	if target != "" {
		p.r.Path.Server = measure.Endpoint{Name: target, Address: cmp.Or(last.address, target)}
	}
	if target == "" || target != last.address && target != last.name {
		missing(p.r, finding.NoTarget)
	}
	p.route.fill(p.r, "mtr", "icmp") // its default
}

// mtrReport is a document of --json. Numbers were written as texts by some versions.
type mtrReport struct {
	Report *struct {
		MTR struct {
			From string `json:"src"`
			To   string `json:"dst"`
		} `json:"mtr"`
		Hubs []mtrHub `json:"hubs"`
	} `json:"report"`
}

type mtrHub struct {
	Hop   mtrFigure  `json:"count"`
	Host  string     `json:"host"`
	Loss  *mtrFigure `json:"Loss%"`
	Sent  *mtrFigure `json:"Snt"`
	Last  mtrFigure  `json:"Last"`
	Mean  *mtrFigure `json:"Avg"`
	Best  *mtrFigure `json:"Best"`
	Worst *mtrFigure `json:"Wrst"`
	SD    *mtrFigure `json:"StDev"`
}

// mtrFigure is a number, or a text with one.
type mtrFigure float64

// UnmarshalJSON implements [json.Unmarshaler].
func (f *mtrFigure) UnmarshalJSON(data []byte) error {
	v, ok := numberOf(strings.Trim(string(data), `"`))
	if !ok && string(data) != "null" {
		return &json.UnmarshalTypeError{Value: "text", Field: "figure"}
	}
	*f = mtrFigure(v)
	return nil
}

func (s *Source) mtrJSON() ([]*measure.Result, error) {
	documents, err := s.documents()
	if err != nil {
		return nil, err
	}
	var out []*measure.Result
	for _, d := range documents {
		var doc mtrReport
		if err := s.into(d, &doc); err != nil {
			return nil, err
		}
		if doc.Report == nil || len(doc.Report.Hubs) == 0 {
			return nil, s.fail(d.line, "ingest.mtr.nothing", nil)
		}
		p := &mtrRun{r: newReading(measure.TestTrace, "mtr", "", len(out)+1, d.line)}
		for i := range doc.Report.Hubs {
			h, ok := doc.Report.Hubs[i].hop()
			if !ok {
				return nil, s.fail(d.line, "ingest.mtr.hub", measure.Figures{"hub": i + 1})
			}
			p.route.add(h)
		}
		p.r.Path.Client.Name = short(doc.Report.MTR.From)
		p.finish(short(doc.Report.MTR.To))
		out = append(out, p.r)
	}
	return out, nil
}

// hop is a hub of a document, and false if it has not what a trace needs.
func (b *mtrHub) hop() (h routeHop, ok bool) {
	if b.Loss == nil || b.Sent == nil || b.Mean == nil || b.Best == nil || b.Worst == nil ||
		b.Hop != mtrFigure(int(b.Hop)) || b.Hop < 1 || b.Hop > maxHops || *b.Loss > 100 {
		return h, false
	}
	const ms = 1e6
	h = routeHop{
		hop: int(b.Hop), sent: int64(*b.Sent), last: float64(b.Last) * ms, mean: float64(*b.Mean) * ms, best: float64(*b.Best) * ms, worst: float64(*b.Worst) * ms,
	}
	if words := strings.Fields(b.Host); len(words) > 0 && words[0] != "???" {
		h.address, h.hasTimes = short(strings.Trim(words[len(words)-1], "()")), true
		if len(words) > 1 { // a name before its address
			h.name = short(words[0])
		}
	}
	if b.SD != nil {
		h.sd, h.hasSD = float64(*b.SD)*ms, true
	}
	h.lost = int64(float64(*b.Loss)/100*float64(h.sent) + 0.5) // the loss is rounded, packets are whole
	return h, true
}
