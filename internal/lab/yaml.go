package lab

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"soku/internal/measure"
)

// position is a place in the file, both from 1.
type position struct{ line, column int }

// reader walks the YAML tree of one file and keeps the first error, with its
// position. After an error every method returns a zero value, so callers check
// once at the end. The tree is read by hand, not into a struct, because every
// message, also one about what a name refers to, carries line and column.
type reader struct {
	file string
	err  *measure.Error
}

// field is one "key: value" of a mapping.
type field struct {
	key   string
	at    position // of the key
	value ast.Node
}

func (r *reader) fail(at position, hint, format string, args ...any) {
	if r.err != nil {
		return
	}
	r.err = measure.Errorf(measure.KindFile, "%s:%d:%d: %s", r.file, at.line, at.column, fmt.Sprintf(format, args...))
	if hint != "" {
		r.err = r.err.WithHint("%s", hint)
	}
}

// parse is the root of the file, or nil and an error.
func (r *reader) parse(data []byte) (root ast.Node) {
	start := position{1, 1}
	if len(data) > maxFileBytes {
		r.fail(start, "", "the file has %d bytes; a topology has at most %d", len(data), maxFileBytes)
		return nil
	}
	defer func() {
		if p := recover(); p != nil { // the parser's own defect on broken input
			r.fail(start, "", "not YAML: %v", p)
			root = nil
		}
	}()
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		at := start
		message := err.Error()
		var y yaml.Error
		if errors.As(err, &y) {
			message = y.GetMessage()
			if t := y.GetToken(); t != nil && t.Position != nil {
				at = position{t.Position.Line, t.Position.Column}
			}
		}
		r.fail(at, "", "not YAML: %s", strings.Join(strings.Fields(message), " "))
		return nil
	}
	if len(f.Docs) == 0 || f.Docs[0].Body == nil {
		r.fail(start, "begin with lab: NAME", "the file is empty")
		return nil
	}
	if len(f.Docs) > 1 {
		r.fail(place(f.Docs[1].Body, start), "", "a second document; a topology is one document")
		return nil
	}
	return f.Docs[0].Body
}

func place(n ast.Node, otherwise position) position {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return otherwise
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 { // its own token is the first colon
		return place(m.Values[0].Key, otherwise)
	}
	p := n.GetToken().Position
	return position{p.Line, p.Column}
}

// fields are the members of a mapping, in order; an empty value is an empty mapping.
func (r *reader) fields(n ast.Node, at position, what string) []field {
	if r.err != nil {
		return nil
	}
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		r.fail(place(n, at), "", "%s: expected a mapping (name: value), found %s", what, describe(n))
		return nil
	}
	out := make([]field, 0, len(values))
	seen := map[string]bool{}
	for _, v := range values {
		pos := place(v.Key, at)
		key, ok := text(v.Key)
		if !ok {
			r.fail(pos, "", "%s: expected a plain name, found %s", what, describe(v.Key))
			return nil
		}
		if seen[key] {
			r.fail(pos, "", "%s: %q is there twice", what, key)
			return nil
		}
		seen[key] = true
		out = append(out, field{key: key, at: pos, value: v.Value})
	}
	return out
}

// items are the elements of a sequence; a value that is none is a sequence of one.
func (r *reader) items(f field) []ast.Node {
	if r.err != nil {
		return nil
	}
	switch s := f.value.(type) {
	case *ast.SequenceNode:
		return s.Values
	case *ast.NullNode:
		return nil
	default:
		return []ast.Node{f.value}
	}
}

// scalar is the text of a plain value.
func (r *reader) scalar(n ast.Node, at position, what string) string {
	if r.err != nil {
		return ""
	}
	s, ok := text(n)
	if !ok {
		r.fail(place(n, at), "", "%s: expected a plain value, found %s", what, describe(n))
	}
	return s
}

func (r *reader) boolean(f field) bool {
	if b, ok := f.value.(*ast.BoolNode); ok {
		return b.Value
	}
	r.fail(place(f.value, f.at), "", "%s: expected true or false, found %s", f.key, describe(f.value))
	return false
}

// parsed is a plain value read by one of measure's parsers.
func parsed[T any](r *reader, f field, parse func(string) (T, error)) T {
	var zero T
	s := r.scalar(f.value, f.at, f.key)
	if r.err != nil {
		return zero
	}
	v, err := parse(s)
	if err != nil {
		e := measure.AsError(err, measure.KindFile)
		r.fail(place(f.value, f.at), e.Hint, "%s: %s", f.key, e.Message)
		return zero
	}
	return v
}

// unknown reports a key that means nothing there.
func (r *reader) unknown(f field, what string, known ...string) {
	r.fail(f.at, "expected one of "+strings.Join(known, ", "), "%s: unknown key %q", what, f.key)
}

func text(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func describe(n ast.Node) string {
	switch v := n.(type) {
	case nil:
		return "nothing"
	case *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AliasNode, *ast.AnchorNode, *ast.MergeKeyNode:
		return "an anchor or alias (write the value out)"
	case *ast.StringNode:
		return fmt.Sprintf("%q", short(v.Value))
	default:
		if n.GetToken() == nil {
			return "something else"
		}
		return fmt.Sprintf("%q", short(n.GetToken().Value))
	}
}

func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
