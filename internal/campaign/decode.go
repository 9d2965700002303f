package campaign

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"soku/internal/measure"
)

// Bounds of a plan file: far above what a person writes, far below what hurts.
const (
	maxPlanBytes = 64 << 10 // the YAML parser takes quadratic time on hostile text
	maxDepth     = 16
	maxName      = 100 // characters of a name or level
)

// place is a position in the plan, both from 1.
type place struct{ line, column int }

// decoder reads the tree of a plan into structs by their yaml tags. The tree is
// walked here and not by the YAML library so that every message, also one about
// what a name refers to, has a position, and names the key that was meant.
type decoder struct {
	file   string
	places map[string]place // by path, such as tests.rtt.duration
}

// selfDecoder is a type of the plan that has more than one form.
type selfDecoder interface {
	decode(d *decoder, n ast.Node, path string) error
}

// fail is an error at a node.
func (d *decoder) fail(n ast.Node, hint, format string, args ...any) error {
	return d.failAt(placeOf(n), hint, format, args...)
}

func (d *decoder) failAt(at place, hint, format string, args ...any) error {
	e := measure.Errorf(measure.KindFile, "%s:%d:%d: %s", d.file, at.line, at.column, fmt.Sprintf(format, args...))
	if hint != "" {
		e = e.WithHint("%s", hint)
	}
	return e
}

// failPath is an error about the value at a path, or the nearest part above it
// that is written in the file.
func (d *decoder) failPath(path, hint, format string, args ...any) error {
	for p := path; ; {
		if at, ok := d.places[p]; ok {
			return d.failAt(at, hint, format, args...)
		}
		i := strings.LastIndexByte(p, '.')
		if i < 0 {
			return d.failAt(place{1, 1}, hint, format, args...)
		}
		p = p[:i]
	}
}

func placeOf(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return placeOf(m.Values[0].Key) // a block mapping's own token is its first colon
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		return placeOf(m.Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return place{1, 1}
	}
	p := n.GetToken().Position
	return place{p.Line, p.Column}
}

// root parses the text of a plan.
func (d *decoder) root(text []byte) (root ast.Node, err error) {
	start := place{1, 1}
	if len(text) > maxPlanBytes {
		return nil, d.failAt(start, "", "the plan has %d bytes; at most %d are read", len(text), maxPlanBytes)
	}
	if deepest(text) > 4*maxDepth {
		return nil, d.failAt(start, "", "the plan nests deeper than any plan does")
	}
	defer func() {
		if r := recover(); r != nil { // the parser's own defect on broken text
			err = d.failAt(start, "", "not YAML: %v", r)
		}
	}()
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, d.syntax(err)
	}
	if len(f.Docs) == 0 || f.Docs[0].Body == nil {
		return nil, d.failAt(start, "begin with campaign: NAME", "the plan is empty")
	}
	if len(f.Docs) > 1 && f.Docs[1].Body != nil {
		return nil, d.fail(f.Docs[1].Body, "write one plan a file", "a second document begins here")
	}
	return f.Docs[0].Body, nil
}

func (d *decoder) syntax(err error) error {
	var y yaml.Error
	at, message := place{1, 1}, err.Error()
	if errors.As(err, &y) {
		message = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			at = place{t.Position.Line, t.Position.Column}
		}
	}
	return d.failAt(at, "", "not YAML: %s", strings.Join(strings.Fields(message), " "))
}

// deepest is an upper bound of how deep the parser would have to go: flow
// brackets that are open, or list and key marks that follow one another.
func deepest(text []byte) int {
	flow, marks, most := 0, 0, 0
	for i, c := range text {
		switch c {
		case '[', '{':
			flow++
		case ']', '}':
			flow = max(0, flow-1)
		case '-', '?', '&', '*', '!':
			marks++
		case ' ', '\t', '\n', '\r':
			if c == '\n' && i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '?' {
				marks = 0 // a line that begins at the margin nests in nothing
			}
		default:
			marks = 0
		}
		most = max(most, flow, marks)
	}
	return most
}

// value reads n into v. path is where in the plan it stands.
func (d *decoder) value(n ast.Node, v reflect.Value, path string) error {
	if strings.Count(path, ".") > maxDepth {
		return d.fail(n, "", "the plan nests deeper than any plan does")
	}
	if s, ok := v.Addr().Interface().(selfDecoder); ok {
		return s.decode(d, n, path)
	}
	if s, ok := v.Addr().Interface().(interface{ Set(string) error }); ok {
		return d.scalar(n, path, s.Set)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(n, v.Elem(), path)
	case reflect.Struct:
		return d.structure(n, v, path)
	case reflect.Slice:
		items, ok := n.(*ast.SequenceNode)
		if !ok {
			return d.fail(n, "write it as [a, b] or as lines that begin with a dash", "%s: expected a list, found %s", path, describe(n))
		}
		out := reflect.MakeSlice(v.Type(), len(items.Values), len(items.Values))
		for i, item := range items.Values {
			if err := d.element(item, out.Index(i), path+"."+strconv.Itoa(i+1)); err != nil {
				return err
			}
		}
		v.Set(out)
		return nil
	}
	return d.scalar(n, path, func(text string) error { return setScalar(v, text) })
}

// element reads a member of a list or mapping and keeps its place.
func (d *decoder) element(n ast.Node, v reflect.Value, path string) error {
	d.places[path] = placeOf(n)
	return d.value(n, v, path)
}

func (d *decoder) scalar(n ast.Node, path string, set func(string) error) error {
	text, ok := scalarText(n)
	if !ok {
		return d.fail(n, "", "%s: expected a single value, found %s", path, describe(n))
	}
	if err := set(text); err != nil {
		e := measure.AsError(err, measure.KindFile)
		return d.fail(n, e.Hint, "%s: %s", path, e.Message)
	}
	return nil
}

func setScalar(v reflect.Value, text string) error {
	wrong := func(want string) error {
		return measure.Errorf(measure.KindFile, "expected %s, found %q", want, shorten(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return wrong("true or false")
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return wrong("a whole number")
		}
		v.SetInt(i)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != f || f-f != 0 {
			return wrong("a number")
		}
		v.SetFloat(f)
	default:
		return fmt.Errorf("type %s has no text form", v.Type())
	}
	return nil
}

// member is one "key: value" of a mapping.
type member struct {
	key   string
	at    ast.Node
	value ast.Node
}

// members are the pairs of a mapping in order; what is the mapping's name.
func (d *decoder) members(n ast.Node, path string) ([]member, error) {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	default:
		return nil, d.fail(n, "", "%s: expected keys with values, found %s", orPlan(path), describe(n))
	}
	out := make([]member, 0, len(pairs))
	seen := map[string]bool{}
	for _, p := range pairs {
		key, ok := scalarText(p.Key)
		if !ok {
			return nil, d.fail(p.Key, "", "%s: expected a key, found %s", orPlan(path), describe(p.Key))
		}
		if seen[key] {
			return nil, d.fail(p.Key, "", "%s: the key %q is there twice", orPlan(path), shorten(key))
		}
		seen[key] = true
		out = append(out, member{key, p.Key, p.Value})
	}
	return out, nil
}

// structure reads a mapping into the fields that its keys name.
func (d *decoder) structure(n ast.Node, v reflect.Value, path string) error {
	pairs, err := d.members(n, path)
	if err != nil {
		return err
	}
	fields, names := structFields(v.Type())
	for _, m := range pairs {
		index, ok := fields[m.key]
		if !ok {
			return d.unknown(m, path, names)
		}
		if _, null := m.value.(*ast.NullNode); null {
			continue // a key without a value sets nothing
		}
		if err := d.element(m.value, v.Field(index), join(path, m.key)); err != nil {
			return err
		}
		if err := d.inRange(m.value, v.Field(index), v.Type().Field(index).Tag, join(path, m.key)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) inRange(n ast.Node, v reflect.Value, tag reflect.StructTag, path string) error {
	low, lerr := strconv.ParseFloat(tag.Get("min"), 64)
	high, herr := strconv.ParseFloat(tag.Get("max"), 64)
	var f float64
	switch {
	case v.CanInt():
		f = float64(v.Int())
	case v.CanFloat():
		f = v.Float()
	default:
		return nil
	}
	if lerr == nil && f < low || herr == nil && f > high {
		allowed := tag.Get("min") + ".." + tag.Get("max")
		return d.fail(n, "allowed: "+strings.TrimSuffix(allowed, ".."), "%s: %v is out of range", path, v.Interface())
	}
	return nil
}

// unknown says which key was probably meant.
func (d *decoder) unknown(m member, path string, known []string) error {
	hint := "known keys are " + strings.Join(known, ", ")
	if near := nearest(m.key, known); near != "" {
		hint = "did you mean " + near + "? " + strings.ToUpper(hint[:1]) + hint[1:]
	}
	return d.fail(m.at, hint, "%s: unknown key %q", orPlan(path), shorten(m.key))
}

// structFields are the keys of a struct type, by key and in order.
func structFields(t reflect.Type) (map[string]int, []string) {
	byKey, names := map[string]int{}, []string{}
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" && key != "-" {
			byKey[key] = i
			names = append(names, key)
		}
	}
	return byKey, names
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func orPlan(path string) string {
	if path == "" {
		return "plan"
	}
	return path
}

// scalarText is the text of a plain, quoted or block value as it was written.
func scalarText(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func describe(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys with values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AliasNode, *ast.AnchorNode, *ast.MergeKeyNode:
		return "an anchor or alias, which plans do not use: write the value out"
	}
	if text, ok := scalarText(n); ok {
		return strconv.Quote(shorten(text))
	}
	return "something else"
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}
