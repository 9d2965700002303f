package test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ordered are the packages whose files have an order: of the references between two files,
// fewer than a tenth point from a lower file to a higher one.
var ordered = []string{"report", "cli", "campaign", "campaign/plan", "campaign/schedule", "campaign/journal"}

// noImports gives every import an empty package: references within a package need no more.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

// references are the pairs of files of a package of which the first uses a declaration,
// method or field of the second, with the names used.
func references(t *testing.T, folder string) (files []string, used map[[2]int][]string) {
	t.Helper()
	fset := token.NewFileSet()
	sources := map[string]*ast.File{}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = f
	}
	files = slices.Sorted(maps.Keys(sources))
	var parsed []*ast.File
	number := map[string]int{}
	for i, name := range files {
		number[name] = i
		parsed = append(parsed, sources[name])
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	p, _ := conf.Check(folder, fset, parsed, info) // fails for what imports have
	used = map[[2]int][]string{}
	for id, o := range info.Uses {
		if o.Pkg() != p || !shared(o, p) {
			continue
		}
		pair := [2]int{number[fset.Position(id.Pos()).Filename], number[fset.Position(o.Pos()).Filename]}
		if pair[0] != pair[1] && !slices.Contains(used[pair], o.Name()) {
			used[pair] = append(used[pair], o.Name())
		}
	}
	return files, used
}

// shared reports whether other files of the package can use an object.
func shared(o types.Object, p *types.Package) bool {
	if v, ok := o.(*types.Var); ok && v.IsField() {
		return true
	}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return o.Parent() == p.Scope()
}

// downwards orders files so that few references point upwards: each file moves to the place
// where it has the fewest, until none gains. That is a local optimum.
func downwards(files int, used map[[2]int][]string) (order []int) {
	arrow := func(from, to int) int {
		if used[[2]int{from, to}] != nil {
			return 1
		}
		return 0
	}
	surplus := make([]int, files)
	for pair := range used {
		surplus[pair[0]]++
		surplus[pair[1]]--
	}
	for i := range files {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(surplus[b], surplus[a]) })
	for moved := true; moved; {
		moved = false
		for file := range files {
			at := slices.Index(order, file)
			best, to, gain := 0, at, 0
			for i := at - 1; i >= 0; i-- {
				if gain += arrow(order[i], file) - arrow(file, order[i]); gain < best {
					best, to = gain, i
				}
			}
			gain = 0
			for i := at + 1; i < files; i++ {
				if gain += arrow(file, order[i]) - arrow(order[i], file); gain < best {
					best, to = gain, i
				}
			}
			if best < 0 {
				order = slices.Insert(slices.Delete(order, at, at+1), to, file)
				moved = true
			}
		}
	}
	return order
}

func TestFilesOfLargePackagesHaveAnOrder(t *testing.T) {
	for _, pkg := range ordered {
		t.Run(pkg, func(t *testing.T) {
			files, used := references(t, "../internal/"+pkg)
			place := make([]int, len(files))
			for i, file := range downwards(len(files), used) {
				place[file] = i
			}
			var upward []string
			for pair, names := range used {
				if place[pair[0]] > place[pair[1]] {
					slices.Sort(names)
					upward = append(upward, fmt.Sprintf("%s -> %s %v", filepath.Base(files[pair[0]]), filepath.Base(files[pair[1]]), names))
				}
			}
			slices.Sort(upward)
			t.Logf("%d of %d references between %d files point upwards", len(upward), len(used), len(files))
			if 10*len(upward) >= len(used) {
				t.Errorf("fewer than a tenth may:\n%s", strings.Join(upward, "\n"))
			}
			if len(used) < len(files) {
				t.Errorf("found %d references", len(used))
			}
		})
	}
}
