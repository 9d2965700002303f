package server

import (
	"os"
	"testing"

	"soku/internal/engine"
	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// copyOptions are those of a copy of 30 files of 20 kB in a folder of the client.
func copyOptions(t *testing.T, edit func(*filecopy.Options)) measure.Options {
	t.Helper()
	o := measure.Defaults(measure.TestCopy)
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

// copyTo copies to a server whose folder is root, and returns what both ends counted.
func copyTo(t *testing.T, root string, o measure.Options) (own *measure.Copy, half *measure.End) {
	t.Helper()
	folder, err := filecopy.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	r := serve(t, Config{CopyRoot: folder, MaxRate: 1e9})
	session, err := native.Open(t.Context(), r.addr, r.request(measure.TestCopy, o), wire.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if o = session.Options(); o.Rate != 1e9 {
		t.Errorf("the rate is %v", o.Rate)
	}
	set, err := filecopy.Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	conns, err := session.TCP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
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
