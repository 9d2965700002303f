package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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
			ast.Inspect(file, func(n ast.Node) bool {
				if startsGoroutine(n) {
					t.Errorf("%v: starts a goroutine; take the package out of SEQUENTIAL in the Makefile", set.Position(n.Pos()))
				}
				return true
			})
		}
	}
}

// startsGoroutine reports whether a node is a go statement, or calls a method that starts one.
func startsGoroutine(n ast.Node) bool {
	if _, is := n.(*ast.GoStmt); is {
		return true
	}
	call, is := n.(*ast.CallExpr)
	if !is {
		return false
	}
	method, is := call.Fun.(*ast.SelectorExpr)
	return is && (method.Sel.Name == "Go" || method.Sel.Name == "Parallel")
}
