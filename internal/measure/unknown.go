package measure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"strings"
	"sync"
)

// unknownMembers are the members of a document that this version has no field
// for, at any depth, kept so that an older soku does not lose what a newer one wrote.
type unknownMembers struct {
	members map[string]json.RawMessage // unknown here
	fields  map[string]*unknownMembers // known object members that hold unknown ones
	items   map[int]*unknownMembers    // known array elements that hold unknown ones
}

func (u *unknownMembers) empty() bool {
	return u == nil || len(u.members) == 0 && len(u.fields) == 0 && len(u.items) == 0
}

// shape is what this version reads of a type of values: the members of an object or the elements of an array. It is
// nil for types without either, and for those that decode themselves, which are taken as fully known.
type shape struct {
	members map[string]*shape
	element *shape
}

var resultShape = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[Result](), map[reflect.Type]*shape{}) })

// shapeOf returns the shape of a type; made are those that were made before, as types may contain themselves.
func shapeOf(t reflect.Type, made map[reflect.Type]*shape) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, there := made[t]; there {
		return s
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) && t != reflect.TypeFor[Result]() {
		return nil
	}
	switch {
	case t.Kind() == reflect.Struct:
		s := &shape{members: map[string]*shape{}}
		made[t] = s
		for name, of := range fieldTypes(t) {
			s.members[name] = shapeOf(of, made)
		}
		return s
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return &shape{element: shapeOf(t.Elem(), made)}
	}
	return nil
}

func fieldTypes(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" { // its members are in the same object
			maps.Copy(out, fieldTypes(f.Type))
		}
		if f.IsExported() && name != "-" && name != "" {
			out[name] = f.Type
		}
	}
	return out
}

// member returns what this version reads of a member, and its name if it is not as the field's is. name is the
// member's own if it is unknown.
func (s *shape) member(quoted []byte) (inner *shape, name string, known bool) {
	if inner, known = s.members[string(quoted[1:len(quoted)-1])]; known {
		return inner, "", true
	}
	return s.otherwiseWritten(quoted)
}

// otherwiseWritten is member for a name with escapes or of other case, which [json.Unmarshal] takes, too.
func (s *shape) otherwiseWritten(quoted []byte) (inner *shape, name string, known bool) {
	_ = json.Unmarshal(quoted, &name) // it is valid
	for field, inner := range s.members {
		if strings.EqualFold(field, name) {
			return inner, field, true
		}
	}
	return nil, name, false
}

// findUnknown returns what of the value that begins at b[at] this version does not read, and where the value ends. b
// is valid JSON; it is gone through once, and only what is unknown is copied.
func findUnknown(b []byte, at int, s *shape) (u *unknownMembers, end int) {
	switch {
	case s != nil && s.members != nil && b[at] == '{':
		for at = space(b, at+1); b[at] != '}'; at = space(b, at) {
			if b[at] == ',' {
				at = space(b, at+1)
			}
			quoted := b[at:text(b, at)]
			at = space(b, space(b, at+len(quoted))+1) // after the colon
			inner, name, known := s.member(quoted)
			sub, end := findUnknown(b, at, inner)
			switch {
			case !known:
				u = u.orNew()
				u.members[name] = bytes.Clone(b[at:end])
			case sub != nil:
				u = u.orNew()
				u.fields[cmp.Or(name, string(quoted[1:len(quoted)-1]))] = sub
			}
			at = end
		}
	case s != nil && s.element != nil && b[at] == '[':
		i := 0
		for at = space(b, at+1); b[at] != ']'; at = space(b, at) {
			if b[at] == ',' {
				at = space(b, at+1)
			}
			sub, end := findUnknown(b, at, s.element)
			if sub != nil {
				u = u.orNew()
				u.items[i] = sub
			}
			i, at = i+1, end
		}
	default:
		return nil, value(b, at)
	}
	return u, at + 1
}

func (u *unknownMembers) orNew() *unknownMembers {
	if u != nil {
		return u
	}
	return &unknownMembers{members: map[string]json.RawMessage{}, fields: map[string]*unknownMembers{}, items: map[int]*unknownMembers{}}
}

// restore puts the unknown members back into the encoding of the same value.
// A part that is no longer there takes its unknown members with it.
func (u *unknownMembers) restore(encoded json.RawMessage) (json.RawMessage, error) {
	if u.empty() {
		return encoded, nil
	}
	if len(u.items) > 0 {
		var items []json.RawMessage
		if err := json.Unmarshal(encoded, &items); err != nil {
			return nil, err
		}
		for i, sub := range u.items {
			if i >= len(items) {
				continue
			}
			var err error
			if items[i], err = sub.restore(items[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(items)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &members); err != nil {
		return nil, err
	}
	for name, value := range u.members {
		if _, ok := members[name]; !ok {
			members[name] = value
		}
	}
	for name, sub := range u.fields {
		value, ok := members[name]
		if !ok || string(value) == "null" {
			continue
		}
		var err error
		if members[name], err = sub.restore(value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(members)
}

type plainResult Result

// MarshalJSON writes the document with the members this version did not know.
func (r *Result) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal((*plainResult)(r))
	if err != nil {
		return nil, err
	}
	return r.unknown.restore(b)
}

// WriteJSON writes what MarshalJSON returns and a line end, with fewer copies.
func (r *Result) WriteJSON(w io.Writer) error {
	if !r.unknown.empty() {
		return json.NewEncoder(w).Encode(r)
	}
	p := plainResult(*r)
	series := p.takeSeries()
	if len(series) == 0 {
		return json.NewEncoder(w).Encode((*plainResult)(r))
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(&p); err != nil {
		return err
	}
	if bytes.Count(b.Bytes(), seriesPlace) != len(series) { // a text of another program has it, too
		return json.NewEncoder(w).Encode((*plainResult)(r))
	}
	rest := b.Bytes()
	for _, raw := range series {
		before, after, _ := bytes.Cut(rest, seriesPlace)
		for _, part := range [][]byte{before, seriesMember, raw} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		rest = after
	}
	_, err := w.Write(rest)
	return err
}

// A series is most of a document, and its text need not be gone through again to write it: a number that the encoder writes of no
// value stands in its place.
var (
	seriesMember = []byte(`"series":`)
	seriesPlace  = []byte(`"series":-0e9`)
)

// takeSeries puts that number in the place of the series whose texts the encoder would not change, and returns these, in their order.
func (p *plainResult) takeSeries() (all []json.RawMessage) {
	for _, at := range []**Host{&p.Hosts.Client, &p.Hosts.Server} {
		if *at == nil || (*at).Series == nil || (*at).Series.raw == nil || bytes.ContainsAny((*at).Series.raw, " \n\t\r<>&") {
			continue
		}
		h := **at
		all = append(all, h.Series.raw)
		h.Series = &Series{raw: seriesPlace[len(seriesMember):]}
		*at = &h
	}
	return all
}

// UnmarshalJSON reads a document and refuses one of another schema.
func (r *Result) UnmarshalJSON(b []byte) error {
	var p plainResult
	if decode(b, &p) != nil {
		p = plainResult{}
		if err := json.Unmarshal(b, &p); err != nil { // says which member of which line it is
			return err
		}
	}
	if err := p.checkSchema(); err != nil {
		return err
	}
	*r = Result(p)
	r.unknown, _ = findUnknown(b, space(b, 0), resultShape())
	r.adoptSentences()
	return nil
}

// CodeOtherSchema is the code of the failure to read a document of another version.
const CodeOtherSchema = "document.schema"

func (p *plainResult) checkSchema() error {
	if p.Schema != Schema {
		return Fail(KindFile, CodeOtherSchema, Figures{"schema": p.Schema, "known": Schema})
	}
	return nil
}

// adoptSentences makes findings of the members "warnings" and "origin.lacks", lists of
// sentences and phrases, which documents of earlier versions have.
func (r *Result) adoptSentences() {
	if r.unknown == nil {
		return
	}
	if len(r.Findings) == 0 {
		r.Findings = OfSentences(r.unknown.takeTexts("warnings"))
	}
	if origin := r.unknown.fields["origin"]; origin != nil && len(r.Origin.Missing) == 0 {
		r.Origin.Missing = OfPhrases(origin.takeTexts("lacks"))
	}
}

// takeTexts removes a member that is a list of texts and returns them.
func (u *unknownMembers) takeTexts(name string) (texts []string) {
	raw, there := u.members[name]
	if there && json.Unmarshal(raw, &texts) == nil {
		delete(u.members, name)
	}
	return texts
}
