package text

import (
	"go/ast"
	"testing"
)

// A failure in a variable of a package would have every start of the program read the
// catalogues.
func TestNoFailureIsMadeBeforeMain(t *testing.T) {
	eachSource(t, func(_ string, f *ast.File, at func(ast.Node) string) {
		for _, decl := range f.Decls {
			variables, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			ast.Inspect(variables, func(n ast.Node) bool {
				if len(failuresIn(n)) > 0 {
					t.Errorf("%s: a failure is made when the program starts; make it in a function", at(n))
				}
				_, function := n.(*ast.FuncLit)
				return !function
			})
		}
	})
}
