package finding

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated files anew")

const findingsFile = "../../../docs/reference/findings.md"

// findingsPage is docs/reference/findings.md.
func findingsPage() []byte {
	var b bytes.Buffer
	b.WriteString(`# Findings

<!-- Generated from internal/measure/finding by: go test ./internal/measure/finding -update -->

A finding is what soku found out about a trial, apart from its figures, as data: ` + "`code`" + ` says what, ` + "`severity`" + ` is
` + "`note`" + ` (good to know; the figures stand) or ` + "`warning`" + ` (a figure is less certain), ` + "`where`" + ` names the end or the
direction that it is about, and ` + "`figures`" + ` are what it rests on. Units of figures are in their names, as in all of
the [result document](result.md). A reader must accept codes and figures that it does not know.

The sentence that a person reads is made from a finding where it is shown. Documents of earlier versions have a list
` + "`warnings`" + ` of sentences instead; each is read as a finding of the code ` + "`text`" + `.
`)
	for _, section := range Sections {
		fmt.Fprintf(&b, "\n## %s\n%s\n", section.Title, section.Text)
		for _, c := range section.Codes {
			describe(&b, c)
		}
	}
	return b.Bytes()
}

// describe writes the part of the page that is about one code.
func describe(b *bytes.Buffer, c Info) {
	fmt.Fprintf(b, "\n### `%s`\n%s", c.Code, c.Meaning)
	if c.Next != "" {
		b.WriteString(" " + c.Next)
	}
	fmt.Fprintf(b, "\n\n- severity: `%s`\n", c.Severity)
	if c.Where != "" {
		fmt.Fprintf(b, "- where: %s\n", c.Where)
	}
	for _, f := range c.Figures {
		kind := unitOf(f)
		if f.Optional {
			kind += ", optional"
		}
		if f.Instead != "" {
			kind += ", instead of `" + f.Instead + "`"
		}
		fmt.Fprintf(b, "- `%s` (%s): %s\n", f.Key, kind, f.Meaning)
	}
}

// unitOf is what the key of a figure says about it.
func unitOf(f Figure) string {
	if f.Text {
		return "text"
	}
	for suffix, unit := range map[string]string{
		"_bps": "bits per second", "_bytes": "bytes", "_ns": "nanoseconds", "_ratio": "0 to 1", "_per_second": "per second",
	} {
		if strings.HasSuffix(f.Key, suffix) {
			return unit
		}
	}
	return "number"
}

func TestThePageOfFindingsIsTheTable(t *testing.T) {
	want := findingsPage()
	if *update {
		if err := os.WriteFile(findingsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(findingsFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/reference/findings.md is not what the table says (%v); run: go test ./internal/measure/finding -update", err)
	}
}

func TestEveryCodeIsDescribedOnce(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	seen := map[Code]bool{}
	for _, c := range All() {
		if seen[c.Code] {
			t.Errorf("%s stands twice", c.Code)
		}
		seen[c.Code] = true
		if !name.MatchString(string(c.Code)) || c.Severity != Note && c.Severity != Warning || !strings.HasSuffix(c.Meaning, ".") {
			t.Errorf("%s: severity %q, meaning %q", c.Code, c.Severity, c.Meaning)
		}
		keys := map[string]bool{}
		for _, f := range c.Figures {
			if keys[f.Key] || !name.MatchString(f.Key) || f.Meaning == "" {
				t.Errorf("%s: figure %+v", c.Code, f)
			}
			keys[f.Key] = true
		}
	}
}

// made is a finding as the sources make it: a call whose first arguments are a
// constant of this package and, as the third, a literal of figures.
type made struct {
	at      string
	figures []string // nil: none, or not a literal
	literal bool
}

// findingsMade are all places in the program that make a finding, by the name of the
// code's constant.
func findingsMade(t *testing.T) map[string][]made {
	t.Helper()
	out := map[string][]made{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for i, arg := range call.Args {
				name := constantOf(arg)
				if name == "" {
					continue
				}
				m := made{at: files.Position(call.Pos()).String()}
				if len(call.Args) > i+2 {
					m.figures, m.literal = figureKeys(call.Args[i+2])
				}
				out[name] = append(out[name], m)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// constantOf is the name of a constant of this package, such as Text of finding.Text, otherwise
// empty.
func constantOf(e ast.Expr) string {
	if e, ok := e.(*ast.SelectorExpr); ok {
		if pkg, ok := e.X.(*ast.Ident); ok && pkg.Name == "finding" {
			return e.Sel.Name
		}
	}
	return ""
}

func figureKeys(e ast.Expr) (keys []string, literal bool) {
	if id, ok := e.(*ast.Ident); ok && id.Name == "nil" {
		return nil, true
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	for _, elt := range lit.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			if b, ok := kv.Key.(*ast.BasicLit); ok {
				key, _ := strconv.Unquote(b.Value)
				keys = append(keys, key)
			}
		}
	}
	return keys, true
}

// constants are the names of the codes' constants.
func constants(t *testing.T) map[string]Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Code{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				code, _ := strconv.Unquote(lit.Value)
				out[spec.Names[0].Name] = Code(code)
			}
		}
		return true
	})
	return out
}

func TestEveryFindingHasTheFiguresOfItsCode(t *testing.T) {
	names, places := constants(t), findingsMade(t)
	for name, code := range names {
		info, known := Describe(code)
		if !known {
			t.Errorf("%s is in no section", code)
		}
		if len(places[name]) == 0 {
			t.Errorf("nothing makes a finding of %s", code)
		}
		for _, m := range places[name] {
			if !m.literal {
				continue
			}
			for _, f := range info.Figures {
				replaced := func(o Figure) bool { return o.Instead == f.Key && slices.Contains(m.figures, o.Key) }
				if !f.Optional && f.Instead == "" && !slices.Contains(m.figures, f.Key) && !slices.ContainsFunc(info.Figures, replaced) {
					t.Errorf("%s: %s has no figure %s", m.at, code, f.Key)
				}
			}
			for _, key := range m.figures {
				if !slices.ContainsFunc(info.Figures, func(f Figure) bool { return f.Key == key }) {
					t.Errorf("%s: %s has the figure %s, which is not described", m.at, code, key)
				}
			}
		}
	}
	if len(names) != len(All()) {
		t.Errorf("%d constants and %d rows", len(names), len(All()))
	}
}
