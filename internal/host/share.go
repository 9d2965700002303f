package host

import "sync"

// watched are the watchers that run now. Processor time is known of the process
// as a whole, so the time of two that overlap cannot be divided between them. It belongs to the
// process as the times do, which is why it is no member of anything.
var watched shares

// shares is for any goroutine.
type shares struct {
	mu  sync.Mutex
	now map[*share]struct{}
}

// share is one watcher's time.
type share struct{ others bool }

// enter begins a time; all that overlap it are shared from now on.
func (s *shares) enter() *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := &share{others: len(s.now) > 0}
	for other := range s.now {
		other.others = true
	}
	if s.now == nil {
		s.now = map[*share]struct{}{}
	}
	s.now[own] = struct{}{}
	return own
}

// leave ends the time, once, and reports whether it was shared.
func (s *shares) leave(own *share) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.now, own)
	return own.others
}
