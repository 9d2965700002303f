package filecopy

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestALocalCopyMovesAndVerifiesEveryFile(t *testing.T) {
	disk, to := t.TempDir(), t.TempDir()
	for _, direct := range []bool{false, true} {
		o := options(t, func(o *measure.Options, own *Options) {
			own.Disk, own.To, own.Stage, own.Sync, own.Direct, o.Streams = disk, to, apart, "end", direct, 3
			own.FileSize = 2<<20 + 17
		})
		set, err := Prepare(t.Context(), o)
		if direct && err == nil && !directWorks(t, set) {
			set.Close()
			t.Skip("the file system of the test has no direct I/O")
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := Local(t.Context(), set, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Files != 20 || c.Verified != 20 || c.Checksum != "compare" || len(c.Stages) != 3 || !c.Generated {
			t.Errorf("%+v", c)
		}
		all := c.Stage()
		if all.Stage != measure.StageAll || all.Bytes != c.Bytes || all.Files != 20 || all.DurationNs <= 0 {
			t.Errorf("%+v", all)
		}
		if all.Source.ReadNs <= 0 || all.Sink.WriteNs <= 0 || all.Sink.FileNs <= 0 || c.Source.Direct != direct {
			t.Errorf("source %+v, sink %+v", all.Source, all.Sink)
		}
		set.Close()
		empty(t, disk)
		empty(t, to)
	}
}

// A stage alone has the place that it measures and no other, and verifies nothing.
func TestALocalStageAloneHasOnePlace(t *testing.T) {
	for stage, want := range map[string]struct{ source, sink bool }{measure.StageRead: {source: true}, measure.StageWrite: {sink: true}} {
		disk, to := t.TempDir(), t.TempDir()
		o := options(t, func(_ *measure.Options, own *Options) { own.Disk, own.To, own.Stage = disk, to, stage })
		set, err := Prepare(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Local(t.Context(), set, o, nil)
		set.Close()
		if err != nil || len(c.Stages) != 1 || c.Stages[0].Files != 20 || c.Stages[0].Bytes != 200_000 {
			t.Errorf("%s: %v, %+v", stage, err, c)
		}
		if (c.Source != nil) != want.source || (c.Sink != nil) != want.sink || c.Checksum != "" || c.Verified != 0 {
			t.Errorf("%s: %+v", stage, c)
		}
		empty(t, disk)
		empty(t, to)
	}
}

func directWorks(t *testing.T, set *Set) bool {
	t.Helper()
	f, err := set.open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if setDirect(f, true) != nil {
		return false
	}
	_, err = f.Read(aligned(alignment))
	return err == nil
}

// A folder may have anything in it: what is no regular file is left out, and no name of the
// source becomes one at the other end.
func TestAFolderWithHostileNamesIsCopied(t *testing.T) {
	folder, to := t.TempDir(), t.TempDir()
	deep := filepath.Join(folder, strings.Repeat("d", 200), "..data", "\u202eevil")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	names := []string{"-rf", "a\nb", strings.Repeat("x", 255), "CON", "con", "%2e%2e", ".soku-copy-x"}
	for i, name := range names {
		if err := os.WriteFile(filepath.Join(deep, name), bytes.Repeat([]byte{byte(i)}, i*1000), 0o600); err != nil {
			t.Skip("this system does not have such names:", err)
		}
	}
	for _, link := range [][2]string{{"/etc/passwd", "link"}, {"/", "root"}} {
		if err := os.Symlink(link[0], filepath.Join(folder, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	o := options(t, func(_ *measure.Options, own *Options) { own.Folder, own.To = folder, to })
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	c, err := Local(t.Context(), set, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Files != 7 || c.Verified != 7 || c.Skipped != 2 || c.Directories != 1 || c.Bytes != 21_000 || c.Generated {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(filepath.Join(deep, "-rf")); err != nil {
		t.Error("the source is not as it was:", err)
	}
	empty(t, to)
}

func TestAFileOfAnotherSizeThanItHadIsReported(t *testing.T) {
	for _, size := range []int64{100, 6000} {
		folder, to := t.TempDir(), t.TempDir()
		file := filepath.Join(folder, "f")
		if err := os.WriteFile(file, make([]byte, 5000), 0o600); err != nil {
			t.Fatal(err)
		}
		o := options(t, func(_ *measure.Options, own *Options) { own.Folder, own.To = folder, to })
		set, err := Prepare(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
		_, err = Local(t.Context(), set, o, nil)
		set.Close()
		wantCode(t, err, "copy.changed")
		empty(t, to)
	}
}

// A file may end while it is read.
func TestAFileThatShrinksWhileItIsReadIsReported(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "f")
	if err := os.WriteFile(file, make([]byte, 3*blockMost), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := scan(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	r := &reading{set: set, disk: true, hash: off, work: &work{}}
	err = pump(t.Context(), blockLeast, depth, r.work, nil, r.fillTaken, func(x *block, _ bool) error {
		if x.first {
			return os.Truncate(file, 0)
		}
		return nil
	})
	wantCode(t, err, "copy.changed")
}

// Sparse files may have sizes that no disk has.
func TestAFolderWithMoreBytesThanACopyHasIsRefused(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a", "b"} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, 3<<42); err != nil {
			t.Skip("this file system has no such files:", err)
		}
	}
	_, err := scan(t.Context(), folder)
	wantCode(t, err, "copy.bytes")
}

func TestAnEndedContextEndsACopyAndLeavesNothing(t *testing.T) {
	disk, to := t.TempDir(), t.TempDir()
	o := options(t, func(_ *measure.Options, own *Options) { own.Disk, own.To = disk, to })
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Local(ctx, set, o, nil); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	if _, err := Prepare(ctx, o); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	if _, err := scan(ctx, disk); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	set.Close()
	empty(t, disk)
	empty(t, to)
}
