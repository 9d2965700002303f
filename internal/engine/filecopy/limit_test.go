package filecopy

import (
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock/pace"
	"soku/test/loopback"
	"soku/test/tier"
)

// limited is a folder whose copies may take most bytes together, or any for 0.
func limited(t *testing.T, most int64) *Root {
	t.Helper()
	root, err := OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	root.Limit(most)
	return root
}

// Two frames make a sink write a file, and one request makes a source.
func TestContentsThatAServerMakesKeepToItsLimit(t *testing.T) {
	tier.SpendsSeconds(t)
	const size, rate = 1_000_000, 8e6 // a second
	o := options(t, func(_ *measure.Options, own *Options) {
		own.Files, own.FileSize, own.Stage = 1, size, measure.StageWrite
	})
	for name, run := range map[string]func(limit engine.Limit) error{
		"sink": func(limit engine.Limit) error {
			a, b := loopback.TCP(t, 1)
			message := frame{frameStage, stageNumbers[measure.StageWrite], entry{1, 1, size}}.append(nil)
			message = frame{frameFile, stageNumbers[measure.StageWrite], entry{0, 0, size}}.append(message)
			message = frame{kind: frameOver}.append(frame{kind: frameEnd}.append(message))
			if _, err := a[0].Write(message); err != nil {
				return err
			}
			_, err := Sink(t.Context(), limited(t, 0), b, o, engine.Flow{Limit: limit})
			return err
		},
		"source": func(limit engine.Limit) error {
			o := options(t, func(_ *measure.Options, own *Options) { own.Files, own.FileSize = 1, size })
			set, err := PrepareServed(t.Context(), limited(t, 0), o, limit)
			if err == nil {
				set.Close()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			limit := engine.Limit{In: pace.NewBudget(rate, 0)} // a source is bound by what it sends
			if name == "source" {
				limit = engine.Limit{Out: pace.NewBudget(rate, 0)}
			}
			began := time.Now()
			if err := run(limit); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < 900*time.Millisecond {
				t.Errorf("%d bytes at %g bit/s took %v", size, rate, took)
			}
		})
	}
}

func TestCopiesTogetherTakeNoMoreThanTheLimitOfTheirFolder(t *testing.T) {
	root := limited(t, 3<<20)
	third := needed(1<<20-2*entryBytes, 1, 1)
	var ends []func()
	for range 3 {
		w := &work{}
		end, err := root.reserve(third, w)
		if err != nil {
			t.Fatal(err)
		}
		w.done.Store(third.bytes) // what is written still counts
		ends = append(ends, end)
	}
	_, err := root.reserve(needed(0, 1, 0), &work{})
	wantCode(t, err, "copy.most")
	ends[0]()
	if _, err := root.reserve(third, &work{}); err != nil {
		t.Error("the room of a copy that has ended:", err)
	}
}

// The files of a source count as long as they exist.
func TestFilesThatAServerSendsCountUntilTheyAreRemoved(t *testing.T) {
	root := limited(t, 1<<20)
	o := options(t, func(_ *measure.Options, own *Options) { own.Files, own.FileSize = 1, 600_000 })
	set, err := PrepareServed(t.Context(), root, o, engine.Limit{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = PrepareServed(t.Context(), root, o, engine.Limit{})
	wantCode(t, err, "copy.most")
	set.Close()
	if set, err = PrepareServed(t.Context(), root, o, engine.Limit{}); err != nil {
		t.Fatal(err)
	}
	set.Close()
}
