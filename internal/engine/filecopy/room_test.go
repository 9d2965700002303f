package filecopy

import (
	"context"
	"testing"

	"soku/internal/measure"
)

func TestACopyThatHasNoRoomIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		free, need space
		code       string
	}{
		"bytes":             {space{1000, 1000}, space{960, 1}, "copy.no_room"},
		"fits":              {space{1000, 1000}, space{900, 900}, ""},
		"files":             {space{1000, 1000}, space{1, 960}, "copy.no_files_left"},
		"a few files":       {space{1000, 50}, space{1, 40}, ""},
		"full":              {space{0, 1000}, space{1, 1}, "copy.no_room"},
		"no limit on files": {space{1000, unlimited}, space{1, 1e6}, ""},
		"not known":         {space{unlimited, unlimited}, space{1 << 44, 1e6}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := room(c.free, c.need, "x"); c.code != "" {
				wantCode(t, err, c.code)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// Empty files take room, too: an entry each, and a directory of their own if their source
// says so.
func TestFilesWithoutContentsNeedRoom(t *testing.T) {
	if n := needed(0, 1000, 1000); n.bytes < 2000*4096 || n.files != 2000 {
		t.Errorf("%+v", n)
	}
}

// Copies that run count with what they have not written yet; the rest is no longer free.
func TestCopiesShareTheRoomOfAFolder(t *testing.T) {
	root, err := OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	free := spaceOf(root.Root)
	if free.bytes == unlimited {
		t.Skip("this system does not tell what is free")
	}
	half := needed(free.bytes/2, 1, 1)
	first := &work{}
	end, err := root.reserve(half, first)
	if err != nil {
		t.Fatal(err)
	}
	_, err = root.reserve(half, &work{})
	wantCode(t, err, "copy.no_room")
	first.done.Store(half.bytes) // which is not so; the disk has the room yet
	if again, err := root.reserve(half, &work{}); err != nil {
		t.Error("what the first copy has written counts twice:", err)
	} else {
		again()
	}
	first.done.Store(0)
	end()
	if _, err := root.reserve(half, &work{}); err != nil {
		t.Error("a copy that has ended keeps its room:", err)
	}
}

func TestNoFilesAreMadeThatDoNotFit(t *testing.T) {
	folder := t.TempDir()
	o := options(t, func(_ *measure.Options, own *Options) { own.Disk, own.Files, own.FileSize = folder, 1, bytesMost })
	root, err := OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if free := spaceOf(root.Root); free.bytes == unlimited || free.bytes > bytesMost {
		t.Skip("this system does not tell what is free, or has room for everything")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // without the check for room no disk is filled
	_, err = Prepare(ctx, o)
	wantCode(t, err, "copy.no_room")
	empty(t, folder)
}
