package filecopy

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"soku/internal/engine"
	"soku/internal/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are effective options of a copy, changed by edit.
func options(t *testing.T, edit func(o *measure.Options, own *Options)) measure.Options {
	t.Helper()
	o := measure.Defaults(measure.TestCopy)
	own := OptionsOf(o)
	own.Files, own.FileSize, own.Sync = 20, 10_000, off
	edit(&o, &own)
	o.Own = own
	effective, err := o.Effective(measure.TestCopy)
	if err != nil {
		t.Fatal(err)
	}
	return effective
}

// empty fails if a folder has anything in it.
func empty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Errorf("%s: %v, %v", folder, entries, err)
	}
}

// wantCode fails if an error is not of that code.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *measure.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error %v, want one of code %s", err, code)
	}
}

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

func TestAFileThatShrinksWhileItIsCopiedIsReported(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "f")
	if err := os.WriteFile(file, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(t, func(_ *measure.Options, own *Options) { own.Folder, own.To = folder, t.TempDir() })
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if err := os.Truncate(file, 100); err != nil {
		t.Fatal(err)
	}
	_, err = Local(t.Context(), set, o, nil)
	wantCode(t, err, "copy.changed")
	empty(t, OptionsOf(o).To)
}

func TestACopyThatHasNoRoomIsRefused(t *testing.T) {
	err := room(measure.CopyPlace{FreeBytes: 1000}, 960, "x")
	wantCode(t, err, "copy.no_room")
	if err := room(measure.CopyPlace{FreeBytes: 1000}, 900, "x"); err != nil {
		t.Error(err)
	}
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
	set.Close()
	empty(t, disk)
	empty(t, to)
}

// pairs are connected pairs of TCP connections.
func pairs(t *testing.T, n int) (a, b []*net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range n {
		c, err := net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
		if err != nil {
			t.Fatal(err)
		}
		d, err := l.AcceptTCP()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(); _ = d.Close() })
		a, b = append(a, c), append(b, d)
	}
	return a, b
}

// sinkResult is what an end returned.
type sinkResult struct {
	c   *measure.Copy
	err error
}

// runSink runs the end that writes into a folder, in a goroutine.
func runSink(t *testing.T, folder string, conns []*net.TCPConn, o measure.Options) <-chan sinkResult {
	t.Helper()
	root, err := OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan sinkResult, 1)
	go func() {
		c, err := Sink(t.Context(), root, conns, o, engine.Flow{})
		for _, c := range conns {
			_ = c.Close() // as a server does
		}
		_ = root.Close()
		out <- sinkResult{c, err}
	}()
	return out
}

func TestACopyOverTheNetworkIsVerifiedAndRemoved(t *testing.T) {
	for _, checksum := range []string{"sha256", "crc32c", off} {
		disk, root := t.TempDir(), t.TempDir()
		o := options(t, func(o *measure.Options, own *Options) {
			own.Disk, own.Stage, own.Checksum, o.Streams = disk, apart, checksum, 3
			own.FileSize = 1<<20 + 1
		})
		set, err := Prepare(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		a, b := pairs(t, 3)
		far := runSink(t, root, b, o)
		c, err := Source(t.Context(), set, a, o, engine.Flow{})
		sink := <-far
		if err != nil || sink.err != nil {
			t.Fatal(err, sink.err)
		}
		if len(c.Stages) != 4 || len(sink.c.Stages) != 3 {
			t.Fatalf("stages %+v and %+v", c.Stages, sink.c.Stages)
		}
		for _, s := range sink.c.Stages {
			if s.Files != 20 || s.Bytes != set.bytes {
				t.Errorf("%s: %d files, %d bytes", s.Stage, s.Files, s.Bytes)
			}
			if wrote := s.Sink.WriteNs > 0; wrote != (s.Stage != measure.StageNetwork) {
				t.Errorf("%s: written for %d ns", s.Stage, s.Sink.WriteNs)
			}
		}
		if verified := sink.c.Verified == 20; verified != (checksum != off) {
			t.Errorf("%s: %d files verified", checksum, sink.c.Verified)
		}
		all := c.StageNamed(measure.StageAll)
		if all.Source.NetworkBytes <= set.bytes || all.Source.ReadNs <= 0 || (all.Source.HashNs > 0) != (checksum != off) && checksum != off {
			t.Errorf("source %+v", all.Source)
		}
		set.Close()
		empty(t, disk)
		empty(t, root)
	}
}

// speak plays a source that sends what a test makes, and returns how the sink ended.
func speak(t *testing.T, o measure.Options, message []byte) error {
	t.Helper()
	root := t.TempDir()
	a, b := pairs(t, 1)
	far := runSink(t, root, b, o)
	if _, err := a[0].Write(message); err != nil {
		t.Fatal(err)
	}
	_ = a[0].CloseWrite()
	end := <-far
	empty(t, root)
	return end.err
}

func TestASinkTakesNoMoreThanWasAnnounced(t *testing.T) {
	o := options(t, func(_ *measure.Options, own *Options) { own.Checksum = off })
	all := stageNumbers[measure.StageAll]
	stage := frame{frameStage, all, entry{1, 2, 100}}.append(nil)
	file := func(dir, number uint32, size int64) []byte {
		return append(frame{frameFile, all, entry{dir, number, size}}.append(nil), make([]byte, min(size, 1000))...)
	}
	for name, c := range map[string]struct {
		message []byte
		code    string
	}{
		"more bytes":                {append(bytes.Clone(stage), file(0, 0, 101)...), "copy.frame"},
		"more files":                {bytes.Join([][]byte{stage, file(0, 0, 1), file(0, 1, 1), file(0, 0, 1)}, nil), "copy.frame"},
		"a directory outside":       {append(bytes.Clone(stage), file(1, 0, 1)...), "copy.frame"},
		"a number outside":          {append(bytes.Clone(stage), file(0, 2, 1)...), "copy.frame"},
		"a file twice":              {bytes.Join([][]byte{stage, file(0, 1, 1), file(0, 1, 1), frame{kind: frameEnd}.append(nil)}, nil), "copy.write"},
		"no stage":                  {file(0, 0, 1), "copy.frame"},
		"more than the disk holds":  {frame{frameStage, all, entry{1, 2, bytesMost}}.append(nil), "copy.no_room"},
		"a connection that is shut": {append(bytes.Clone(stage), file(0, 0, 100)[:50]...), "copy.receive"},
		"other bytes":               {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "copy.frame"},
	} {
		err := speak(t, o, c.message)
		var e *measure.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v, want code %s", name, err, c.code)
		}
	}
}

func TestOtherContentsThanTheChecksumAreReported(t *testing.T) {
	o := options(t, func(*measure.Options, *Options) {})
	all := stageNumbers[measure.StageAll]
	message := frame{frameStage, all, entry{1, 1, 5}}.append(nil)
	message = frame{frameFile, all, entry{0, 0, 5}}.append(message)
	wantCode(t, speak(t, o, append(message, make([]byte, 5+32)...)), "copy.checksum")
}

// Without a folder a server still measures the network.
func TestWithoutAFolderOnlyTheNetworkIsMeasured(t *testing.T) {
	o := options(t, func(_ *measure.Options, own *Options) { own.Stage = measure.StageNetwork })
	for stage, code := range map[string]string{measure.StageAll: "copy.no_root", measure.StageWrite: "copy.no_root", measure.StageNetwork: "copy.receive"} {
		a, b := pairs(t, 1)
		_, _ = a[0].Write(frame{frameStage, stageNumbers[stage], entry{1, 1, 5}}.append(nil))
		_ = a[0].CloseWrite()
		_, err := Sink(t.Context(), nil, b, o, engine.Flow{})
		wantCode(t, err, code)
	}
}

func TestASourceEndsWhenItsSinkDoes(t *testing.T) {
	disk := t.TempDir()
	o := options(t, func(o *measure.Options, own *Options) { own.Disk, o.Streams = disk, 2; own.FileSize = 1 << 20 })
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	a, b := pairs(t, 2)
	_ = b[1].Close() // one of two is enough; nobody reads the other
	_, err = Source(t.Context(), set, a, o, engine.Flow{})
	if !errors.Is(err, engine.ErrPeer) {
		t.Errorf("error %v", err)
	}
}

func TestFramesAreReadAsTheyWereWritten(t *testing.T) {
	for _, f := range []frame{
		{frameStage, 1, entry{1, 1, 0}}, {frameStage, 3, entry{7, 9, bytesMost}}, {frameFile, 3, entry{0, 0, 0}},
		{frameFile, 2, entry{6, 8, 1 << 40}}, {kind: frameEnd}, {kind: frameOver},
	} {
		if got, ok := parseFrame(f.append(nil)); !ok || got != f {
			t.Errorf("%+v: %+v, %v", f, got, ok)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(frame{frameStage, 3, entry{7, 9, 1 << 30}}.append(nil))
	f.Add(make([]byte, frameSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < frameSize {
			return
		}
		x, ok := parseFrame(b[:frameSize])
		if ok && !bytes.Equal(x.append(nil), b[:frameSize]) {
			t.Errorf("%x was read as %+v", b[:frameSize], x)
		}
	})
}

// A process that is killed leaves its folder; its lock ends with it.
func TestWhatAKilledProcessLeftIsRemovedByTheNextCopy(t *testing.T) {
	folder := t.TempDir()
	left, err := OpenPrivate(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := left.root.MkdirAll("all/0", 0o700); err != nil {
		t.Fatal(err)
	}
	running, err := OpenPrivate(folder)
	if err != nil {
		t.Fatal(err)
	}
	if !exists(folder, left.name) {
		t.Fatal("the folder of a running copy was removed")
	}
	_ = left.lock.Close() // as the system does when the process ends
	_ = left.root.Close()
	others := []string{privatePrefix + "of-somebody", privatePrefix + "link"}
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
	next, err := OpenPrivate(folder)
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

func TestALongStageHasBoundedSamples(t *testing.T) {
	s := &sampling{work: &work{}, joined: 1}
	for range 3 * samplesMost {
		s.work.fileBytes.Add(10)
		s.sample()
	}
	sum := int64(0)
	for _, x := range s.samples {
		sum += x.FileBytes
	}
	if len(s.samples) >= samplesMost || sum != 30*samplesMost {
		t.Errorf("%d samples, %d bytes", len(s.samples), sum)
	}
}

func TestOptionsThatDoNotGoTogetherAreRefused(t *testing.T) {
	for code, edit := range map[string]func(o *measure.Options, own *Options){
		"copy.bidirectional":  func(o *measure.Options, _ *Options) { o.Direction = measure.Bidirectional },
		"copy.streams":        func(o *measure.Options, _ *Options) { o.Streams = 65 },
		"copy.no_files":       func(_ *measure.Options, own *Options) { own.Files = 0 },
		"copy.folder_reverse": func(o *measure.Options, own *Options) { o.Direction, own.Folder = measure.Reverse, "x" },
		"copy.to_reverse":     func(o *measure.Options, own *Options) { o.Direction, own.To = measure.Reverse, "x" },
		"copy.to_network":     func(_ *measure.Options, own *Options) { own.To, own.Stage = "x", measure.StageNetwork },
		"copy.bytes":          func(_ *measure.Options, own *Options) { own.Files, own.FileSize = 1e6, 1<<40 },
		"copy.path":           func(_ *measure.Options, own *Options) { own.Disk = "a\x00b" },
	} {
		o := measure.Defaults(measure.TestCopy)
		own := OptionsOf(o)
		edit(&o, &own)
		o.Own = own
		_, err := o.Effective(measure.TestCopy)
		wantCode(t, err, code)
	}
}

func TestWhatASourceReadsIsSeenInThePageCache(t *testing.T) {
	o := options(t, func(_ *measure.Options, own *Options) { own.Disk, own.Sync = t.TempDir(), "end" })
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	ratio, err := set.cachedRatio(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ratio == nil {
		t.Skip("the file system does not tell")
	}
	if *ratio != 1 {
		t.Errorf("%v of files that were just written", *ratio)
	}
	if describePlace(set.root).FileSystem == "tmpfs" {
		t.Skip("a file system in memory drops no pages")
	}
	if ratio, err = coldOr(t.Context(), set, "cold"); err != nil || *ratio > 0.1 {
		t.Errorf("%v, %v after their pages were dropped", *ratio, err)
	}
}
