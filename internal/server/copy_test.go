package server

import (
	"net"
	"os"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// copyOptions are those of a copy of 30 files of 20 kB in a folder of the client.
func copyOptions(t *testing.T, edit func(*filecopy.Options)) measure.Options {
	t.Helper()
	o := option.Defaults(measure.TestCopy)
	o.Streams = 2
	measure.EditOwn(&o, func(own *filecopy.Options) {
		own.Files, own.FileSize, own.Disk, own.Sync = 30, 20_000, t.TempDir(), "off"
		edit(own)
	})
	return o
}

func TestAServerTakesCopiesOnlyWithAFolder(t *testing.T) {
	r := serve(t, Config{})
	_, err := native.Open(t.Context(), r.addr, r.request(measure.TestCopy, copyOptions(t, func(*filecopy.Options) {})), wire.Hooks{})
	if e := measure.AsError(err, measure.KindInternal); err == nil || e.Kind != measure.KindRefused || e.Code != "copy.no_root" {
		t.Errorf("error %v", err)
	}
	session, err := native.Open(t.Context(), r.addr, r.request(measure.TestCopy, copyOptions(t, func(own *filecopy.Options) { own.Stage = measure.StageNetwork })), wire.Hooks{})
	if err != nil {
		t.Fatal("a copy that writes nothing:", err)
	}
	_ = session.Close()
}

// copySession is a session that a server whose folder is root has started.
type copySession struct {
	*running
	wire.Session
	conns []*net.TCPConn
}

func startCopy(t *testing.T, root string, cfg Config, o measure.Options) copySession {
	t.Helper()
	folder, err := filecopy.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	cfg.CopyRoot = folder
	r := serve(t, cfg)
	session, err := native.Open(t.Context(), r.addr, r.request(measure.TestCopy, o), wire.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	conns, err := session.TCP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return copySession{r, session, conns}
}

// copyTo copies to a server whose folder is root, and returns what both ends counted.
func copyTo(t *testing.T, root string, o measure.Options) (own *measure.Copy, half *measure.End) {
	t.Helper()
	set, err := filecopy.Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	session := startCopy(t, root, Config{MaxRate: 1e9}, o)
	conns := session.conns
	if o = session.Options(); o.Rate != 1e9 {
		t.Errorf("the rate is %v", o.Rate)
	}
	if o.Direction == measure.Reverse {
		sink, err := filecopy.SinkRoot(o)
		if err != nil {
			t.Fatal(err)
		}
		defer sink.Close()
		own, err = filecopy.Sink(t.Context(), sink, conns, o, engine.Flow{})
		if err != nil {
			t.Fatal(err)
		}
	} else if own, err = filecopy.Source(t.Context(), set, conns, o, engine.Flow{}); err != nil {
		t.Fatal(err)
	}
	half, err = session.Finish(t.Context(), nil)
	if err != nil || half.Error != nil {
		t.Fatal(err, half.Error)
	}
	return own, half
}

// A client may stop sending or reading; its place and the room of its files are not kept for
// longer than the longest test.
func TestAClientThatStopsInTheMiddleOfACopyIsEnded(t *testing.T) {
	for _, direction := range measure.Directions()[:2] {
		root := t.TempDir()
		o := copyOptions(t, func(own *filecopy.Options) {
			own.Files, own.FileSize = 1, 64<<20
			if direction == measure.Reverse {
				own.Stage = measure.StageNetwork // which makes no files
			}
		})
		o.Direction = direction
		session := startCopy(t, root, Config{MaxDuration: measure.Duration(200 * time.Millisecond)}, o)
		if direction == measure.Forward {
			for _, c := range session.conns { // docs/protocol.md: stage all with one file, which never comes
				_, _ = c.Write([]byte{1, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0})
			}
		}
		select {
		case err := <-session.Err():
			if e := measure.AsError(err, measure.KindInternal); e.Kind != measure.KindRefused || e.Code != "server.max_duration.ended" {
				t.Errorf("%s: %v", direction, err)
			}
		case <-time.After(prompt):
			t.Fatalf("%s: the session goes on", direction)
		}
		session.free()
		if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
			t.Errorf("%s: the folder has %v, %v", direction, entries, err)
		}
	}
}

// The number of files times their size does not fit into 64 bits.
func TestAServerRefusesMoreBytesThanACopyHas(t *testing.T) {
	folder, err := filecopy.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	r := serve(t, Config{CopyRoot: folder})
	o := copyOptions(t, func(own *filecopy.Options) { own.Files, own.FileSize = 1_000_000, 1<<44 })
	for _, direction := range measure.Directions()[:2] {
		o.Direction = direction
		_, err = native.Open(t.Context(), r.addr, r.request(measure.TestCopy, o), wire.Hooks{})
		if e := measure.AsError(err, measure.KindInternal); err == nil || e.Code != "copy.bytes" {
			t.Errorf("%s: %v", direction, err)
		}
	}
}

func TestACopyGoesBothWaysAndLeavesTheServersFolderAsItWas(t *testing.T) {
	for _, direction := range measure.Directions()[:2] {
		root := t.TempDir()
		if err := os.WriteFile(root+"/0", []byte("not of a copy"), 0o600); err != nil {
			t.Fatal(err)
		}
		o := copyOptions(t, func(own *filecopy.Options) { own.Stage = "apart" })
		o.Direction = direction
		own, half := copyTo(t, root, o)
		source, sink := own, half.Copy
		if direction == measure.Reverse {
			source, sink = sink, source
		}
		if source.Files != 30 || len(source.Stages) != 4 || sink.Verified != 30 || len(sink.Stages) != 3 {
			t.Errorf("%s: source %+v, sink %+v", direction, source, sink)
		}
		if bytes, _ := half.Moved(); bytes < 2*600_000 {
			t.Errorf("%s: the server counts %d bytes", direction, bytes)
		}
		entries, err := os.ReadDir(root)
		if err != nil || len(entries) != 1 || entries[0].Name() != "0" {
			t.Errorf("%s: the folder has %v, %v", direction, entries, err)
		}
	}
}
