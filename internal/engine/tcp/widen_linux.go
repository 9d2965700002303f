package tcp

import (
	"math"
	"math/bits"
	"time"
)

// widening gives the windows of a loop's streams room for several looks. The kernel
// widens one by what was taken in a round trip, less what is queued, and it takes that
// count at the first segment of a look. So where a look comes after more than a round
// trip and takes a window's worth at once, it sees one segment, and a stream may stay at
// 64 KiB a look beside others that have forty times as much.
type widening struct {
	enough []int // the largest look of each stream that its window has room for
}

const (
	// looks is how many of them a window has room for: the one that is taken, the one
	// that comes meanwhile, and both again, so that the next may be larger.
	looks = 4
	// distant paths carry little in a look next to what they carry in a round trip.
	distant = 10 * doze
)

func newWidening(streams int) widening { return widening{make([]int, streams)} }

// after widens the window of stream k where a look that brought n bytes calls for it.
func (w *widening) after(n, k int, in interface {
	RoundTrip(k int) time.Duration
	Widen(k int, n int64)
}) {
	if n <= w.enough[k] {
		return
	}
	if d := in.RoundTrip(k); d == 0 || d > distant {
		w.enough[k] = math.MaxInt
		return
	}
	w.enough[k] = 1<<bits.Len(uint(n)) - 1 // powers of two keep the calls few
	in.Widen(k, looks*int64(w.enough[k]+1))
}
