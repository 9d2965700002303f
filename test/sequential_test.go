package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The race detector omits packages that run nothing concurrently.
func TestPackagesWithoutTheRaceDetectorStartNoGoroutines(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(makefile), "\nSEQUENTIAL := ")
	list, _, _ = strings.Cut(list, "\n")
	packages := strings.Fields(list)
	if len(packages) == 0 {
		t.Fatal("the Makefile has no list SEQUENTIAL")
	}
	for _, name := range packages {
		files, err := filepath.Glob(filepath.Join("..", strings.TrimPrefix(name, "soku/"), "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no files, %v", name, err)
		}
		for _, name := range files {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if isOmitted(d) {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if startsGoroutine(n) {
						t.Errorf("%v: starts a goroutine; take the package out of SEQUENTIAL in the Makefile", set.Position(n.Pos()))
					}
					return true
				})
			}
		}
	}
}

// isOmitted reports whether a declaration is a test that the race detector omits anyway.
func isOmitted(d ast.Decl) (omitted bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if call, is := n.(*ast.SelectorExpr); is {
			of, _ := call.X.(*ast.Ident)
			omitted = omitted || call.Sel.Name == "WatchesTheClock" || of != nil && of.Name == "chromium"
		}
		return true
	})
	return omitted
}

// called is the name of the function or method that a node calls, or "".
func called(n ast.Node) string {
	call, is := n.(*ast.CallExpr)
	if !is {
		return ""
	}
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// startsGoroutine reports whether a node is a go statement, or calls a method that starts one.
func startsGoroutine(n ast.Node) bool {
	_, is := n.(*ast.GoStmt)
	return is || slices.Contains([]string{"Go", "Parallel"}, called(n))
}
