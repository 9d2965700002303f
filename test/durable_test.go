package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is renamed into place before it is on disk may be empty after a loss of power.
func TestOnlyPackageDurableRenamesFiles(t *testing.T) {
	err := filepath.WalkDir("../internal", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if strings.Contains(string(text), "os.Rename(") != (filepath.Base(file) == "durable.go") {
			t.Errorf("%s: write the file by durable.WriteFile or durable.Replace", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
