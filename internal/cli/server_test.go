package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder without a lock is what a copy leaves that is killed as it begins.
func TestAServerThatDoesNotStartRemovesNothing(t *testing.T) {
	root := t.TempDir()
	left := filepath.Join(root, ".soku-copy-0")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := soku(t, "server", "--copy-root", root, "--allow", "ten"); code != 2 {
		t.Fatalf("status %d: %s", code, errs)
	}
	if _, err := os.Stat(left); err != nil {
		t.Error(err)
	}
}
