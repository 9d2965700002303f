//go:build unix

package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"soku/internal/process"
)

func TestAFileIsUnlockedThoughAChildHasItOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := open()
	if ok, err := process.LockFile(first); !ok || err != nil {
		t.Fatal(ok, err)
	}
	child := exec.CommandContext(t.Context(), "cat")
	child.ExtraFiles = []*os.File{first}
	end, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = end.Close(); _ = child.Wait() }()
	if err := process.UnlockFile(first); err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	second := open()
	defer second.Close()
	if ok, err := process.LockFile(second); !ok || err != nil {
		t.Errorf("locked again: %v, error %v", ok, err)
	}
}
