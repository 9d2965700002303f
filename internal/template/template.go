// Package template executes templates in the syntax of text/template, which parses them.
//
// Executing is its own: text/template looks for methods by names that are not known before
// it runs, so the linker keeps all exported methods of all types of the program
// (docs/decisions/0010-own-execution-of-templates.md). Here a field is a field of a struct
// or an entry of a map, never a method. The actions are if, with, range over slices, template,
// define and variables; the functions and, or, not, eq, ne, lt, le, gt, ge, len, index, print
// and printf are present in every template.
//
// Templates are part of the program and trusted; the values that they write are not. The
// package starts no goroutines.
package template

import (
	"io"
	"io/fs"
	"maps"
	"text/template/parse"
)

// Functions are what a template may call by name. A function returns one value, or a value
// and an error, which ends the execution.
type Functions map[string]any

// Settings say how templates are executed.
type Settings struct {
	Functions Functions
	// Escape is applied to each value that is written, other than a [Verbatim]; nil leaves
	// values as they are.
	Escape func(string) string
	// Strict makes a key that a map lacks an error. Otherwise its value is nil.
	Strict bool
}

// Verbatim is text that is written without escaping.
type Verbatim string

// Template is a parsed template with the templates that it defines. Several goroutines may
// execute it at once.
type Template struct {
	main     *parse.Tree
	trees    map[string]*parse.Tree
	settings Settings
}

// Parse reads a template. It fails on syntax and on functions that nobody has.
func (s Settings) Parse(name, text string) (*Template, error) {
	t := &Template{trees: map[string]*parse.Tree{}, settings: s}
	t.settings.Functions = maps.Clone(builtins)
	maps.Copy(t.settings.Functions, s.Functions)
	return t, t.add(name, text)
}

// ParseFiles reads files of which the first is executed and all define templates.
func (s Settings) ParseFiles(from fs.FS, names ...string) (*Template, error) {
	var t *Template
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		if t == nil {
			t, err = s.Parse(name, string(text))
		} else {
			err = t.add(name, string(text))
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Template) add(name, text string) error {
	tree, err := parse.New(name).Parse(text, "", "", t.trees, t.settings.Functions, lazy)
	if err == nil && t.main == nil {
		t.main = tree
	}
	return err
}

// Execute writes the template with the fields of data, a struct or a map. When it fails,
// part of the text may have been written.
func (t *Template) Execute(w io.Writer, data any) error {
	e := execution{t: t, w: w, vars: []variable{{"$", data}}}
	return e.list(t.main.Root, data)
}
