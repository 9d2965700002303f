package template

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"text/template/parse"
)

// maxDepth is how many templates may be executed one within the other.
const maxDepth = 1000

// execution is one pass over a template.
type execution struct {
	t     *Template
	w     io.Writer
	vars  []variable // the innermost last
	depth int        // templates that this one is within
}

type variable struct {
	name  string
	value any
}

// list executes nodes with dot as the value of {{.}}.
func (e *execution) list(l *parse.ListNode, dot any) error {
	for _, n := range l.Nodes {
		if err := e.node(n, dot); err != nil {
			return err
		}
	}
	return nil
}

// scoped is list with variables that end with it.
func (e *execution) scoped(l *parse.ListNode, dot any) error {
	if l == nil {
		return nil
	}
	outer := len(e.vars)
	err := e.list(l, dot)
	e.vars = e.vars[:outer]
	return err
}

func (e *execution) node(n parse.Node, dot any) error {
	switch n := n.(type) {
	case *parse.TextNode:
		_, err := e.w.Write(n.Text)
		return err
	case *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		v, err := e.pipe(n.Pipe, dot)
		if err != nil || len(n.Pipe.Decl) > 0 {
			return err
		}
		return e.write(n, v)
	case *parse.IfNode:
		return e.choose(&n.BranchNode, dot, func(any) any { return dot })
	case *parse.WithNode:
		return e.choose(&n.BranchNode, dot, func(v any) any { return v })
	case *parse.RangeNode:
		return e.each(n, dot)
	case *parse.TemplateNode:
		return e.template(n, dot)
	}
	return e.failed(n, errors.New("not an action of these templates"))
}

// choose executes {{if}} and {{with}}: inner is what {{.}} is in the list.
func (e *execution) choose(n *parse.BranchNode, dot any, inner func(any) any) error {
	outer := len(e.vars)
	defer func() { e.vars = e.vars[:outer] }()
	v, err := e.pipe(n.Pipe, dot)
	if err != nil {
		return err
	}
	if truth(v) {
		return e.scoped(n.List, inner(v))
	}
	return e.scoped(n.ElseList, dot)
}

// each executes {{range}}.
func (e *execution) each(n *parse.RangeNode, dot any) error {
	// New variables are those of each element. Text/template first sets others to the slice.
	pipe := *n.Pipe
	if !pipe.IsAssign {
		pipe.Decl = nil
	}
	v, err := e.pipe(&pipe, dot)
	if err != nil {
		return err
	}
	all := pointed(v)
	switch {
	case !all.IsValid(), all.Kind() == reflect.Slice && all.Len() == 0:
		return e.scoped(n.ElseList, dot)
	case all.Kind() != reflect.Slice:
		return e.failed(n, fmt.Errorf("range over %T, which is not a slice", v))
	}
	names, outer := n.Pipe.Decl, len(e.vars)
	for i := range all.Len() {
		element := all.Index(i).Interface()
		values := []any{i, element}[2-len(names):] // one name is that of the element
		for k, name := range names {
			if err := e.set(name, values[k], n.Pipe.IsAssign); err != nil {
				return err
			}
		}
		err := e.scoped(n.List, element)
		e.vars = e.vars[:outer]
		if err != nil {
			return err
		}
	}
	return nil
}

// template executes {{template}}, which sees no variables of the one that calls it.
func (e *execution) template(n *parse.TemplateNode, dot any) error {
	tree := e.t.trees[n.Name]
	if tree == nil {
		return e.failed(n, fmt.Errorf("no template %q", n.Name))
	}
	if e.depth == maxDepth {
		return e.failed(n, fmt.Errorf("more than %d templates within one another", maxDepth))
	}
	v, err := e.pipe(n.Pipe, dot)
	if err != nil {
		return err
	}
	inner := execution{t: e.t, w: e.w, vars: []variable{{"$", v}}, depth: e.depth + 1}
	return inner.list(tree.Root, v)
}

// write writes a value as fmt.Print does, and what a pointer points to.
func (e *execution) write(n parse.Node, v any) error {
	var text string
	switch v := v.(type) {
	case Verbatim:
		_, err := io.WriteString(e.w, string(v))
		return err
	case string:
		text = v
	default:
		shown, err := printed(v)
		if err != nil {
			return e.failed(n, err)
		}
		text = shown
	}
	if e.t.settings.Escape != nil {
		text = e.t.settings.Escape(text)
	}
	_, err := io.WriteString(e.w, text)
	return err
}

// failed is an error with its place in the template.
func (e *execution) failed(n parse.Node, err error) error {
	place, action := e.t.main.ErrorContext(n)
	return fmt.Errorf("%s: %s: %w", place, action, err)
}
