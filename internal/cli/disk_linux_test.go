package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"soku/test/tier"
)

// smallDisk mounts a file system that a result document does not fit on.
func smallDisk(t *testing.T) string {
	t.Helper()
	tier.NeedsRoot(t, "small file systems to fill")
	dir := t.TempDir()
	if err := unix.Mount("soku-test", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("mounting a small file system to fill: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestAFullDiskCostsNoFigureAndNoFile(t *testing.T) {
	addr := startServer(t, nil)
	disk := smallDisk(t)
	old := filepath.Join(disk, "result.json")
	if err := os.WriteFile(old, []byte("yesterday's"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-o", old, "--no-save"}, {"--store", filepath.Join(disk, "soku.db")}} {
		out, errs, code := soku(t, append([]string{"tcp", addr, "-t", "200ms"}, args...)...)
		if code != 7 || !strings.Contains(out, "counted at the receiver") {
			t.Errorf("%v: status %d\n%s", args, code, out)
		}
		if strings.Count(errs, "\n") > 4 || !strings.Contains(errs, args[1]) || !strings.Contains(errs, "space") {
			t.Errorf("%v: stderr does not name the file and what to do: %s", args, errs)
		}
	}
	if b, err := os.ReadFile(old); err != nil || string(b) != "yesterday's" {
		t.Errorf("what was in the file is now %q, %v", b, err)
	}
	left, err := filepath.Glob(filepath.Join(disk, "*.part"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
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
