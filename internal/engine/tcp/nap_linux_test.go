package tcp

import (
	"testing"
	"time"

	"soku/internal/sock"
)

// rooms are the windows of a loop's streams.
type rooms []int64

func (r rooms) Room(k int) int64 { return r[k] }

// naps looks for as long as rates and windows are compared twice, each look bringing n
// bytes to every stream, and tells whether the loop may sleep after the last.
func naps(n int64, windows rooms) bool {
	var p nap
	l := newLoop(make([]int, len(windows)))
	look := func() bool {
		for k := range l.counts {
			l.counts[k].Bytes += n
		}
		return p.after(n*int64(len(windows)), &l, windows)
	}
	for end := sock.Now().Add(3 * weigh); sock.Now().Before(end); {
		look()
		time.Sleep(doze)
	}
	return look()
}

func TestALoopThatDropsSleepsWhileCrumbsAddUpInWindowsWithRoom(t *testing.T) {
	for name, c := range map[string]struct {
		bytes   int64
		windows rooms
		want    bool
	}{
		"crumbs, wide windows":  {16 << 10, rooms{64 << 20, 64 << 20}, true},
		"crumbs, small windows": {16 << 10, rooms{64, 64}, false},
		"much, wide windows":    {crumbs, rooms{1 << 40}, false},
		"one small window":      {16 << 10, rooms{64 << 20, 64}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := naps(c.bytes, c.windows); got != c.want {
				t.Errorf("sleeps: %v, want %v", got, c.want)
			}
		})
	}
	l := newLoop(make([]int, 1))
	if (&nap{}).after(1, &l, rooms{1 << 40}) {
		t.Error("it sleeps before it knows the rate")
	}
}

func TestALoopSleepsBetweenCrumbsOnlyWhereStreamsShareProcessors(t *testing.T) {
	for streams, want := range map[int]bool{1: false, sock.Processors: false, sock.Processors + 1: true} {
		l := receiveLoop{loop: newLoop(make([]int, streams)), yields: true, nap: nap{since: sock.Now().Add(time.Minute), room: true}}
		if got := l.naps(1); got != want {
			t.Errorf("%d streams on %d processors: sleeps %v, want %v", streams, sock.Processors, got, want)
		}
	}
}
