package server

import (
	"fmt"
	"testing"

	"soku/internal/engine/tcp"
	"soku/internal/measure"
)

func TestASessionThatTheServerCannotHoldIsRefusedAtItsCreation(t *testing.T) {
	for name, exclusive := range map[string]bool{"with places": false, "with turns": true} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Config{Exclusive: exclusive}, func(s *Server) { s.limitDescriptors(1064) })
			many := tcpOptions(func(o *measure.Options) { o.Streams = 300 })
			s.refused(measure.TestTCP, many, measure.KindRefused, fmt.Sprintf("needs %d file descriptors", 600+loopsOf(300)), "has 375 of its 1064", "--streams", "ulimit -n")
			s.open(measure.TestTCP, tcpOptions())
		})
	}
}

// loopsOf is how many loops a receiver of so many streams may have.
func loopsOf(streams int) int { return tcp.Descriptors(streams, measure.Receiver) - streams }

func TestTestsLeaveDescriptorsForOthers(t *testing.T) {
	d := newDescriptors(1000 + ownDescriptors)
	for want := 375; want > 0; want = (750 - d.reserved) / 2 {
		if measure.KindOf(d.reserve(want+1)) != measure.KindRefused {
			t.Fatalf("more than half of what is left was reserved, with %d reserved", d.reserved)
		}
		if err := d.reserve(want); err != nil {
			t.Fatal(err)
		}
	}
	if d.left() < 250 {
		t.Errorf("%d are left for those that only ask", d.left())
	}
	d.release(d.reserved)
	d.open = func() int { return 900 } // control connections that nothing can close
	if d.reserve(51) == nil || d.reserve(50) != nil {
		t.Error("what is open was not counted")
	}
	none := newDescriptors(0)
	if none.reserve(1<<20) != nil || none.share(7, 8) != 7 {
		t.Error("a limit where there is none")
	}
}

func TestASessionGivesItsDescriptorsBack(t *testing.T) {
	s := serve(t, Config{Exclusive: true}, func(s *Server) { s.limitDescriptors(1064) })
	c := s.open(measure.TestTCP, tcpOptions(func(o *measure.Options) { o.Streams = 100 }))
	if n := 1000 - s.descriptors.left(); n != 200+loopsOf(100) {
		t.Errorf("%d are reserved", n)
	}
	_ = c.Close()
	s.free()
	if s.descriptors.left() != 1000 {
		t.Errorf("%d of 1000 are left", s.descriptors.left())
	}
}

func TestControlConnectionsMakeRoomForWhatTestsReserved(t *testing.T) {
	h := &holders{FairLimit: NewFairLimit(10)}
	left := 3
	h.room = func() int { return left }
	for _, name := range []string{"a", "b", "c", "d"} {
		h.take("10.0.0.1", name)
	}
	if h.open() != 3 || len(h.lost) != 1 || h.lost[0] != "a" {
		t.Errorf("%d are open, lost: %v", h.open(), h.lost)
	}
}
