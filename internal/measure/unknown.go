package measure

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
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

// findUnknown compares raw with what the type t would read of it. Types that
// decode themselves are taken as fully known.
func findUnknown(raw json.RawMessage, t reflect.Type) *unknownMembers {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) && t != reflect.TypeFor[Result]() {
		return nil
	}
	u := &unknownMembers{}
	switch t.Kind() {
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return nil
		}
		known := fieldTypes(t)
		for name, value := range members {
			ft, ok := known[name]
			if !ok {
				if u.members == nil {
					u.members = map[string]json.RawMessage{}
				}
				u.members[name] = value
				continue
			}
			if sub := findUnknown(value, ft); !sub.empty() {
				if u.fields == nil {
					u.fields = map[string]*unknownMembers{}
				}
				u.fields[name] = sub
			}
		}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Struct {
			return nil
		}
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil
		}
		for i, item := range items {
			if sub := findUnknown(item, t.Elem()); !sub.empty() {
				if u.items == nil {
					u.items = map[int]*unknownMembers{}
				}
				u.items[i] = sub
			}
		}
	}
	if u.empty() {
		return nil
	}
	return u
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

// UnmarshalJSON reads a document and refuses one of another schema.
func (r *Result) UnmarshalJSON(b []byte) error {
	// Few documents have members that are unknown here. Only for those is the whole
	// compared with what was read of it, which takes several times as long.
	var p plainResult
	known := json.NewDecoder(bytes.NewReader(b))
	known.DisallowUnknownFields()
	if known.Decode(&p) == nil && !known.More() && p.checkSchema() == nil {
		*r = Result(p)
		return nil
	}
	p = plainResult{}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	if err := p.checkSchema(); err != nil {
		return err
	}
	*r = Result(p)
	r.unknown = findUnknown(b, reflect.TypeFor[Result]())
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
