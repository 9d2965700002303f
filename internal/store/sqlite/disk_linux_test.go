package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/test/storetest"
	"soku/test/tier"
)

// smallDisk mounts a file system of its own for the test.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	tier.NeedsRoot(t, "small file systems to fill")
	dir := t.TempDir()
	if err := unix.Mount("soku-test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a small file system to fill: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestAFullDiskLosesNothing(t *testing.T) {
	dir := smallDisk(t, "2m")
	path := filepath.Join(dir, "soku.db")
	s := open(t, path)
	stored := 0
	var err error
	for ; stored < 10_000; stored++ {
		r := storetest.Result(fmt.Sprintf("result-%d", stored), stored)
		r.Findings = measure.OfSentences([]string{strings.Repeat("w", 10_000)})
		if err = s.Put(t.Context(), r); err != nil {
			break
		}
	}
	if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), path) {
		t.Fatalf("after %d results: %v", stored, err)
	}
	if stored < 10 {
		t.Fatalf("only %d results fit", stored)
	}
	check := func(s store.Store) {
		t.Helper()
		n, err := s.Count(t.Context(), store.Query{})
		if err != nil || n != stored {
			t.Fatalf("%d results (%v), want %d", n, err, stored)
		}
		if _, err := s.Get(t.Context(), fmt.Sprintf("result-%d", stored-1)); err != nil {
			t.Fatal(err)
		}
	}
	check(s)
	if err := unix.Mount("soku-test", dir, "tmpfs", unix.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), storetest.Result("after", 1)); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	stored++
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := open(t, path).Count(t.Context(), store.Query{}); err != nil || n != stored {
		t.Errorf("after reopening %d results (%v), want %d", n, err, stored)
	}
}

func TestTakingOverAStoreOnAFullDiskLosesNothing(t *testing.T) {
	old, results := sqlite.Schema1(t, 2)
	content, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	dir := smallDisk(t, fmt.Sprintf("%dk", len(content)/1024+1024))
	path := filepath.Join(dir, "soku.db")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = sqlite.Open(t.Context(), path)
	if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), path) {
		t.Fatalf("error is %v", err)
	}
	if err := unix.Mount("soku-test", dir, "tmpfs", unix.MS_REMOUNT, "size=100m"); err != nil {
		t.Fatal(err)
	}
	sqlite.WantAll(t, path, results)
}

func TestSaysThatTheDiskIsFullWhenMakingAStore(t *testing.T) {
	dir := smallDisk(t, "64k")
	fill, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Close()
	for err == nil {
		_, err = fill.Write(bytes.Repeat([]byte("x"), 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "soku.db")
	_, err = sqlite.Open(t.Context(), path)
	if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
}

func TestSaysThatTheFolderIsReadOnly(t *testing.T) {
	dir := smallDisk(t, "2m")
	path := filepath.Join(dir, "soku.db")
	s := open(t, path)
	if err := s.Put(t.Context(), storetest.Result("kept", 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("soku-test", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "size=2m"); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, filepath.Join(dir, "new.db")} {
		s, err := sqlite.Open(t.Context(), p)
		if err == nil {
			err = s.Put(t.Context(), storetest.Result("late", 1))
			_ = s.Close()
		}
		if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), p) || measure.AsError(err, "").Hint == "" {
			t.Errorf("error is %v", err)
		}
		t.Log(err)
	}
}
