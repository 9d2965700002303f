package datagram

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/freeport"
	"soku/test/tier"
)

// have are the paths that this host has.
func have(paths ...string) (out []string) {
	for _, p := range paths {
		if p == Write || p == Read || supported(p) == nil {
			out = append(out, p)
		}
	}
	return out
}

// eachWay runs f with a sender and a receiver of every two paths.
func eachWay(t *testing.T, f func(t *testing.T, tx, rx string)) {
	for _, tx := range have(Write, Batch, GSO) {
		for _, rx := range have(Read, Batch, GRO) {
			t.Run(tx+" to "+rx, func(t *testing.T) { f(t, tx, rx) })
		}
	}
}

func inlet(t testing.TB, path string, size int, c net.Conn) (*Receiver, *Inlet) {
	t.Helper()
	r, err := NewReceiver(path, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	in, err := r.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return r, in
}

// fits is how many datagrams of a call find room in a socket whose queue is the
// usual one, each for itself.
const fits = 100

func TestEveryDatagramArrivesWholeAndInOrderOnEveryPath(t *testing.T) {
	const size, count = 700, 301
	eachWay(t, func(t *testing.T, tx, rx string) {
		a, b := freeport.Pair(t)
		r, in := inlet(t, rx, size, b)
		s := NewSender(tx, size)
		out, err := s.Open(a)
		if err != nil {
			t.Fatal(err)
		}
		_ = b.SetReadDeadline(time.Now().Add(5 * time.Second))
		want := uint32(0)
		for sent := uint32(0); sent < count; {
			n := min(s.Most(), fits, count-int(sent))
			for i := range n {
				binary.BigEndian.PutUint32(s.Datagrams(n)[i*size:], sent+uint32(i))
			}
			n, err := out.Send(n)
			if err != nil {
				t.Fatal(err)
			}
			content := bytes.Clone(s.Datagrams(1)[4:])
			for sent += uint32(n); want < sent; {
				if len(r.Ready(time.Second)) == 0 {
					t.Fatalf("only %d of %d came", want, sent)
				}
				if _, err := in.Receive(); err != nil {
					t.Fatal(err)
				}
				for train, ok := r.Next(); ok; train, ok = r.Next() {
					if since := time.Since(train.Arrived); rx != Read && !train.Arrived.IsZero() && (since < 0 || since > time.Minute) {
						t.Fatalf("came %v ago", since)
					}
					if train.Joined && (tx != GSO || rx != GRO) {
						t.Fatal("came joined, although each was sent alone or to be split")
					}
					for d, length, ok := train.Next(); ok; d, length, ok = train.Next() {
						first := want == sent-uint32(n)
						if got := binary.BigEndian.Uint32(d); got != want || length != size || len(d) != size ||
							first && !bytes.Equal(d[4:], content) {
							t.Fatalf("datagram %d of %d bytes came as %d of %d bytes", want, size, got, length)
						}
						want++
					}
				}
			}
		}
	})
}

func TestALongerDatagramThanExpectedKeepsItsLength(t *testing.T) {
	for _, rx := range have(Batch, GRO) {
		a, b := freeport.Pair(t)
		r, in := inlet(t, rx, 100, b)
		if _, err := a.Write(make([]byte, 5000)); err != nil {
			t.Fatal(err)
		}
		r.Ready(5 * time.Second)
		if n, err := in.Receive(); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		train, _ := r.Next()
		if d, length, ok := train.Next(); !ok || length != 5000 || len(d) < 100 {
			t.Errorf("%s: length %d, %d bytes kept", rx, length, len(d))
		}
	}
}

func TestEachInletReceivesItsOwnDatagrams(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, rx := range have(Batch, GRO) {
		for _, n := range []int{1, few, few + 1, 70} { // more than one answer of Ready holds
			t.Run(fmt.Sprintf("%s, %d", rx, n), func(t *testing.T) { receiveOnEach(t, rx, n) })
		}
	}
}

func receiveOnEach(t *testing.T, rx string, n int) {
	r, err := NewReceiver(rx, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var inlets []*Inlet
	var senders []net.Conn
	for range n {
		a, b := freeport.Pair(t)
		in, err := r.Open(b)
		if err != nil {
			t.Fatal(err)
		}
		inlets, senders = append(inlets, in), append(senders, a)
	}
	for _, i := range r.Ready(time.Millisecond) {
		t.Errorf("inlet %d is ready before anything came", i)
	}
	for i, a := range senders {
		if _, err := a.Write([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	came := map[int]bool{}
	for len(came) < n {
		ready := r.Ready(time.Second)
		if len(ready) == 0 {
			t.Fatalf("only %d of %d inlets had something", len(came), n)
		}
		for _, i := range ready {
			if k, err := inlets[i].Receive(); k != 1 || err != nil {
				t.Fatal(k, err)
			}
			train, _ := r.Next()
			if d, _, _ := train.Next(); int(d[0]) != i {
				t.Errorf("inlet %d got what was for %d", i, d[0])
			}
			came[i] = true
			inlets[i].Done()
		}
	}
	for _, a := range senders {
		if _, err := a.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
	}
	if more := append(r.Ready(time.Millisecond), r.Ready(0)...); len(more) != 0 {
		t.Errorf("inlets %v are ready after they were done", more)
	}
}

func TestAnExpiredDeadlineEndsSendAndReceive(t *testing.T) {
	eachWay(t, func(t *testing.T, tx, rx string) {
		a, b := freeport.Pair(t)
		_, in := inlet(t, rx, 100, b)
		out, err := NewSender(tx, 100).Open(a)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.SetDeadline(time.Unix(1, 0))
		_ = b.SetDeadline(time.Unix(1, 0))
		var timeout net.Error
		if _, err := out.Send(1); !asTimeout(err, &timeout) {
			t.Errorf("send: %v", err)
		}
		if _, err := in.Receive(); !asTimeout(err, &timeout) {
			t.Errorf("receive: %v", err)
		}
	})
}

func asTimeout(err error, to *net.Error) bool {
	return errors.As(err, to) && (*to).Timeout()
}

type wrapped struct{ *net.UDPConn }

func TestAnImpossiblePathIsAUsageErrorAndAutoChoosesAnother(t *testing.T) {
	a, _ := freeport.Pair(t)
	conns := []net.Conn{wrapped{a}}
	if p, err := SendPath("auto", conns); p != Write || err != nil {
		t.Errorf("auto is %q, %v over what is no socket", p, err)
	}
	for _, tx := range []string{Batch, GSO} {
		if _, err := SendPath(tx, conns); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("tx %s: %v, want a usage error", tx, err)
		}
	}
	if _, err := ReceivePath(GRO, conns); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("rx gro: %v, want a usage error", err)
	}
	if supported(Batch) == nil {
		if p, err := ReceivePath("auto", []net.Conn{a}); p != Batch || err != nil {
			t.Errorf("auto is %q, %v over a socket", p, err)
		}
	}
	if p, err := SendPath(Write, []net.Conn{a}); p != Write || err != nil {
		t.Errorf("write is %q, %v", p, err)
	}
}

func TestShapesHoldTheBoundsOfTheKernel(t *testing.T) {
	for size := 28; size <= 65507; size += 13 {
		for _, p := range []string{Write, Batch, GSO} {
			segments, messages := sendShape(p, size)
			if segments < 1 || messages < 1 || segments > segmentsMost() || messages > 1024 || segments > 1 && segments*size > 65507 {
				t.Fatalf("%s of %d bytes: %d segments, %d messages", p, size, segments, messages)
			}
		}
	}
}

func TestSendingAndReceivingDoNotAllocate(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, tx, rx string) {
		a, b := freeport.Pair(t)
		r, in := inlet(t, rx, 700, b)
		s := NewSender(tx, 700)
		out, err := s.Open(a)
		if err != nil {
			t.Fatal(err)
		}
		_ = b.SetReadDeadline(time.Now().Add(10 * time.Second))
		if n := testing.AllocsPerRun(100, func() {
			n := min(s.Most(), fits)
			if _, err := out.Send(n); err != nil {
				t.Fatal(err)
			}
			for range n {
				if _, err := in.Receive(); err != nil {
					t.Fatal(err)
				}
				for train, ok := r.Next(); ok; train, ok = r.Next() {
					for _, _, ok := train.Next(); ok; _, _, ok = train.Next() {
					}
				}
				r.Ready(0)
			}
			r.Ready(time.Millisecond)
		}); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func FuzzTrain(f *testing.F) {
	f.Add(4000, 4000, 1400)
	f.Add(100, 5000, 0)
	f.Add(10, 3, -4)
	f.Fuzz(func(t *testing.T, kept, length, segment int) {
		if kept < 0 || kept > largest || length > 1<<20 {
			return
		}
		s := newTrain(make([]byte, kept), length, segment, time.Time{})
		total, seen := 0, 0
		for b, n, ok := s.Next(); ok; b, n, ok = s.Next() {
			if n < 1 || len(b) > n || segment > 0 && n > segment {
				t.Fatalf("a datagram of %d bytes with %d kept, in segments of %d", n, len(b), segment)
			}
			total += n
			seen += len(b)
		}
		if total != max(length, 0) || seen != min(kept, max(length, 0)) {
			t.Errorf("%d bytes, %d kept, in segments of %d: split into %d and %d", length, kept, segment, total, seen)
		}
	})
}
