package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"soku/internal/store"
	"soku/test/freeport"
	"soku/test/tier"
)

// disk mounts a file system of some pages.
func disk(t *testing.T, pages int) string {
	t.Helper()
	tier.NeedsRoot(t, "small file systems to fill")
	dir := t.TempDir()
	if err := unix.Mount("soku-test", dir, "tmpfs", 0, fmt.Sprintf("size=%dk", 4*pages)); err != nil {
		t.Skipf("mounting a small file system to fill: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// holds fails the test unless a file has a text and its folder has nothing half-written.
func holds(t *testing.T, file, text string) {
	t.Helper()
	if b, err := os.ReadFile(file); err != nil || string(b) != text {
		t.Errorf("what was in the file is now %q, %v", b, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.part"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestAFullOrReadOnlyDiskIsFoundBeforeTheTest(t *testing.T) {
	closed := fmt.Sprintf("127.0.0.1:%d", freeport.One(t))
	full := disk(t, 1)
	old := filepath.Join(full, "result.json")
	if err := os.WriteFile(old, []byte("yesterday's"), 0o644); err != nil {
		t.Fatal(err)
	}
	readOnly := disk(t, 100)
	if err := unix.Mount("soku-test", readOnly, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-o", old, "--no-save"}, {"--store", filepath.Join(full, "soku.db")},
		{"-o", filepath.Join(readOnly, "result.json"), "--no-save"}, {"--store", filepath.Join(readOnly, "data", "soku.db")},
	} {
		out, errs, code := soku(t, append([]string{"tcp", closed}, args...)...)
		if code != 7 || out != "" || !strings.Contains(errs, args[1]) || !strings.Contains(errs, "nothing was measured") {
			t.Errorf("%v: status %d\n%s%s", args, code, out, errs)
		}
	}
	holds(t, old, "yesterday's")
}

// A store that was filled before the test has its own pages left.
func TestAStoreOnAFullDiskIsFoundBeforeTheTest(t *testing.T) {
	dir := disk(t, 500)
	sys, _ := stocked(t, 0)
	sys.DataDir = dir
	if err := inStore(t.Context(), sys, "", func(store.Store) error { return nil }); err != nil {
		t.Fatal(err)
	}
	fill(t, dir)
	sys, out, errs := fakeSystem(t, "tcp", fmt.Sprintf("127.0.0.1:%d", freeport.One(t)))
	sys.DataDir = dir
	if code := Run(sys); code != 7 || out.Len() > 0 || strings.Contains(errs.String(), "refused") {
		t.Errorf("status %d\n%s%s", code, out, errs)
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 4<<20), 0o600); err == nil {
		t.Error("there is still room")
	}
}

func TestADiskThatFillsDuringTheTestCostsNoFigureAndNoFile(t *testing.T) {
	addr := startServer(t, nil)
	dir := disk(t, 500)
	old := filepath.Join(dir, "result.json")
	if err := os.WriteFile(old, []byte("yesterday's"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-o", old, "--no-save"}, {"--store", filepath.Join(dir, "soku.db")}} {
		sys, out, errs := fakeSystem(t, append([]string{"tcp", addr, "-t", "200ms"}, args...)...)
		write := sys.WriteFile
		sys.WriteFile = func(name string, data []byte, perm os.FileMode) error {
			fill(t, dir)
			return write(name, data, perm)
		}
		open, opened := sys.OpenStore, 0
		sys.OpenStore = func(ctx context.Context, address string) (store.Store, error) {
			if opened++; opened == 2 { // the first time is before the test
				fill(t, dir)
			}
			return open(ctx, address)
		}
		if code := Run(sys); code != 7 || !strings.Contains(out.String(), "counted at the receiver") {
			t.Errorf("%v: status %d\n%s", args, code, out)
		}
		if e := errs.String(); strings.Count(e, "\n") > 4 || !strings.Contains(e, args[1]) || !strings.Contains(e, "space") {
			t.Errorf("%v: stderr does not name the file and what to do: %s", args, e)
		}
		if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, old, "yesterday's")
}

func TestUnwritableOutputIsReported(t *testing.T) {
	addr := startServer(t, nil)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	sys, _, errs := fakeSystem(t, "tcp", addr, "-t", "200ms", "--no-save", "--json")
	sys.Stdout = full
	if code := Run(sys); code != 7 || !strings.Contains(errs.String(), "no space") {
		t.Errorf("status %d: %s", code, errs.String())
	}
}
