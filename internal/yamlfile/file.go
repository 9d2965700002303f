package yamlfile

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"soku/internal/measure"
)

// Bounds of every file: far above what a person writes.
const (
	maxDepth   = 16      // of mappings and lists below the document
	maxNesting = 64      // the same by the look of the text, see nesting
	maxNodes   = 100_000 // values, those that aliases stand for among them
)

// Format is a kind of file.
type Format struct {
	MaxBytes int
	// Begin is what such a file begins with, for example campaign: NAME. Without it
	// an empty file is one that says nothing, and no mistake.
	Begin string
	// HintCode names the hint of a failure that has none of its own: hint.CODE.
	HintCode string
	// Aliases allows anchors, aliases, merge keys, tags and keys behind a question
	// mark, which a file that people write does not need.
	Aliases bool
}

// File is a file that has been parsed. It is not safe for concurrent use.
type File struct {
	Root Node // the document

	// Former handles a member of the struct at a path that no yaml tag names but that older versions
	// had: known is false for another member. It may be nil.
	Former func(f *File, m Member, path string) (known bool, err error)

	name    string
	format  Format
	places  map[string]Place // of the values read so far, by path
	anchors map[string]ast.Node
	targets map[*ast.AliasNode]ast.Node // what aliases stand for
	nodes   int                         // read so far
}

// Name is the path that the file was parsed with.
func (f *File) Name() string { return f.name }

// Place is a position in a file, line and column from 1.
type Place struct{ Line, Column int }

// Start is the first position of a file.
var Start = Place{1, 1}

// Parse parses the text of a file; name is its path, for messages.
func Parse(name string, text []byte, format Format) (f *File, err error) {
	f = &File{name: name, format: format, places: map[string]Place{}, anchors: map[string]ast.Node{}, targets: map[*ast.AliasNode]ast.Node{}}
	if len(text) > format.MaxBytes {
		return nil, f.Fail(Start, "yaml.too_large", measure.Figures{"size_bytes": len(text), "most_bytes": format.MaxBytes})
	}
	if nesting(text) > maxNesting {
		return nil, f.tooDeep(Start)
	}
	defer func() {
		if r := recover(); r != nil { // the parser's own defect on broken text
			f, err = nil, f.Fail(Start, "yaml.syntax", measure.Figures{"cause": fmt.Errorf("%v", r)})
		}
	}()
	tokens := lexer.Tokenize(string(text))
	if at, deep := deepBrackets(tokens); deep {
		return nil, f.tooDeep(at)
	}
	tree, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, f.syntax(string(text), err)
	}
	return f, f.document(tree.Docs)
}

func (f *File) document(docs []*ast.DocumentNode) error {
	if len(docs) > 1 && docs[1].Body != nil {
		return f.Fail(placeOf(docs[1].Body), "yaml.second_document", nil)
	}
	if len(docs) > 0 && docs[0].Body != nil {
		if err := f.check(docs[0].Body, 0); err != nil {
			return err
		}
		f.Root = f.node(docs[0].Body, Start)
		return nil
	}
	f.Root = Node{place: Start}
	if f.format.Begin != "" {
		return f.Fail(Start, "yaml.empty", measure.Figures{"begin": f.format.Begin})
	}
	return nil
}

// check bounds how deep the tree is, and finds what its aliases stand for: the
// last anchor of the name that ends before.
func (f *File) check(n ast.Node, depth int) error {
	if depth > maxDepth {
		return f.tooDeep(placeOf(n))
	}
	var below []ast.Node
	switch v := n.(type) {
	case *ast.MappingNode:
		for _, pair := range v.Values {
			below = append(below, pair.Key, pair.Value)
		}
	case *ast.MappingValueNode:
		below = []ast.Node{v.Key, v.Value}
	case *ast.SequenceNode:
		below = v.Values
	case *ast.AnchorNode:
		err := f.check(v.Value, depth+1)
		f.anchors[nameOf(v.Name)] = v.Value
		return err
	case *ast.AliasNode:
		f.targets[v] = f.anchors[nameOf(v.Value)]
	case *ast.TagNode:
		return f.check(v.Value, depth+1)
	case *ast.MappingKeyNode:
		return f.check(v.Value, depth+1)
	}
	for _, child := range below {
		if err := f.check(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// nameOf is the name of an anchor or alias.
func nameOf(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

func (f *File) tooDeep(at Place) error {
	return f.Fail(at, "yaml.too_deep", nil)
}

// Mark gives a path a place, for [File.FailAt] and [File.LocateAt].
func (f *File) Mark(path string, at Place) { f.places[path] = at }

// PlaceOf is the place of a path, if a value stands there.
func (f *File) PlaceOf(path string) (Place, bool) {
	at, ok := f.places[path]
	return at, ok
}

// deepBrackets reports where brackets and chains of tags and anchors nest deeper than
// [maxNesting]. Unlike nesting it is not misled by brackets in quotes and comments: what
// closes there would hide what opens outside.
func deepBrackets(tokens token.Tokens) (at Place, deep bool) {
	brackets, marks := 0, 0
	for i, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(0, brackets-1)
		case token.TagType, token.AnchorType, token.MappingKeyType:
			marks++
		default:
			if i == 0 || tokens[i-1].Type != token.AnchorType { // its name
				marks = 0
			}
		}
		if max(brackets, marks) > maxNesting {
			return Place{t.Position.Line, t.Position.Column}, true
		}
	}
	return Start, false
}

// nesting is an upper bound of how deep the parser has to go: brackets that are
// open, or marks of lists and keys that follow one another. Deeper structure by
// indentation takes text that grows with the square of the depth, which the bound
// on the size limits.
func nesting(text []byte) int {
	brackets, marks, most := 0, 0, 0
	for line := range bytes.Lines(text) {
		if line[0] != ' ' && line[0] != '?' {
			marks = 0 // a line that begins at the margin nests in nothing
		}
		comment := false
		for word := range bytes.FieldsSeq(line) {
			comment = comment || word[0] == '#'
			switch {
			case comment || word[0] == '!' || word[0] == '&': // a tag or an anchor of what follows
			case len(word) == 1 && (word[0] == '-' || word[0] == '?'):
				marks++
			default:
				marks = 0
			}
			most = max(most, marks)
		}
		for _, c := range line {
			switch c {
			case '[', '{':
				brackets++
			case ']', '}':
				brackets = max(0, brackets-1)
			}
			most = max(most, brackets)
		}
	}
	return most
}
