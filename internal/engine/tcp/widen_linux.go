package tcp

import (
	"math"
	"math/bits"
	"time"
)

// widening makes the windows of a loop's streams hold several passes. The kernel grows a
// window by the bytes read in a round trip, less what is queued, and it evaluates that at
// the first segment of a pass. So if passes are more than a round trip apart and each
// takes a whole window in one read, the kernel sees one segment, and a stream may stay at 64
// KiB a pass while others have forty times as much.
type widening struct {
	enough []int // one element a stream: the largest pass that its window can hold
}

const (
	// passes is how many a window should hold: the one being read, the one that arrives
	// meanwhile, and both again, so that the next may be larger.
	passes = 4
	// On paths with a longer round trip, a pass is small compared to the bytes in flight.
	distant = 10 * fixedSleep
)

func newWidening(streams int) widening { return widening{make([]int, streams)} }

// after widens the window of stream k if a pass of n bytes requires it.
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
	w.enough[k] = 1<<bits.Len(uint(n)) - 1 // powers of two, to make few calls
	in.Widen(k, passes*int64(w.enough[k]+1))
}
