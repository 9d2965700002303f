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

func (r *reader) fail(at yamlfile.Place, hint, format string, args ...any) {
	if r.err == nil {
		r.err = r.file.Errorf(at, hint, format, args...)
	}
}

// fields are the members of a mapping, in order; an empty value is an empty mapping.
func (r *reader) fields(n yamlfile.Node, what string) (members []yamlfile.Member) {
	if r.err == nil && !n.IsNull() {
		members, r.err = r.file.Members(n, what)
	}
	return members
}

// items are the elements of a list; another value is a list of one.
func (r *reader) items(f yamlfile.Member) []yamlfile.Node {
	if r.err != nil || f.Value.IsNull() {
		return nil
	}
	return r.file.ItemsOrOne(f.Value)
}

// scalar is the text of a single value.
func (r *reader) scalar(n yamlfile.Node, what string) (text string) {
	if r.err == nil {
		r.err = r.file.Scalar(n, what, func(s string) error { text = s; return nil })
	}
	return text
}

func (r *reader) boolean(f yamlfile.Member) bool {
	return parsed(r, f, func(s string) (bool, error) {
		b, err := strconv.ParseBool(s)
		if err != nil || len(s) == 1 { // 0, 1, t and f
			return false, measure.Errorf(measure.KindFile, "expected true or false, found %q", yamlfile.Shorten(s))
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

// unknown is about a key that means nothing there.
func (r *reader) unknown(f yamlfile.Member, what string, known ...string) {
	if r.err == nil {
		r.err = r.file.UnknownKey(f, what, known)
	}
}

// placeOf is the place of the first of members, or of the value that has none.
func placeOf(members []yamlfile.Member, n yamlfile.Node) yamlfile.Place {
	if len(members) > 0 {
		return members[0].Place
	}
	return n.Place()
}
