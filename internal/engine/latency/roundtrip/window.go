package roundtrip

import (
	"math/bits"
	"sync/atomic"
)

// Verdict is the class of an arriving reply.
type Verdict uint8

// Verdicts.
const (
	Unknown   Verdict = iota // matches no request in the window: ignore it
	Fresh                    // the first reply to an outstanding request
	Duplicate                // another reply to a request that was answered
	Late                     // the first reply to a request that was counted as lost
)

const (
	waiting uint8 = iota
	answered
	lost
	lostAnswered // counted as lost, and answered later
)

// Window stores the newest requests by number, from 0, so that a reply counts for its own
// request only, and only once.
//
// One goroutine (the sender) calls Full and Add, one goroutine (the receiver) calls Left,
// Answer, Expire and Outstanding; they may be the same.
type Window struct {
	mask  uint64
	at    []int64 // when sent; written by Add, then owned by the receiver
	state []uint8 // receiver's

	head atomic.Uint64 // number of the next request; sender's
	tail atomic.Uint64 // oldest outstanding request; receiver's

	known uint64 // requests below have a state; receiver's
}

// MaxWindow is the largest number of requests in a Window.
const MaxWindow = 1 << 20

// NewWindow returns a window for at least n outstanding requests, at most MaxWindow.
func NewWindow(n int) *Window {
	size := uint64(MaxWindow)
	if n < MaxWindow {
		size = 1 << bits.Len64(uint64(max(n, 64)-1))
	}
	return &Window{mask: size - 1, at: make([]int64, size), state: make([]uint8, size)}
}

// Full reports whether the oldest outstanding request must be answered or expire before
// another is added.
func (w *Window) Full() bool { return w.head.Load()-w.tail.Load() > w.mask }

// Add adds a request that counts from atNs and returns its number. The window must not be
// full. Call it before sending, so that the reply cannot arrive first.
func (w *Window) Add(atNs int64) uint64 {
	n := w.head.Load()
	w.at[n&w.mask] = atNs
	w.head.Store(n + 1)
	return n
}

// Left sets a more precise time from which request n counts. It has no effect if the
// request is not outstanding.
func (w *Window) Left(n uint64, atNs int64) {
	head := w.learn()
	if i := n & w.mask; n < head && head-n <= w.mask+1 && w.state[i] == waiting {
		w.at[i] = max(w.at[i], atNs)
	}
}

// Answer classifies the reply to request n. For a fresh one atNs is the time given to Add
// or Left.
func (w *Window) Answer(n uint64) (atNs int64, v Verdict) {
	head := w.learn()
	if n >= head || head-n > w.mask+1 {
		return 0, Unknown
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

// Widen returns the newest request number whose low 16 bits are low, for replies that
// carry no more of it; ok is false if there is none.
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

// Expire counts every request sent before beforeNs as lost, oldest first, and calls gone
// with the time each was sent.
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

// Outstanding returns how many requests, from the oldest outstanding one on, may still be
// answered.
func (w *Window) Outstanding() int64 {
	w.settle(w.learn())
	return int64(w.known - w.tail.Load())
}

// learn initialises the state of every request added since the last call.
func (w *Window) learn() (head uint64) {
	head = w.head.Load()
	for ; w.known < head; w.known++ {
		w.state[w.known&w.mask] = waiting
	}
	return head
}

// settle moves the tail past requests that are not outstanding.
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
