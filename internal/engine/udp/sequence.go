package udp

import "math"

// window is how far behind the highest number a datagram may arrive and still be
// distinguished from its duplicate.
const window = 1 << 16

// farthest is the largest jump in the numbers that counts as loss: ten minutes at ten
// million datagrams a second. A larger one is foreign.
const farthest = 6_000_000_000

// sequence finds loss, reordering and duplicates in one stream's numbers. The
// zero value expects number 0.
type sequence struct {
	next       int64 // one more than the highest number seen
	unique     int64
	gaps       int64 // numbers that were skipped, some of which arrived later
	reordered  int64
	duplicated int64
	seen       [window / 64]uint64 // a bit for each of the last window numbers
}

// verdict is the class of a number.
type verdict int

const (
	foreign verdict = iota
	inOrder
	late // RFC 4737 type-P-reordered: less than the next expected
	duplicate
)

// add processes the number of a datagram that arrived. A late one too far behind for the
// window counts as a duplicate.
func (s *sequence) add(number uint64) verdict {
	if number == uint64(s.next) { // the usual case; its bit, from a window before, is already set
		s.mark(s.next)
		s.next++
		s.unique++
		return inOrder
	}
	if number > uint64(s.next)+farthest {
		return foreign
	}
	n := int64(number)
	if n >= s.next {
		s.clear(s.next, n)
		s.gaps += n - s.next
		s.next = n + 1
		s.unique++
		s.mark(n)
		return inOrder
	}
	if n < s.next-window || s.marked(n) {
		s.duplicated++
		return duplicate
	}
	s.mark(n)
	s.unique++
	s.reordered++
	return late
}

// follow processes the n numbers that follow the last one, which was in order.
func (s *sequence) follow(n int) {
	for to := s.next + int64(n); s.next < to; s.next++ {
		s.mark(s.next)
	}
	s.unique += int64(n)
}

func (s *sequence) mark(n int64) { s.seen[uint64(n)%window/64] |= 1 << (uint64(n) % 64) }
func (s *sequence) marked(n int64) bool {
	return s.seen[uint64(n)%window/64]&(1<<(uint64(n)%64)) != 0
}

// clear clears the bits of the numbers from..to, which still hold those of a window
// before.
func (s *sequence) clear(from, to int64) {
	if to-from >= window {
		clear(s.seen[:])
		return
	}
	for n := from; n <= to; {
		if n%64 == 0 && to-n >= 63 {
			s.seen[n%window/64] = 0
			n += 64
			continue
		}
		s.seen[n%window/64] &^= 1 << (n % 64)
		n++
	}
}

// jitter is the interarrival jitter of RFC 3550 section 6.4.1, in ns.
type jitter struct {
	ns      float64
	transit int64
	begun   bool
}

// add processes a datagram's send and arrival times, each on a clock of its own. The send
// time comes from outside; values that are not plausible are ignored.
func (j *jitter) add(sentNs, arrivedNs int64) {
	transit := arrivedNs - sentNs
	d := transit - j.transit
	if j.begun && d > -maxShift && d < maxShift {
		j.ns += (max(float64(d), -float64(d)) - j.ns) / 16
	}
	j.transit, j.begun = transit, true
}

// repeat processes n more datagrams with the times of the last one.
func (j *jitter) repeat(n int) {
	j.ns *= math.Pow(15.0/16, float64(n)) // each reduces it by a sixteenth
}

// maxShift is the largest plausible change of transit time: an hour.
const maxShift = 3600e9
