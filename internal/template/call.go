package template

import (
	"fmt"
	"reflect"
	"text/template/parse"
)

// lazy are the functions that evaluate no more arguments than they need: and returns the
// first that is false, or returns the first that is true, else both the last.
var lazy = map[string]any{"and": false, "or": true}

// call calls a function. passed is its last argument, when another command comes before it.
func (e *execution) call(n *parse.IdentifierNode, args []parse.Node, dot any, passed []any) (any, error) {
	until, short := lazy[n.Ident]
	values := make([]any, 0, len(args)+len(passed))
	for _, a := range args {
		v, err := e.value(a, dot)
		if err != nil || short && truth(v) == until {
			return v, err
		}
		values = append(values, v)
	}
	values = append(values, passed...)
	if short && len(values) > 0 {
		return values[len(values)-1], nil
	}
	f, ok := e.t.settings.Functions[n.Ident]
	if !ok {
		return nil, e.failed(n, fmt.Errorf("function %s cannot be called so", n.Ident))
	}
	v, err := apply(f, values)
	if err != nil {
		return nil, e.failed(n, fmt.Errorf("%s: %w", n.Ident, err))
	}
	return v, nil
}

// apply calls a function with arguments that fit its parameters.
func apply(f any, args []any) (value any, err error) {
	defer func() {
		if cause := recover(); cause != nil { // a sentence must not end a measurement
			err = fmt.Errorf("%v", cause)
		}
	}()
	r := reflect.ValueOf(f)
	t := r.Type()
	fixed := t.NumIn()
	if t.IsVariadic() {
		fixed--
	}
	if len(args) < fixed || len(args) > fixed && !t.IsVariadic() {
		return nil, fmt.Errorf("%d arguments, want %d", len(args), fixed)
	}
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		parameter := t.In(min(i, t.NumIn()-1))
		if i >= fixed {
			parameter = parameter.Elem()
		}
		if in[i], err = fit(a, parameter); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	out := r.Call(in)
	if len(out) > 1 && !out[1].IsNil() {
		return nil, out[1].Interface().(error)
	}
	return out[0].Interface(), nil
}

// fit is an argument as the type of a parameter. A whole number is converted to another type
// of number, a text to another type of text, and a pointer is followed.
func fit(v any, t reflect.Type) (reflect.Value, error) {
	r := reflect.ValueOf(v)
	if !r.IsValid() {
		switch t.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
			return reflect.Zero(t), nil
		}
		return r, fmt.Errorf("no value, want %s", t)
	}
	if r.Type().AssignableTo(t) {
		return r, nil
	}
	number := t.Kind() == reflect.Int || t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64
	switch {
	case r.Kind() == reflect.Pointer && !r.IsNil() && r.Type().Elem().AssignableTo(t):
		return r.Elem(), nil
	case number && (r.CanInt() || r.CanUint()), r.Kind() == reflect.String && t.Kind() == reflect.String:
		return r.Convert(t), nil
	}
	return r, fmt.Errorf("%T, want %s", v, t)
}
