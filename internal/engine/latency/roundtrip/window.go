package roundtrip

import (
	"math/bits"
	"sync/atomic"
)

// Verdict says what an arriving reply is.
type Verdict uint8

// Verdicts.
const (
	Stranger  Verdict = iota // answers nothing that is remembered: ignore it
	Fresh                    // the first reply to a request that still waits
	Duplicate                // another reply to a request that was answered
	Late                     // the first reply to a request that was given up as lost
)

const (
	waiting uint8 = iota
	answered
	lost
	lostAnswered // given up, and a reply came after all
)

// Window remembers the newest requests by number, from 0, so that a reply
// counts for its own request and for no other, and only once.
//
// One goroutine (the sender) calls Full and Add, one goroutine (the receiver)
// calls Left, Answer, Expire and Outstanding; the two may be the same.
type Window struct {
	mask  uint64
	at    []int64 // when sent; written by Add, the receiver's for requests that wait
	state []uint8 // receiver's

	head atomic.Uint64 // number of the next request; sender's
	tail atomic.Uint64 // oldest request that still waits; receiver's

	known uint64 // requests below have a state; receiver's
}

// MaxWindow is the largest number of requests a Window remembers.
const MaxWindow = 1 << 20

// NewWindow makes a window for at least n outstanding requests, at most MaxWindow.
func NewWindow(n int) *Window {
	size := uint64(MaxWindow)
	if n < MaxWindow {
		size = 1 << bits.Len64(uint64(max(n, 64)-1))
	}
	return &Window{mask: size - 1, at: make([]int64, size), state: make([]uint8, size)}
}

// Full reports whether the oldest waiting request must be answered or given up
// before another is added.
func (w *Window) Full() bool { return w.head.Load()-w.tail.Load() > w.mask }

// Add remembers a request that counts from atNs and returns its number. The
// window must not be full. Call it before sending, so that no reply is faster.
func (w *Window) Add(atNs int64) uint64 {
	n := w.head.Load()
	w.at[n&w.mask] = atNs
	w.head.Store(n + 1)
	return n
}

// Left makes the time from which request n counts a later one, when it is known
// better. It changes nothing for one that does not wait.
func (w *Window) Left(n uint64, atNs int64) {
	head := w.learn()
	if i := n & w.mask; n < head && head-n <= w.mask+1 && w.state[i] == waiting {
		w.at[i] = max(w.at[i], atNs)
	}
}

// Answer takes the reply to request n and says what it is. For a fresh one
// atNs is the time given to Add or Left.
func (w *Window) Answer(n uint64) (atNs int64, v Verdict) {
	head := w.learn()
	if n >= head || head-n > w.mask+1 {
		return 0, Stranger
	}
	state := &w.state[n&w.mask]
	switch *state {
	case waiting:
		*state = answered
		atNs = w.at[n&w.mask]
		w.settle(head)
		return atNs, Fresh
	case lost:
		*state = lostAnswered
		return 0, Late
	default:
		return 0, Duplicate
	}
}

// Widen returns the newest number given out whose low 16 bits are low, for
// replies that carry no more of it; ok is false if there is none.
func (w *Window) Widen(low uint16) (n uint64, ok bool) {
	head := w.head.Load()
	if head == 0 {
		return 0, false
	}
	last := head - 1
	back := uint64(uint16(last) - low)
	if back > last {
		return 0, false
	}
	return last - back, true
}

// Expire gives up every request sent before the time, oldest first, and calls
// gone with the time each was sent.
func (w *Window) Expire(beforeNs int64, gone func(atNs int64)) {
	head := w.learn()
	for t := w.tail.Load(); t < head; t++ {
		i := t & w.mask
		if w.state[i] == waiting {
			if w.at[i] >= beforeNs {
				break
			}
			w.state[i] = lost
			gone(w.at[i])
		}
		w.tail.Store(t + 1)
	}
}

// Outstanding is how many requests, from the oldest waiting one on, may still
// be answered; 0 when none waits.
func (w *Window) Outstanding() int64 {
	w.settle(w.learn())
	return int64(w.known - w.tail.Load())
}

// learn gives every request added since the last call its first state.
func (w *Window) learn() (head uint64) {
	head = w.head.Load()
	for ; w.known < head; w.known++ {
		w.state[w.known&w.mask] = waiting
	}
	return head
}

// settle moves the tail over requests that no longer wait.
func (w *Window) settle(head uint64) {
	t := w.tail.Load()
	moved := t
	for moved < head && w.state[moved&w.mask] != waiting {
		moved++
	}
	if moved != t {
		w.tail.Store(moved)
	}
}
