package filecopy

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/test/loopback"
	"soku/test/tier"
)

// mount mounts a file system in memory of that size on a new folder in parent, until the
// test ends or unmount is called.
func mount(t *testing.T, parent, size string) (folder string, unmount func()) {
	t.Helper()
	folder = filepath.Join(parent, "disk")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("soku-test", folder, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a small file system: %v", err)
	}
	unmount = sync.OnceFunc(func() {
		if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(unmount)
	return folder, unmount
}

// fillDisk writes to a file in a folder until the disk is full.
func fillDisk(t *testing.T, folder string) {
	t.Helper()
	f, err := os.Create(filepath.Join(folder, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
}

// wantFull fails if an error is not that of a full disk, with a hint.
func wantFull(t *testing.T, err error) {
	t.Helper()
	wantCode(t, err, "copy.disk_full")
	if err != nil && (!strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), "another folder")) {
		t.Errorf("the sentence is %q", err)
	}
}

func TestAFolderThatCannotBeMarkedIsAnErrorAndRemoved(t *testing.T) {
	tier.NeedsRoot(t, "small file systems to fill")
	disk, _ := mount(t, t.TempDir(), "64k")
	fillDisk(t, disk)
	_, err := openPrivate(disk)
	wantFull(t, err)
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Error(err)
	}
	empty(t, disk)
}

// What cannot be removed keeps the lock by which the next copy finds it.
func TestAFolderThatCannotBeRemovedIsRemovedByALaterCopy(t *testing.T) {
	tier.NeedsRoot(t, "file systems that are in use")
	folder := t.TempDir()
	p, err := openPrivate(folder)
	if err != nil {
		t.Fatal(err)
	}
	_, unmount := mount(t, filepath.Join(folder, p.name), "64k")
	p.Close()
	if !exists(folder, p.name+"/"+lockName) {
		t.Fatal("the folder has no lock any more")
	}
	unmount()
	next, err := openPrivate(folder)
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
	empty(t, folder)
}

func TestADiskThatFillsUpWhileFilesAreMadeIsReported(t *testing.T) {
	tier.NeedsRoot(t, "small file systems to fill")
	disk, _ := mount(t, t.TempDir(), "256k")
	p, err := openPrivate(disk)
	if err != nil {
		t.Fatal(err)
	}
	_, err = generateIn(t.Context(), p, uniform(1, 1<<20), &work{}, nil)
	wantFull(t, err)
	empty(t, disk)
}

// The announced bytes fit, and another program takes their room.
func TestADiskThatFillsUpWhileASinkWritesIsReported(t *testing.T) {
	tier.NeedsRoot(t, "small file systems to fill")
	disk, _ := mount(t, t.TempDir(), "2m")
	o := options(t, func(_ *measure.Options, own *Options) { own.Checksum, own.Files, own.FileSize = off, 1, 1<<20 })
	a, b := loopback.TCP(t, 1)
	far := runSink(t, disk, b, o)
	stage, size := stageNumbers[measure.StageAll], int64(1<<20)
	message := frame{frameStage, stage, entry{1, 1, size}}.append(nil)
	message = frame{frameFile, stage, entry{0, 0, size}}.append(message)
	if _, err := a[0].Write(message); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(20 * time.Second)
	for begun := []string(nil); len(begun) == 0; time.Sleep(time.Millisecond) { // its room is reserved by then
		if begun, _ = filepath.Glob(filepath.Join(disk, privatePrefix+"*", measure.StageAll)); time.Now().After(end) {
			t.Fatal("the stage does not begin")
		}
	}
	fillDisk(t, disk)
	_, _ = a[0].Write(make([]byte, size)) // which the sink may end
	wantFull(t, (<-far).err)
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Error(err)
	}
	empty(t, disk)
}
