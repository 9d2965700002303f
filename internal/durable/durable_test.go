package durable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileThatIsReplacedKeepsItsMode(t *testing.T) {
	if filepath.Separator != '/' {
		t.SkipNow()
	}
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o600, 0o666} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(name, []byte("new"), 0o644); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != mode {
			t.Errorf("mode %v, want %v: %v", info.Mode(), mode, err)
		}
	}
}

// A file that is renamed before its content is on disk may be empty after a loss of power.
func TestAFileIsOnDiskBeforeItReplacesAnother(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen []string
	usual := syncFile
	t.Cleanup(func() { syncFile = usual })
	syncFile = func(f *os.File) error {
		now, _ := os.ReadFile(name)
		seen = append(seen, string(now))
		return usual(f)
	}
	if err := WriteFile(name, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if want := "old new"; strings.Join(seen, " ") != want { // the file, then the folder
		t.Errorf("the file had %q when something was synced", seen)
	}
	syncFile = func(*os.File) error { return os.ErrInvalid }
	if err := WriteFile(name, []byte("newer"), 0o600); err == nil {
		t.Error("no error")
	}
	if got, _ := os.ReadFile(name); string(got) != "new" {
		t.Errorf("the file has %q", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 1 {
		t.Errorf("the folder has %v", left)
	}
}

func TestAFileIsTriedWithoutATrace(t *testing.T) {
	dir := t.TempDir()
	old, missing := filepath.Join(dir, "old"), filepath.Join(dir, "none", "new")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{old: true, filepath.Join(dir, "new"): true, os.DevNull: true, missing: false, filepath.Join(old, "new"): false, dir: false} {
		err := Try(name)
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := os.ReadFile(old); string(got) != "old" {
		t.Errorf("the file has %q, %v", got, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the folder has %v", left)
	}
}
