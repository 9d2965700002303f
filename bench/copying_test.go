package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// inMemory are folders for a test, in which the medium decides nothing but the names.
func inMemory(t *testing.T) folders { return folders{onTmpfs: t.TempDir()} }

// copied is a contender for which a shell copies, and which then runs a check.
func copied(t *testing.T, f folders, s fileSet, check string) (Figures, error) {
	t.Helper()
	for _, e := range localCopies(onTmpfs, s) {
		if e.Label != "cp -a" {
			continue
		}
		build := e.Build
		e.Build = func(x Site) Commands {
			c := build(x)
			c.Client[2] = `test -z "$(ls -A "$2")" && ` + c.Client[2] + " && " + check
			return c
		}
		f, _, err := perform(t.Context(), loopback, Site{Folders: f}, e)
		return f, err
	}
	t.Fatal("cp is no contender")
	return nil, nil
}

func TestEachCopyBeginsWithTheWholeSetAndAnEmptyTarget(t *testing.T) {
	f, s := inMemory(t), fileSet{"test", filesADir + 1, 2000}
	for range 2 {
		got, err := copied(t, f, s, `test "$(find "$2" -type f -size 2000c | wc -l)" = 1001 && diff -r "$1" "$2/copy"`)
		if err != nil {
			t.Fatal(err)
		}
		if seconds := got[wall.Name] / 1e3; got[copyRate.Name] <= 0 || got[copyRate.Name] > float64(s.bytes())/1e6/seconds*1.1 {
			t.Errorf("%v MB/s in %v s", got[copyRate.Name], seconds)
		}
		if _, err := os.Stat(f.target(onTmpfs)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the copy stays: %v", err)
		}
	}
}

func TestFilesOfASetDiffer(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "set")
	if err := (fileSet{"test", 2, 3 << 20}).create(folder); err != nil {
		t.Fatal(err)
	}
	var texts [2]string
	for i, name := range []string{"0/0", "0/1"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || len(text) != 3<<20 {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		texts[i] = string(text)
	}
	if texts[0] == texts[1] || texts[0][:1<<20] == texts[0][1<<20:2<<20] {
		t.Error("contents repeat")
	}
}

func TestACopyThatFailsIsNoFigure(t *testing.T) {
	f := inMemory(t)
	if got, err := copied(t, f, fileSet{"test", 1, 10}, "false"); err == nil {
		t.Errorf("got %v", got)
	}
	if _, err := copied(t, folders{}, fileSet{"test", 1, 10}, "true"); !errors.Is(err, errUnsupported) {
		t.Errorf("without a folder: %v", err)
	}
}
