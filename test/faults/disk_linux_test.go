package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// disk is a small one of its own for a folder, in memory.
type disk struct {
	t      *testing.T
	folder string
	size   int64
}

func newDisk(t *testing.T, folder string, size int64) *disk {
	t.Helper()
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = unix.Mount("soku-faults", folder, "tmpfs", 0, fmt.Sprintf("mode=0755,size=%d", size))
	}
	if errors.Is(err, unix.EPERM) {
		t.Skip("this system does not let the test mount a disk: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
		_ = os.Remove(folder)
	})
	return &disk{t, folder, size}
}

// full fills the disk, and frees it after a time.
func (d *disk) full(after time.Duration) {
	d.t.Helper()
	f, err := os.Create(filepath.Join(d.folder, "filled"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	for block := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		d.t.Fatal(err)
	}
	time.Sleep(after)
}
