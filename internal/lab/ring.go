package lab

// maxFrame is the longest packet the delay line takes: a segmented one with
// its headers and the kernel's description of it.
const maxFrame = 68 << 10

// ring holds the packets of one direction that are on their way, in the order
// they came. Its memory is bounded; a packet lies in one piece. One goroutine
// uses it.
type ring struct {
	data  []byte
	slots []slot
	first int // oldest packet in slots
	count int
	end   int // where the next packet goes in data
}

type slot struct {
	due, arrived int64 // ns
	at, n        int   // in data
}

func newRing(data []byte, slots int) *ring { return &ring{data: data, slots: make([]slot, slots)} }

// space is where the next packet may be read to, maxFrame bytes, or nil when
// the ring is full.
func (r *ring) space() []byte {
	if r.count == len(r.slots) {
		return nil
	}
	if r.count == 0 {
		r.first, r.end = 0, 0 // the same memory again: it is in the cache
		return r.data[:maxFrame]
	}
	oldest := r.slots[r.first].at
	if r.end > oldest {
		if len(r.data)-r.end >= maxFrame {
			return r.data[r.end:][:maxFrame]
		}
		if oldest < maxFrame {
			return nil
		}
		r.end = 0
		return r.data[:maxFrame]
	}
	if oldest-r.end < maxFrame {
		return nil
	}
	return r.data[r.end:][:maxFrame]
}

// push keeps the n bytes that were read to space. Packets leave in the order
// they came: none is due before the one ahead of it.
func (r *ring) push(n int, arrived, due int64) {
	if r.count > 0 {
		due = max(due, r.slots[(r.first+r.count-1)%len(r.slots)].due)
	}
	r.slots[(r.first+r.count)%len(r.slots)] = slot{due: due, arrived: arrived, at: r.end, n: n}
	r.count++
	r.end += n
}

// oldest is the packet that leaves next, nil when there is none.
func (r *ring) oldest() *slot {
	if r.count == 0 {
		return nil
	}
	return &r.slots[r.first]
}

func (r *ring) pop() {
	r.first = (r.first + 1) % len(r.slots)
	r.count--
}
