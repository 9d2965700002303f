package udp

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

func TestAHeaderReadsBackAsItWasWritten(t *testing.T) {
	for _, h := range []header{{}, {fin: true, stream: 1023, seq: 1<<63 + 5, sentNs: -7}, {stream: 3, seq: 9, sentNs: 1 << 40}} {
		b := make([]byte, headerSize)
		h.put(b)
		got, ok := parseHeader(b)
		if !ok || got != h {
			t.Errorf("wrote %+v, read %+v, %v", h, got, ok)
		}
	}
}

func TestAHeaderWithAnyByteChangedIsForeign(t *testing.T) {
	b := make([]byte, headerSize)
	header{stream: 7, seq: 1234, sentNs: 99}.put(b)
	for i := range b {
		b[i] ^= 0x10
		if _, ok := parseHeader(b); ok {
			t.Errorf("byte %d was changed and the header still counts", i)
		}
		b[i] ^= 0x10
	}
	if _, ok := parseHeader(b[:headerSize-1]); ok {
		t.Error("a short datagram counts")
	}
}

func TestHeadersOfOneCallEqualThoseWrittenOneByOne(t *testing.T) {
	const size, count = 31, 700
	h := header{stream: 7, seq: 1<<40 - 300, sentNs: 123456789}
	b := make([]byte, count*size)
	h.putAll(b, size)
	var r headerReader
	for i := range count {
		alone := make([]byte, headerSize)
		header{stream: 7, seq: h.seq + uint64(i), sentNs: h.sentNs}.put(alone)
		if d := b[i*size:]; !bytes.Equal(d[:headerSize], alone) {
			t.Fatalf("header %d is %x, alone %x", i, d[:headerSize], alone)
		}
		if got, ok := r.parse(b[i*size:]); !ok || got.seq != h.seq+uint64(i) || got.sentNs != h.sentNs || got.stream != 7 || got.fin {
			t.Fatalf("header %d was read as %+v, %v", i, got, ok)
		}
	}
}

// Headers after a valid one are checked like the first.
func FuzzHeaderAfterAnother(f *testing.F) {
	first, next := make([]byte, headerSize), make([]byte, headerSize)
	header{stream: 2, seq: 3, sentNs: 4}.put(first)
	for _, h := range []header{{stream: 2, seq: 4, sentNs: 4}, {stream: 2, seq: 255, sentNs: 4}, {stream: 2, seq: 256, sentNs: 4},
		{stream: 2, seq: 4, sentNs: 5}, {stream: 3, seq: 4, sentNs: 4}, {fin: true, stream: 2, seq: 4, sentNs: 4}} {
		h.put(next)
		for i := range next {
			for _, damage := range []byte{0, 1, 0x80} {
				next[i] ^= damage
				f.Add(bytes.Clone(first), bytes.Clone(next))
				next[i] ^= damage
			}
		}
	}
	f.Add([]byte{}, next)
	f.Fuzz(func(t *testing.T, first, next []byte) {
		var r headerReader
		r.parse(first)
		got, ok := r.parse(next)
		want, wanted := parseHeader(next)
		if ok != wanted || ok && got != want {
			t.Errorf("%x after %x reads as %+v, %v; alone as %+v, %v", next, first, got, ok, want, wanted)
		}
	})
}

func FuzzHeader(f *testing.F) {
	b := make([]byte, headerSize)
	header{fin: true, stream: 2, seq: 3, sentNs: 4}.put(b)
	f.Add(b)
	f.Add([]byte("skU\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := parseHeader(b)
		if !ok {
			return
		}
		again := make([]byte, headerSize)
		h.put(again)
		if !bytes.Equal(again, b[:headerSize]) {
			t.Errorf("%x reads as %+v, which is written as %x", b[:headerSize], h, again)
		}
	})
}

// reference computes the same as sequence, with unbounded memory.
type reference struct {
	seen                                      map[int64]bool
	next, unique, reordered, duplicated, gaps int64
}

func (r *reference) add(n int64) {
	switch {
	case r.seen[n]:
		r.duplicated++
	case n >= r.next:
		r.gaps += n - r.next
		r.next = n + 1
		r.unique++
	default:
		r.reordered++
		r.unique++
	}
	r.seen[n] = true
}

func TestTheBoundedWindowFindsWhatAnUnboundedOneFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []int64{1, 3, 64, 1000, window / 2} {
		var s sequence
		r := reference{seen: map[int64]bool{}}
		at := int64(0)
		for range 300_000 {
			switch rng.IntN(20) {
			case 0:
				at += rng.Int64N(spread) // loss
			case 1:
				at += 1
			}
			n := at
			if rng.IntN(10) == 0 {
				n = max(0, at-rng.Int64N(spread))
			}
			at++
			s.add(uint64(n))
			r.add(n)
		}
		if s.next != r.next || s.unique != r.unique || s.reordered != r.reordered || s.duplicated != r.duplicated || s.gaps != r.gaps {
			t.Errorf("spread %d: got next %d, unique %d, reordered %d, duplicated %d, gaps %d; want %d %d %d %d %d", spread,
				s.next, s.unique, s.reordered, s.duplicated, s.gaps, r.next, r.unique, r.reordered, r.duplicated, r.gaps)
		}
	}
}

func TestAnImplausibleJumpIsForeign(t *testing.T) {
	var s sequence
	s.add(0)
	for _, n := range []uint64{1 << 62, 1<<64 - 1, farthest + 2} {
		if v := s.add(n); v != foreign {
			t.Errorf("number %d was taken as %v", n, v)
		}
	}
	if s.next != 1 || s.gaps != 0 {
		t.Errorf("next %d, gaps %d after foreign numbers", s.next, s.gaps)
	}
	if v := s.add(window * 3); v != inOrder || s.gaps != window*3-1 {
		t.Errorf("a long gap was taken as %v with %d missing", v, s.gaps)
	}
	if v := s.add(5); v != duplicate {
		t.Errorf("a number behind the window was taken as %v", v)
	}
}

// Datagrams of a train that are counted together give the same as one by one.
func TestATrainCountsLikeItsDatagrams(t *testing.T) {
	const size, count = 40, 600
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		b := make([]byte, count*size)
		header{stream: 7, seq: 200, sentNs: 5}.putAll(b, size)
		for range rng.IntN(4) { // another number, another time, damage, another stream
			d := b[rng.IntN(count)*size:][:size]
			h, _ := parseHeader(d)
			switch rng.IntN(4) {
			case 0:
				h.seq += uint64(rng.IntN(5))
				h.put(d)
			case 1:
				h.sentNs++
				h.put(d)
			case 2:
				d[rng.IntN(headerSize)] ^= 1 << rng.IntN(8)
			default:
				h.stream++
				h.put(d)
			}
		}
		var one, all headerReader
		var alone, together sequence
		var slow, fast jitter
		for i := 0; i < count; {
			h, ok := all.parse(b[i*size:])
			i++
			if !ok {
				continue
			}
			if together.add(h.seq) == inOrder {
				fast.add(h.sentNs, 9)
				n := all.following(h, b[i*size:], size)
				together.follow(n)
				fast.repeat(n)
				i += n
			} else {
				fast.add(h.sentNs, 9)
			}
		}
		for i := range count {
			if h, ok := one.parse(b[i*size:]); ok {
				alone.add(h.seq)
				slow.add(h.sentNs, 9)
			}
		}
		if alone != together {
			t.Fatalf("next %d, unique %d, gaps %d, late %d, twice %d; one by one %d, %d, %d, %d, %d", together.next, together.unique, together.gaps,
				together.reordered, together.duplicated, alone.next, alone.unique, alone.gaps, alone.reordered, alone.duplicated)
		}
		if math.Abs(slow.ns-fast.ns) > 1e-9*slow.ns {
			t.Fatalf("jitter %v, one by one %v", fast.ns, slow.ns)
		}
	}
}

// Counting many numbers in one call equals counting each.
func TestFollowingNumbersAreMarkedAsSeen(t *testing.T) {
	var s sequence
	s.add(0)
	s.follow(window + 100)
	if v := s.add(window); v != duplicate {
		t.Errorf("a number that followed came again as %v", v)
	}
	if s.next != window+101 || s.unique != window+101 || s.gaps != 0 {
		t.Errorf("next %d, unique %d, gaps %d", s.next, s.unique, s.gaps)
	}
}
