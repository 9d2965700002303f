// Package test holds checks that cross packages.
package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// floors are the storeys of the house, lowest first. A package imports only
// from storeys below its own; within one storey only what allowed says.
var floors = [][]string{
	{"measure", "version"},
	{"sock", "host"},
	{"engine", "wire", "stats", "store", "text"},
	{"trial", "server", "lab", "report"},
	{"campaign", "floor", "dropin"},
	{"trial", "server", "lab", "report", "ingest"},
	{"campaign", "floor"},
	{"trial", "server", "lab", "report"},
	{"campaign", "floor", "dropin"},
	{"cli"},
}

// allowed are the imports within a storey, each for a reason.
var allowed = map[string]string{
	"sock/meter -> sock":                         "the clock",
	"wire/native -> wire":                        "a protocol fulfils what wire asks of it",
	"wire/iperf3 -> wire":                        "a protocol fulfils what wire asks of it",
	"wire/ethr -> wire":                          "a protocol fulfils what wire asks of it",
	"wire/ntttcp -> wire":                        "a protocol fulfils what wire asks of it",
	"engine/latency -> engine/latency/roundtrip": "one engine's own parts",
	"engine/connect -> engine/latency/roundtrip": "a set-up is the round trip of SYN and SYN-ACK",
	"engine/ping -> engine/latency/roundtrip":    "rows and series are the same for every round trip",
	"engine/ping -> engine/probe":                "ICMP errors are read in one place",
	"engine/trace -> engine/probe":               "packets with a hop limit and a number are one idea",
	"engine/mtu -> engine/probe":                 "packets with a hop limit and a number are one idea",
	"sock/datagram -> sock":                      "stamps of arrival are read in one place",
	"store/storetest -> store":                   "the suite tests the interface",
}

func storey(pkg string) int {
	top, _, _ := strings.Cut(pkg, "/")
	for i, names := range floors {
		for _, n := range names {
			if n == top {
				return i
			}
		}
	}
	return -1
}

func TestImportsPointDownwards(t *testing.T) {
	root := "../internal"
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, _ := filepath.Rel(root, filepath.Dir(path))
		from := filepath.ToSlash(rel)
		if storey(from) < 0 {
			t.Errorf("package %s has no storey: give it one here and in docs/architecture.md", from)
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			full, _ := strconv.Unquote(imp.Path.Value)
			to, ok := strings.CutPrefix(full, "soku/internal/")
			if !ok {
				continue
			}
			seen++
			if storey(to) < storey(from) || to == "engine" && storey(from) == storey(to) || allowed[from+" -> "+to] != "" {
				continue
			}
			t.Errorf("%s imports %s, which is not below it", path, to)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no import was looked at")
	}
}

func TestEnginesKnowNoProtocolAndProtocolsNoEngine(t *testing.T) {
	for _, pair := range [][2]string{{"../internal/engine", "soku/internal/wire"}, {"../internal/wire", "soku/internal/engine/"}} {
		_ = filepath.WalkDir(pair[0], func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, imp := range f.Imports {
				if strings.HasPrefix(strings.Trim(imp.Path.Value, `"`), pair[1]) {
					t.Errorf("%s imports %s", path, imp.Path.Value)
				}
			}
			return nil
		})
	}
}

// The runtime's clock moves in steps of up to 15.6 ms on Windows, which neither
// Linux nor wine shows. It is good for deadlines, and where only Linux builds.
func TestWhatIsMeasuredIsTimedByTheFineClock(t *testing.T) {
	seen := 0
	for _, root := range []string{"../internal/engine", "../internal/sock", "../internal/floor/timer.go"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name := filepath.Base(path)
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.HasSuffix(path, "_linux.go") || strings.HasPrefix(name, "clock_") {
				return err
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			seen++
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					s, ok := n.Fun.(*ast.SelectorExpr)
					return !ok || !strings.HasSuffix(s.Sel.Name, "Deadline")
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Since") {
						t.Errorf("%s: time.%s: use that of package sock", fset.Position(n.Pos()), n.Sel.Name)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 50 {
		t.Errorf("looked at %d files", seen)
	}
}
