package tcp

import (
	"testing"
	"time"

	"soku/internal/sock"
)

// rooms are the windows of a loop's streams.
type rooms []int64

func (r rooms) Room(k int) int64 { return r[k] }

// coalesces makes passes for as long as rates and windows are compared twice, each of n
// bytes on every stream, and reports whether the loop may sleep after the last.
func coalesces(n int64, windows rooms) bool {
	var p coalescer
	l := newLoop(make([]int, len(windows)))
	pass := func() bool {
		for k := range l.counts {
			l.counts[k].Bytes += n
		}
		return p.after(n*int64(len(windows)), &l, windows)
	}
	for end := sock.Now().Add(3 * compareEvery); sock.Now().Before(end); {
		pass()
		time.Sleep(fixedSleep)
	}
	return pass()
}

func TestADiscardingLoopSleepsAfterSmallPassesIfWindowsHaveRoom(t *testing.T) {
	for name, c := range map[string]struct {
		bytes   int64
		windows rooms
		want    bool
	}{
		"small passes, wide windows":  {16 << 10, rooms{64 << 20, 64 << 20}, true},
		"small passes, small windows": {16 << 10, rooms{64, 64}, false},
		"large passes, wide windows":  {smallPass, rooms{1 << 40}, false},
		"one small window":            {16 << 10, rooms{64 << 20, 64}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := coalesces(c.bytes, c.windows); got != c.want {
				t.Errorf("sleeps: %v, want %v", got, c.want)
			}
		})
	}
	l := newLoop(make([]int, 1))
	if (&coalescer{}).after(1, &l, rooms{1 << 40}) {
		t.Error("it sleeps before it knows the rate")
	}
}

func TestALoopSleepsAfterSmallPassesOnlyIfStreamsShareProcessors(t *testing.T) {
	for streams, want := range map[int]bool{1: false, sock.Processors: false, sock.Processors + 1: true} {
		l := receiveLoop{loop: newLoop(make([]int, streams)), yields: true, coalescer: coalescer{since: sock.Now().Add(time.Minute), room: true}}
		if got := l.coalesces(1); got != want {
			t.Errorf("%d streams on %d processors: sleeps %v, want %v", streams, sock.Processors, got, want)
		}
	}
}
