// Package test holds checks that cross packages.
package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// page has the diagram of layers, which assigns each package to a layer.
const page = "../docs/architecture.md"

// allowed are the imports within a layer, each with its reason. A package may also import
// the one in whose folder it is.
var allowed = map[string]string{
	"sock -> sock/longcall":                               "system calls that are one to the runtime",
	"engine/latency -> engine/latency/roundtrip":          "one engine's own parts",
	"engine/latency -> engine/latency/direct":             "one engine's own parts",
	"engine/latency -> engine/latency/requests":           "one engine's own parts",
	"engine/latency/direct -> engine/latency/requests":    "loops in and past the net poller count in one type",
	"engine/latency/direct -> engine/latency/roundtrip":   "loops in and past the net poller count in one type",
	"engine/latency/requests -> engine/latency/roundtrip": "a round trip that counts goes to the recorder",
	"engine/connect -> engine/latency/roundtrip":          "a set-up is the round trip of SYN and SYN-ACK",
	"engine/ping -> engine/latency/roundtrip":             "rows and series are the same for every round trip",
	"engine/ping -> engine/probe":                         "ICMP errors are read in one place",
	"engine/trace -> engine/probe":                        "packets with a hop limit and a number are one idea",
	"engine/mtu -> engine/probe":                          "packets with a hop limit and a number are one idea",
	"host -> host/cloud":                                  "what a cloud says of the machine is one of its facts",
	"engine/flows -> engine/tcp":                          "one direction of a TCP test",
	"engine/flows -> engine/udp":                          "one direction of a UDP test",
	"store/sqlite -> store/sqlstore":                      "two databases share their statements",
	"store/postgres -> store/sqlstore":                    "two databases share their statements",
}

// layers is the diagram: the number of the layer of each name, 0 on top. The name "a"
// matches package a and those in its folder, "a/*" only the latter; the more specific name
// takes precedence.
type layers map[string]int

// readLayers reads the diagram, the indented lines below the heading Layers. A line is a
// layer: names separated by commas, two or more spaces, and a description.
func readLayers(t *testing.T, text string) layers {
	t.Helper()
	_, section, ok := strings.Cut(text, "\n## Layers\n")
	if !ok {
		t.Fatalf("%s has no section Layers", page)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	found, layer := layers{}, 0
	for line := range strings.Lines(section) {
		row, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if !ok || strings.TrimSpace(row) == "│" {
			continue
		}
		names, _, _ := strings.Cut(row, "  ")
		for name := range strings.SplitSeq(names, ", ") {
			if _, twice := found[name]; twice {
				t.Errorf("%s: the diagram has %s in two layers", page, name)
			}
			found[name] = layer
		}
		layer++
	}
	return found
}

// of returns the layer of a package and the name that matched it.
func (l layers) of(pkg string) (layer int, name string, ok bool) {
	if n, ok := l[pkg]; ok {
		return n, pkg, true
	}
	for folder := path.Dir(pkg); folder != "."; folder = path.Dir(folder) {
		for _, name := range []string{folder + "/*", folder} {
			if n, ok := l[name]; ok {
				return n, name, true
			}
		}
	}
	return 0, "", false
}

// mayImport reports whether the layers allow an import. Both packages have a layer.
func (l layers) mayImport(from, to string) bool {
	above, _, _ := l.of(from)
	below, _, _ := l.of(to)
	return above < below || above == below && (strings.HasPrefix(from, to+"/") || allowed[from+" -> "+to] != "")
}

// imports returns the imports of each package of the program from the others. Packages are
// named as in the diagram, without internal/. Test files are excluded.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, root := range []string{"../internal", "../cmd"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../")
			pkg = strings.TrimPrefix(pkg, "internal/")
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			found[pkg] = append(found[pkg], []string{}...)
			for _, imp := range f.Imports {
				full, _ := strconv.Unquote(imp.Path.Value)
				if to, ok := strings.CutPrefix(full, "soku/internal/"); ok && !slices.Contains(found[pkg], to) {
					found[pkg] = append(found[pkg], to)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestImportsPointDownwards(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	diagram := readLayers(t, string(text))
	unused := maps.Clone(diagram)
	packages := imports(t)
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		_, name, ok := diagram.of(pkg)
		if !ok {
			t.Errorf("package %s is in no layer: give it one in the diagram of %s", pkg, page)
			continue
		}
		delete(unused, name)
		for _, to := range packages[pkg] {
			if _, _, ok := diagram.of(to); ok && !diagram.mayImport(pkg, to) {
				t.Errorf("package %s imports %s, which is not in a layer below it in the diagram of %s", pkg, to, page)
			}
		}
	}
	for name := range unused {
		t.Errorf("%s: the diagram has %s, and there is no such package", page, name)
	}
	if len(packages) < 20 {
		t.Errorf("looked at %d packages", len(packages))
	}
}

func TestEnginesAndProtocolsDoNotImportEachOther(t *testing.T) {
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
// Linux nor wine shows. It may be used for deadlines, and in code for Linux only.
func TestMeasuringCodeUsesTheFineClock(t *testing.T) {
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

func TestTheProgramImportsNoTests(t *testing.T) {
	seen := 0
	for _, root := range []string{"../internal", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			seen++
			for _, imp := range f.Imports {
				if strings.HasPrefix(strings.Trim(imp.Path.Value, `"`), "soku/test/") {
					t.Errorf("%s imports %s", path, imp.Path.Value)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 500 {
		t.Errorf("looked at %d files", seen)
	}
}
