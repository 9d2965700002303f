package filecopy

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/loopback"
)

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
		a, b := loopback.TCP(t, 3)
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
		if all.Source.NetworkBytes <= set.bytes || all.Source.ReadNs <= 0 || (all.Source.HashNs > 0) != (checksum != off) {
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
	a, b := loopback.TCP(t, 1)
	far := runSink(t, root, b, o)
	if _, err := a[0].Write(message); err != nil {
		t.Fatal(err)
	}
	_ = a[0].CloseWrite()
	end := <-far
	empty(t, root)
	return end.err
}

func TestASinkTakesWhatWasAnnouncedAndNothingElse(t *testing.T) {
	// Of a folder of the other end only its frames say what it has.
	o := options(t, func(_ *measure.Options, own *Options) { own.Checksum, own.Folder = off, "of the source" })
	all := stageNumbers[measure.StageAll]
	stage := frame{frameStage, all, entry{1, 2, 100}}.append(nil)
	file := func(dir, number uint32, size int64) []byte {
		return append(frame{frameFile, all, entry{dir, number, size}}.append(nil), make([]byte, min(size, 1000))...)
	}
	end := frame{kind: frameEnd}.append(nil)
	for name, c := range map[string]struct {
		message []byte
		code    string
	}{
		"more bytes":                {append(bytes.Clone(stage), file(0, 0, 101)...), "copy.frame"},
		"more files":                {bytes.Join([][]byte{stage, file(0, 0, 1), file(0, 1, 1), file(0, 0, 1)}, nil), "copy.frame"},
		"a directory outside":       {append(bytes.Clone(stage), file(1, 0, 1)...), "copy.frame"},
		"a number outside":          {append(bytes.Clone(stage), file(0, 2, 1)...), "copy.frame"},
		"a file twice":              {bytes.Join([][]byte{stage, file(0, 1, 1), file(0, 1, 1), end}, nil), "copy.write"},
		"fewer files":               {bytes.Join([][]byte{stage, file(0, 0, 100), end}, nil), "copy.frame"},
		"fewer bytes":               {bytes.Join([][]byte{stage, file(0, 0, 1), file(0, 1, 1), end}, nil), "copy.frame"},
		"another stage":             {frame{frameStage, stageNumbers[measure.StageWrite], entry{1, 2, 100}}.append(nil), "copy.frame"},
		"an end before the stage":   {frame{kind: frameOver}.append(nil), "copy.frame"},
		"a stage twice":             {bytes.Join([][]byte{stage, file(0, 0, 50), file(0, 1, 50), end, stage}, nil), "copy.frame"},
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

// A hostile server is asked for little, announces much, and lets the client make the contents.
func TestASinkWritesNothingButTheFilesOfItsOptions(t *testing.T) {
	for _, stage := range []string{measure.StageNetwork, measure.StageWrite, measure.StageAll} {
		o := options(t, func(_ *measure.Options, own *Options) {
			own.Files, own.FileSize, own.Stage, own.Checksum = 1, 1<<20, stage, off
		})
		n := stageNumbers[stage]
		for name, e := range map[string]entry{"larger files": {1, 1, 600 << 20}, "more files": {1, 2, 1 << 20}, "fewer bytes": {1, 1, 1}} {
			message := frame{frameStage, n, e}.append(nil)
			message = frame{frameFile, n, entry{0, 0, e.size}}.append(message)
			wantCode(t, speak(t, o, frame{kind: frameEnd}.append(message)), "copy.other_files")
			if t.Failed() {
				t.Fatalf("%s: %s", stage, name)
			}
		}
	}
}

func TestOtherContentsThanTheChecksumAreReported(t *testing.T) {
	o := options(t, func(_ *measure.Options, own *Options) { own.Files, own.FileSize = 1, 5 })
	all := stageNumbers[measure.StageAll]
	message := frame{frameStage, all, entry{1, 1, 5}}.append(nil)
	message = frame{frameFile, all, entry{0, 0, 5}}.append(message)
	wantCode(t, speak(t, o, append(message, make([]byte, 5+32)...)), "copy.checksum")
}

// Without a folder a server still measures the network.
func TestWithoutAFolderOnlyTheNetworkIsMeasured(t *testing.T) {
	for stage, code := range map[string]string{measure.StageAll: "copy.no_root", measure.StageWrite: "copy.no_root", measure.StageNetwork: "copy.receive"} {
		o := options(t, func(_ *measure.Options, own *Options) { own.Stage, own.Files, own.FileSize = stage, 1, 5 })
		a, b := loopback.TCP(t, 1)
		_, _ = a[0].Write(frame{frameStage, stageNumbers[stage], entry{1, 1, 5}}.append(nil))
		_ = a[0].CloseWrite()
		_, err := Sink(t.Context(), nil, b, o, engine.Flow{})
		wantCode(t, err, code)
	}
}

// The client reads the errors of its server.
func TestAServersErrorDoesNotNameItsFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secret")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Remove(folder); err != nil {
		t.Skip("this system removes no open folder:", err)
	}
	_, err = Sink(t.Context(), root, nil, options(t, func(*measure.Options, *Options) {}), engine.Flow{})
	wantCode(t, err, "copy.private")
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Error(err)
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
	a, b := loopback.TCP(t, 2)
	_ = b[1].Close() // one of two is enough; nobody reads the other
	_, err = Source(t.Context(), set, a, o, engine.Flow{})
	if !errors.Is(err, engine.ErrPeer) {
		t.Errorf("error %v", err)
	}
}
