package roundtrip

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

func TestAReplyCountsOnceForItsOwnRequest(t *testing.T) {
	w := NewWindow(64)
	for i := range int64(3) {
		if n := w.Add(100 + i); n != uint64(i) {
			t.Fatalf("request %d got number %d", i, n)
		}
	}
	for _, c := range []struct {
		n    uint64
		at   int64
		want Verdict
	}{{1, 101, Fresh}, {1, 0, Duplicate}, {0, 100, Fresh}, {3, 0, Unknown}, {1 << 63, 0, Unknown}, {2, 102, Fresh}, {0, 0, Duplicate}} {
		if at, v := w.Answer(c.n); at != c.at || v != c.want {
			t.Errorf("reply to %d: got %d %v, want %d %v", c.n, at, v, c.at, c.want)
		}
	}
	if w.Outstanding() != 0 {
		t.Errorf("%d are outstanding", w.Outstanding())
	}
}

func TestALostRequestIsNotAnsweredLater(t *testing.T) {
	w := NewWindow(64)
	for at := range int64(4) {
		w.Add(at * 10)
	}
	w.Answer(1)
	var gone []int64
	w.Expire(30, func(at int64) { gone = append(gone, at) })
	if len(gone) != 2 || gone[0] != 0 || gone[1] != 20 {
		t.Fatalf("gave up %v, want those of 0 and 20", gone)
	}
	if _, v := w.Answer(0); v != Late {
		t.Errorf("the reply after the timeout: %v, want Late", v)
	}
	if _, v := w.Answer(0); v != Duplicate {
		t.Errorf("and once more: %v, want Duplicate", v)
	}
	if w.Outstanding() != 1 {
		t.Errorf("%d outstanding, want the last", w.Outstanding())
	}
}

func TestARequestCountsFromWhenItLeft(t *testing.T) {
	w := NewWindow(64)
	for range 3 {
		w.Add(100)
	}
	w.Answer(2)
	w.Left(0, 105)
	w.Left(1, 95) // before it was handed over, which cannot be
	for _, n := range []uint64{2, 3, 1 << 63} {
		w.Left(n, 105)
	}
	for n, want := range []int64{105, 100} {
		if at, v := w.Answer(uint64(n)); at != want || v != Fresh {
			t.Errorf("request %d counts from %d (%v), want %d", n, at, v, want)
		}
	}
	if w.Outstanding() != 0 {
		t.Errorf("%d are outstanding", w.Outstanding())
	}
}

func TestTheWindowIsFullUntilTheOldestIsSettled(t *testing.T) {
	w := NewWindow(64)
	for range 64 {
		if w.Full() {
			t.Fatal("full too early")
		}
		w.Add(0)
	}
	if !w.Full() {
		t.Fatal("64 of 64 are outstanding, and it takes more")
	}
	if w.Answer(5); !w.Full() {
		t.Error("the oldest still waits")
	}
	if w.Answer(0); w.Full() {
		t.Error("the oldest is answered, and it is full")
	}
	w.Add(0)
	if _, v := w.Answer(0); v != Unknown {
		t.Errorf("a number whose slot was reused: %v, want Unknown", v)
	}
}

func TestWidenFindsTheNewestNumber(t *testing.T) {
	w := NewWindow(1 << 16)
	if _, ok := w.Widen(0); ok {
		t.Error("a number was found where none was given out")
	}
	for n := range uint64(200_000) {
		w.Add(0)
		w.Answer(n)
	}
	for low, want := range map[uint16]uint64{uint16(199_999 & 0xffff): 199_999, uint16(199_000 & 0xffff): 199_000, uint16(200_000 & 0xffff): 200_000 - 65_536} {
		if n, ok := w.Widen(low); !ok || n != want {
			t.Errorf("%d: got %d, want %d", low, n, want)
		}
	}
	few := NewWindow(64)
	few.Add(0)
	if _, ok := few.Widen(7); ok {
		t.Error("a number before the first was found")
	}
}

// TestSenderAndReceiverShareIt sends with one goroutine and answers with
// another in a random order with duplicates and losses; every request ends
// exactly one way.
func TestSenderAndReceiverShareIt(t *testing.T) {
	const total = 10_000
	w := NewWindow(256)
	wire := make(chan uint64, 512)
	var sender sync.WaitGroup
	sender.Go(func() {
		defer close(wire)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range int64(total) {
			for w.Full() {
				runtime.Gosched()
			}
			n := w.Add(i)
			switch r.IntN(10) {
			case 0: // lost
			case 1:
				wire <- n
				wire <- n
			default:
				wire <- n
			}
		}
	})
	var fresh, dup, lost int64
	for n := range wire {
		at, v := w.Answer(n)
		switch v {
		case Fresh:
			fresh++
			if at != int64(n) {
				t.Fatalf("reply %d took the time of request %d", n, at)
			}
		case Duplicate:
			dup++
		}
		w.Expire(int64(n)-100, func(int64) { lost++ })
	}
	sender.Wait()
	w.Expire(total, func(int64) { lost++ })
	if fresh+lost != total || dup == 0 || w.Outstanding() != 0 {
		t.Errorf("%d answered and %d lost of %d, %d duplicates, %d outstanding", fresh, lost, total, dup, w.Outstanding())
	}
}

func FuzzWindow(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 2, 1, 3, 50, 4, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		w := NewWindow(64)
		var added, ended int64
		for i := 0; i+1 < len(ops); i += 2 {
			arg := int64(ops[i+1])
			switch ops[i] % 4 {
			case 0:
				if !w.Full() {
					w.Add(added)
					added++
				}
			case 1:
				if _, v := w.Answer(uint64(arg)); v == Fresh {
					ended++
				}
			case 2:
				w.Expire(arg, func(int64) { ended++ })
			case 3:
				if n, ok := w.Widen(uint16(arg)); ok && n >= uint64(added) {
					t.Fatalf("number %d was never given out", n)
				}
			}
			if ended > added || w.Outstanding() < 0 || w.Outstanding() > 64 {
				t.Fatalf("%d ended of %d, %d outstanding", ended, added, w.Outstanding())
			}
		}
	})
}
