package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/printable"
	"soku/internal/text"
)

// JSON writes the report as a document of schema [Schema], figures in base
// units with histograms to merge.
func (r *Report) JSON(w io.Writer) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(true)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(printable.JSON(b.Bytes()))
	return err
}

// MarshalJSON writes the facts and, for those who rely on them, the sentences.
func (t Test) MarshalJSON() ([]byte, error) {
	type facts Test
	if t.FactorEffects == nil {
		t.FactorEffects = []FactorEffect{} // a list without elements, not null
	}
	v := testView{&t, text.ForPrograms()}
	var caveats []string // one for each of the facts
	for _, c := range t.Caveats {
		caveats = append(caveats, v.caveat(c))
	}
	return json.Marshal(struct {
		Label       string       `json:"label"`
		Test        measure.Test `json:"test"`
		Description string       `json:"description"`
		AnswerText  string       `json:"answer"`
		Answer      Answer       `json:"answer_facts"`
		Headline    string       `json:"headline"`
		CaveatTexts []string     `json:"caveats,omitempty"`
		Caveats     []Caveat     `json:"caveat_facts,omitempty"`
		TimingTexts []string     `json:"latency_methods,omitempty"`
		Basis       basisJSON    `json:"basis"`
		facts
	}{
		v.label(), t.Test, v.description(), v.answer(), t.Answer, v.headline(), caveats, t.Caveats, v.timings(),
		basisJSON{t.Basis.Metric.Key, t.Basis.Metric.Better == metric.Higher, v.basis()}, facts(t),
	})
}

// MarshalJSON writes a title also for trials run by hand.
func (r Report) MarshalJSON() ([]byte, error) {
	type facts Report
	return json.Marshal(struct {
		Schema string `json:"schema"`
		Title  string `json:"title"`
		facts
	}{r.Schema, reportView{&r, text.ForPrograms()}.title(), facts(r)})
}

// member is a value of a JSON object, or of an object in it: names are separated by dots.
type member struct {
	path  string
	value any
}

// MarshalJSON writes the fields of the row that are members.
func (r Row) MarshalJSON() ([]byte, error) {
	var out []member
	for _, f := range rowFields() {
		if f.member == "" {
			continue
		}
		v := f.value(line{row: &r})
		if v == nil || f.sparse && reflect.Indirect(reflect.ValueOf(v)).IsZero() {
			continue
		}
		out = append(out, member{f.member, v})
	}
	slices.SortStableFunc(out, func(a, b member) int { return cmp.Compare(memberOrder(a.path), memberOrder(b.path)) })
	return object(out)
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

// UnmarshalJSON reads what MarshalJSON wrote; what it does not know it leaves out.
func (r *Row) UnmarshalJSON(data []byte) error {
	members := map[string]json.RawMessage{}
	if err := flatten("", data, members); err != nil {
		return err
	}
	*r = Row{histograms: map[*metric.Distribution]*measure.Histogram{}}
	read := func(path string, into any) error {
		if text := members[path]; text != nil {
			return json.Unmarshal(text, into)
		}
		return nil
	}
	for _, f := range rowFields() {
		if f.member == "" {
			continue
		}
		if part := f.value(line{row: r}); part != nil && reflect.TypeOf(part).Kind() == reflect.Pointer {
			if err := read(f.member, part); err != nil {
				return err
			}
		}
	}
	if err := read("rtt_reported_ns", &r.Reported); err != nil {
		return err
	}
	for _, d := range metric.Distributions() {
		h := measure.NewHistogram()
		if err := read(d.Member+".histogram", h); err != nil {
			return err
		}
		if h.Count() > 0 {
			r.histograms[d] = h
		}
	}
	for _, m := range metric.All() {
		f, found, err := readFigure(members, m)
		if err != nil {
			return err
		}
		if found && (m.Over != metric.Merged && m.Over != metric.Range || m.Of == nil || r.Histogram(m.Of) != nil) {
			f.RangeOnly = m.Over == metric.MeanOrEnds && r.Reported != nil && r.Reported.Ranged
			r.Figures = append(r.Figures, f)
		}
	}
	return nil
}

// readFigure reads the members of a metric.
func readFigure(members map[string]json.RawMessage, m *metric.Definition) (f Figure, found bool, err error) {
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
			case metric.Range, metric.Smallest:
				f.Value = f.Min
			case metric.Largest:
				f.Value = f.Max
			default:
				f.Value = f.Mean
			}
		} else {
			var v float64
			err = json.Unmarshal(text, &v)
			switch x.Part {
			case metric.PartMin:
				f.Min, f.Value = v, v
			case metric.PartMax:
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
func flatten(prefix string, object []byte, into map[string]json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return err
	}
	for name, value := range members {
		into[prefix+name] = value
		if bytes.HasPrefix(value, []byte("{")) {
			if err := flatten(prefix+name+".", value, into); err != nil {
				return err
			}
		}
	}
	return nil
}
