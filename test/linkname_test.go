package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Go release may forbid links to the runtime's functions. -tags plainloops builds without
// them, which works only while they are all in one package.
func TestOnlyOnePackageLinksToTheRuntime(t *testing.T) {
	const only = "../internal/sock/longcall"
	found := false
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains("\n"+string(text), "\n//go:linkname ") {
			return nil
		}
		if filepath.ToSlash(filepath.Dir(path)) != only {
			t.Errorf("%s links to a function by name; only %s may", path, only)
		}
		found = true
		return nil
	})
	if err != nil || !found {
		t.Errorf("links found: %v, %v", found, err)
	}
}
