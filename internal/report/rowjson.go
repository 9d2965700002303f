package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"soku/internal/measure"
)

// rowMembers are the members that rows of the first version of the format have
// between rank and confidence, in its order. Those that came later stand behind them,
// in the order of [measure.Metrics].
var rowMembers = []string{
	"goodput_bps", "forward_bps", "reverse_bps", "retransmits", "loss_ratio", "jitter_ns", "packets_per_second", "cpu_seconds_per_gb",
	"connections_per_second", "path_mtu_bytes", "route", "fairness_index",
	"latency_under_load.idle", "latency_under_load.loaded", "latency_under_load.responsiveness_rpm",
	"rtt_ns", "rtt_reported_ns", "duration_ns", "floor_ns",
}

// member is a value of a JSON object, or of an object in it: names are separated by dots.
type member struct {
	path  string
	value any
}

// rowHead and rowTail are the members of a row beside its figures.
type rowHead struct {
	Pattern  string          `json:"pattern"`
	Levels   []measure.Level `json:"levels"`
	Paths    []string        `json:"paths"`
	Trials   int             `json:"trials"`
	Failed   int             `json:"failed"`
	Ingested int             `json:"ingested,omitempty"`
	Rank     int             `json:"rank"`
}

type rowTail struct {
	Confidence Confidences `json:"confidence"`
	Values     []Value     `json:"values"`
	Limits     []RowLimit  `json:"limits,omitempty"`
	Verdict    *RowVerdict `json:"verdict,omitempty"`
}

// MarshalJSON writes figures as members of their own.
func (r Row) MarshalJSON() ([]byte, error) {
	var figures []member
	if r.Route != nil {
		figures = append(figures, member{"route", r.Route})
	}
	if r.Reported != nil {
		figures = append(figures, member{"rtt_reported_ns.trials", r.Reported.Trials})
		if r.Reported.Ranged {
			figures = append(figures, member{"rtt_reported_ns.ranged", true})
		}
	}
	for _, m := range measure.Metrics() {
		figures = append(figures, r.members(m)...)
	}
	for _, d := range measure.Distributions() {
		if r.has(d) {
			h := cmp.Or(r.Histogram(d), measure.NewHistogram())
			figures = append(figures, member{d.Member + ".histogram", h})
		}
	}
	slices.SortStableFunc(figures, func(a, b member) int { return cmp.Compare(memberOrder(a.path), memberOrder(b.path)) })
	head, err := json.Marshal(rowHead{r.Pattern, r.Levels, r.Paths, r.Trials, r.Failed, r.Ingested, r.Rank})
	if err != nil {
		return nil, err
	}
	tail, err := json.Marshal(rowTail{r.Confidence, r.Values, r.Limits, r.Verdict})
	if err != nil {
		return nil, err
	}
	middle, err := object(figures)
	if err != nil {
		return nil, err
	}
	return joinObjects(head, middle, tail), nil
}

// memberOrder is where a member stands among those between rank and confidence.
func memberOrder(path string) int {
	i := slices.IndexFunc(rowMembers, func(m string) bool { return path == m || strings.HasPrefix(path, m+".") })
	if i < 0 {
		return len(rowMembers)
	}
	return i
}

// members is what the row has of a metric. Where it has a distribution it has all
// numbers of it, 0 for those that are not known.
func (r *Row) members(m *measure.Metric) []member {
	s := r.figure(m)
	var out []member
	for _, x := range m.ReportMembers() {
		switch {
		case x.Spread && s != nil:
			out = append(out, member{x.Path, s.Spread})
		case !x.Spread && r.has(m.Of):
			v := 0.0
			if s != nil {
				v, _ = s.part(x.Part)
			}
			out = append(out, member{x.Path, v})
		}
	}
	return out
}

// has reports whether the row has anything of a distribution.
func (r *Row) has(d *measure.Distribution) bool {
	return slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Metric.Of == d })
}

// object writes members in their order; those of one inner object follow each other.
func object(members []member) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i < len(members); {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _, nested := strings.Cut(members[i].path, ".")
		var value []byte
		var err error
		n := 1
		if nested {
			var inner []member
			for n = 0; i+n < len(members) && strings.HasPrefix(members[i+n].path, name+"."); n++ {
				inner = append(inner, member{strings.TrimPrefix(members[i+n].path, name+"."), members[i+n].value})
			}
			value, err = object(inner)
		} else {
			value, err = json.Marshal(members[i].value)
		}
		if err != nil {
			return nil, err
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
		i += n
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// joinObjects makes one object of the members of several.
func joinObjects(objects ...[]byte) []byte {
	var parts [][]byte
	for _, o := range objects {
		if inner := o[1 : len(o)-1]; len(inner) > 0 {
			parts = append(parts, inner)
		}
	}
	return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
}

// UnmarshalJSON reads what MarshalJSON wrote; what it does not know it leaves out.
func (r *Row) UnmarshalJSON(data []byte) error {
	var fixed struct {
		rowHead
		rowTail
		Route    *Route    `json:"route"`
		Reported *Reported `json:"rtt_reported_ns"`
	}
	if err := json.Unmarshal(data, &fixed); err != nil {
		return err
	}
	h, t := fixed.rowHead, fixed.rowTail
	*r = Row{
		Pattern: h.Pattern, Levels: h.Levels, Paths: h.Paths, Trials: h.Trials, Failed: h.Failed, Ingested: h.Ingested, Rank: h.Rank,
		Route: fixed.Route, Reported: fixed.Reported, Confidence: t.Confidence, Values: t.Values, Limits: t.Limits,
		histograms: map[*measure.Distribution]*measure.Histogram{},
	}
	members := map[string]json.RawMessage{}
	flatten("", data, members)
	for _, d := range measure.Distributions() {
		text := members[d.Member+".histogram"]
		if text == nil {
			continue
		}
		h := measure.NewHistogram()
		if err := json.Unmarshal(text, h); err != nil {
			return err
		}
		if h.Count() > 0 {
			r.histograms[d] = h
		}
	}
	for _, m := range measure.Metrics() {
		f, found, err := readFigure(members, m)
		if err != nil {
			return err
		}
		if found && (m.Over != measure.Merged && m.Over != measure.Range || m.Of == nil || r.Histogram(m.Of) != nil) {
			f.RangeOnly = m.Over == measure.MeanOrEnds && r.Reported != nil && r.Reported.Ranged
			r.Figures = append(r.Figures, f)
		}
	}
	return nil
}

// readFigure reads the members of a metric.
func readFigure(members map[string]json.RawMessage, m *measure.Metric) (f Figure, found bool, err error) {
	f = Figure{Metric: m}
	for _, x := range m.ReportMembers() {
		text := members[x.Path]
		if text == nil {
			continue
		}
		found = true
		if x.Spread {
			err = json.Unmarshal(text, &f.Spread)
			switch m.Over {
			case measure.Range, measure.Smallest:
				f.Value = f.Min
			case measure.Largest:
				f.Value = f.Max
			default:
				f.Value = f.Mean
			}
		} else {
			var v float64
			err = json.Unmarshal(text, &v)
			switch x.Part {
			case measure.PartMin:
				f.Min, f.Value = v, v
			case measure.PartMax:
				f.Max = v
			default:
				f.Value = v
			}
		}
		if err != nil {
			return f, false, err
		}
	}
	return f, found, nil
}

// flatten collects the members of an object and of the objects in it by their paths.
func flatten(prefix string, object []byte, into map[string]json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return // no object
	}
	for name, value := range members {
		into[prefix+name] = value
		if bytes.HasPrefix(value, []byte("{")) {
			flatten(prefix+name+".", value, into)
		}
	}
}
