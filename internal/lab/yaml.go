package lab

import (
	"strconv"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// format is that of a topology's file.
var format = yamlfile.Format{MaxBytes: maxFileBytes, Begin: "lab: NAME"}

// reader reads a topology and keeps the first error. After it every method
// returns a zero value, so callers check once at the end.
type reader struct {
	file *yamlfile.File
	err  error
}

func (r *reader) fail(at yamlfile.Place, code string, figures measure.Figures) {
	if r.err == nil {
		r.locate(at, "", measure.Fail(measure.KindFile, code, figures))
	}
}

// failAt is about the value of a member, and its sentence names the key.
func (r *reader) failAt(f yamlfile.Member, code string, figures measure.Figures) {
	if r.err == nil {
		r.locate(f.Value.Place(), f.Key, measure.Fail(measure.KindFile, code, figures))
	}
}

// locate keeps a failure with its place, and with the path of the value unless it is empty.
func (r *reader) locate(at yamlfile.Place, path string, failure *measure.Error) {
	if r.err == nil {
		r.err = r.file.Locate(at, path, failure)
	}
}

// fields are the members of a mapping, in order; an empty value is an empty mapping.
func (r *reader) fields(n yamlfile.Node, path string) (members []yamlfile.Member) {
	if r.err == nil && !n.IsNull() {
		members, r.err = r.file.Members(n, path)
	}
	return members
}

// items are the elements of a list, each with the list's key; another value is a list of
// one.
func (r *reader) items(f yamlfile.Member) (items []yamlfile.Member) {
	if r.err != nil || f.Value.IsNull() {
		return nil
	}
	for _, n := range r.file.ItemsOrOne(f.Value) {
		items = append(items, yamlfile.Member{Key: f.Key, Place: f.Place, Value: n})
	}
	return items
}

// scalar is the text of a single value.
func (r *reader) scalar(f yamlfile.Member) (text string) {
	if r.err == nil {
		r.err = r.file.Scalar(f.Value, f.Key, func(s string) error { text = s; return nil })
	}
	return text
}

func (r *reader) boolean(f yamlfile.Member) bool {
	return parsed(r, f, func(s string) (bool, error) {
		b, err := strconv.ParseBool(s)
		if err != nil || len(s) == 1 { // 0, 1, t and f
			return false, measure.Fail(measure.KindFile, "yaml.expected_bool", measure.Figures{"text": yamlfile.Shorten(s)})
		}
		return b, nil
	})
}

// parsed is a single value that parse reads.
func parsed[T any](r *reader, f yamlfile.Member, parse func(string) (T, error)) (v T) {
	if r.err == nil {
		r.err = r.file.Scalar(f.Value, f.Key, func(s string) (err error) {
			v, err = parse(s)
			return err
		})
	}
	return v
}

// unknown is about a key that means nothing in the mapping at path.
func (r *reader) unknown(f yamlfile.Member, path string, known ...string) {
	if r.err == nil {
		r.err = r.file.UnknownKey(f, path, known)
	}
}

// placeOf is the place of the first of members, or of the value that has none.
func placeOf(members []yamlfile.Member, n yamlfile.Node) yamlfile.Place {
	if len(members) > 0 {
		return members[0].Place
	}
	return n.Place()
}
