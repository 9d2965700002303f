package template

import (
	"errors"
	"fmt"
	"strings"
	"text/template/parse"
)

// pipe is the value of a pipeline. It sets the variables that the pipeline declares.
func (e *execution) pipe(p *parse.PipeNode, dot any) (any, error) {
	if p == nil {
		return nil, nil
	}
	var passed []any // what a command hands to the next one, as its last argument
	for _, c := range p.Cmds {
		v, err := e.command(c, dot, passed)
		if err != nil {
			return nil, err
		}
		passed = []any{v}
	}
	for _, d := range p.Decl {
		if err := e.set(d, passed[0], p.IsAssign); err != nil {
			return nil, err
		}
	}
	return passed[0], nil
}

// set declares a variable, or gives the innermost one of that name another value.
func (e *execution) set(n *parse.VariableNode, v any, assign bool) error {
	if !assign {
		e.vars = append(e.vars, variable{n.Ident[0], v})
		return nil
	}
	for i := len(e.vars) - 1; i >= 0; i-- {
		if e.vars[i].name == n.Ident[0] {
			e.vars[i].value = v
			return nil
		}
	}
	return e.failed(n, fmt.Errorf("no variable %s", n.Ident[0]))
}

// command is the value of one command: a call, or a value without arguments.
func (e *execution) command(c *parse.CommandNode, dot any, passed []any) (any, error) {
	if f, call := c.Args[0].(*parse.IdentifierNode); call {
		return e.call(f, c.Args[1:], dot, passed)
	}
	if len(c.Args) > 1 || len(passed) > 0 {
		return nil, e.failed(c, errors.New("only a function has arguments"))
	}
	return e.value(c.Args[0], dot)
}

// value is the value of an operand.
func (e *execution) value(n parse.Node, dot any) (any, error) {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.NilNode:
		return nil, nil
	case *parse.BoolNode:
		return n.True, nil
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		return e.number(n)
	case *parse.IdentifierNode:
		return e.call(n, nil, dot, nil)
	case *parse.PipeNode:
		return e.pipe(n, dot)
	case *parse.FieldNode:
		return e.fields(n, dot, n.Ident)
	case *parse.ChainNode:
		v, err := e.value(n.Node, dot)
		if err != nil {
			return nil, err
		}
		return e.fields(n, v, n.Field)
	case *parse.VariableNode:
		for i := len(e.vars) - 1; i >= 0; i-- {
			if e.vars[i].name == n.Ident[0] {
				return e.fields(n, e.vars[i].value, n.Ident[1:])
			}
		}
		return nil, e.failed(n, fmt.Errorf("no variable %s", n.Ident[0]))
	}
	return nil, e.failed(n, errors.New("not a value of these templates"))
}

// number is a constant: a float64 where it is written as one, else an int.
func (e *execution) number(n *parse.NumberNode) (any, error) {
	hexadecimal := strings.HasPrefix(strings.ToLower(n.Text), "0x") && !strings.ContainsAny(n.Text, "pP") // its e is a digit
	switch {
	case n.IsFloat && strings.ContainsAny(n.Text, ".eEpP") && !hexadecimal && !strings.HasPrefix(n.Text, "'"):
		return n.Float64, nil
	case n.IsInt && int64(int(n.Int64)) == n.Int64:
		return int(n.Int64), nil
	}
	return nil, e.failed(n, errors.New("the number is out of range"))
}

// fields follows names from a value.
func (e *execution) fields(n parse.Node, v any, names []string) (any, error) {
	for _, name := range names {
		var err error
		if v, err = field(v, name, e.t.settings.Strict); err != nil {
			return nil, e.failed(n, err)
		}
	}
	return v, nil
}
