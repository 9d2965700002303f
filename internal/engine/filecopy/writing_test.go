package filecopy

import (
	"testing"

	"soku/internal/measure"
)

func TestFlushingALongFileBeginsWhileItIsWritten(t *testing.T) {
	const step = flushEvery / 8
	for _, c := range []struct {
		sync   string
		early  int64
		direct bool
		steps  int
		want   int64
	}{
		{sync: "end", early: flushEvery, steps: 8 + 8 + 3, want: 2 * flushEvery},
		{sync: "end", early: flushEvery, steps: 7},
		{sync: "end", early: 2 * flushEvery, steps: 15},
		{sync: "end", early: 2 * flushEvery, steps: 19, want: 2 * flushEvery},
		{sync: "end", steps: 19},
		{sync: off, early: flushEvery, steps: 19},
		{sync: "file", early: flushEvery, steps: 19}, // it is flushed when it is closed
		{sync: "end", early: flushEvery, direct: true, steps: 19},
	} {
		p, err := openPrivate(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		d, err := newWriting(p, measure.StageAll, c.sync, false, &work{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.remove(p, measure.StageAll)
		d.early = c.early
		s := &stream{d: d}
		defer s.close()
		for file := range uint32(2) { // each begins anew
			e := entry{0, file, int64(c.steps+1) * step}
			for i := range c.steps {
				d.direct = c.direct && i > 0 // the file itself is written through the cache
				if err := s.write(&block{file: e, first: i == 0, data: make([]byte, step)}); err != nil {
					t.Fatal(err)
				}
				s.flushing.wait()
			}
			if s.begun != c.want {
				t.Errorf("sync %s, early %d, direct %v, %d bytes written: flushing of %d has begun, want %d", c.sync, c.early, c.direct, s.written, s.begun, c.want)
			}
			s.close()
			d.direct = false
		}
	}
}

// A device whose queue is full does not hold up the writer.
func TestOnePieceAtATimeIsHandedOverBesideTheWriter(t *testing.T) {
	var l flushing
	full, calls := make(chan struct{}), 0
	call := func() { <-full; calls++ }
	if !l.begin(call) {
		t.Fatal("the first piece is not handed over")
	}
	if l.begin(call) {
		t.Error("another piece is handed over while the first one waits")
	}
	close(full)
	l.wait()
	if !l.begin(call) {
		t.Error("nothing is handed over any more")
	}
	l.wait()
	if calls != 2 {
		t.Errorf("%d calls, want 2", calls)
	}
}
