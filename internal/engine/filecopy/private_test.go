package filecopy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A process that is killed leaves its folder; its lock ends with it.
func TestWhatAKilledProcessLeftIsRemovedByTheNextCopy(t *testing.T) {
	folder := t.TempDir()
	left, err := openPrivate(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := left.root.MkdirAll("all/0", 0o700); err != nil {
		t.Fatal(err)
	}
	running, err := openPrivate(folder)
	if err != nil {
		t.Fatal(err)
	}
	if !exists(folder, left.name) {
		t.Fatal("the folder of a running copy was removed")
	}
	_ = left.lock.Close() // as the system does when the process ends
	_ = left.root.Close()
	others := []string{privatePrefix + "of-another-program", privatePrefix + "link"}
	if err := os.MkdirAll(filepath.Join(folder, others[0], "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, lockName), []byte(marker), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, others[1])); err != nil {
		t.Fatal(err)
	}
	next, err := openPrivate(folder)
	if err != nil {
		t.Fatal(err)
	}
	if exists(folder, left.name) || !exists(folder, running.name) || !exists(folder, others[0]) || !exists(folder, others[1]) || !exists(outside, lockName) {
		t.Error("removed, or left, another folder than that of the killed process")
	}
	running.Close()
	next.Close()
	if exists(folder, next.name) || exists(folder, running.name) {
		t.Error("a folder is there after its end")
	}
}

func exists(folder, name string) bool {
	_, err := os.Lstat(filepath.Join(folder, name))
	return !errors.Is(err, fs.ErrNotExist)
}

func TestALockFileWithOtherContentsIsNotRemoved(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, privatePrefix+"0")
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(name, lockName), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if !exists(folder, privatePrefix+"0") {
		t.Error("removed a folder that is not marked")
	}
}

// Every copy cleans up where it begins, also between the moments when another one makes its
// folder, its lock, and locks it.
func TestCopiesThatBeginAtTheSameTimeLeaveEachOthersFolders(t *testing.T) {
	folder := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				p, err := openPrivate(folder)
				if err != nil {
					t.Error(err)
					return
				}
				if err := p.root.Mkdir("0", 0o700); err != nil {
					t.Error("the folder of a running copy was removed:", err)
				}
				p.Close()
			}
		})
	}
	all.Wait()
	empty(t, folder)
}
