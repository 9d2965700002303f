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

// A failure in a variable of a package would have every start of the program read the
// catalogues.
func TestNoFailureIsMadeBeforeMain(t *testing.T) {
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			variables, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			ast.Inspect(variables, func(n ast.Node) bool {
				if len(failuresIn(n)) > 0 {
					t.Errorf("%s: a failure is made when the program starts; make it in a function", fset.Position(n.Pos()))
				}
				_, function := n.(*ast.FuncLit)
				return !function
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
