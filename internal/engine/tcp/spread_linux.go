package tcp

import "soku/internal/sock"

// spread gives half of the loop's streams to a new loop if its thread limits the flow.
func (l *receiveLoop) spread() {
	rule := l.limits.spreading
	if l.live < 2*fewStreams || l.load.Span() < rule.every {
		return
	}
	busy := l.load.Share() >= rule.busy
	if busy && l.load.Idle() >= rule.idle && l.another() {
		l.launch(l.half().run)
	}
	l.load.Begin(busy)
}

// another counts a further loop of the flow, unless there are enough.
func (r *receiver) another() bool {
	n := r.further.Load()
	return n+1 < mostLoops && r.further.CompareAndSwap(n, n+1)
}

// half returns a loop with every second stream of this one, which has them no longer.
func (l *receiveLoop) half() *receiveLoop {
	var given []int
	keep := false
	for k := range l.streams {
		if l.done[k] {
			continue
		}
		if keep = !keep; !keep {
			given = append(given, k)
			l.done[k] = true
		}
	}
	l.live -= len(given)
	other := l.newReceiveLoop(sock.Pick(l.streams, given), l.reader.Give(given))
	other.counts = sock.Pick(l.counts, given)
	return other
}
