package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// eachSource calls visit for every source file of the program, tests left out. at is where
// a node of the file stands.
func eachSource(t *testing.T, visit func(path string, f *ast.File, at func(ast.Node) string)) {
	t.Helper()
	fset := token.NewFileSet()
	at := func(n ast.Node) string { return fset.Position(n.Pos()).String() }
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err == nil {
			visit(filepath.ToSlash(path), f, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
