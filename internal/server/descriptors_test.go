package server

import (
	"fmt"
	"net/netip"
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

// loopsOf is how many loops a receiver may have.
func loopsOf(streams int) int { return tcp.Descriptors(streams, measure.Receiver) - streams }

// take reserves n for an address.
func (d *descriptors) take(t *testing.T, from string, n int) (release func()) {
	t.Helper()
	release, err := d.reserve(netip.MustParseAddr(from), n)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// refuses reports whether n are not to be had for an address.
func (d *descriptors) refuses(from string, n int) bool {
	release, err := d.reserve(netip.MustParseAddr(from), n)
	if err == nil {
		release()
	}
	return measure.KindOf(err) == measure.KindRefused
}

func TestATestLeavesHalfOfTheDescriptorsForOthers(t *testing.T) {
	d := newDescriptors(1000 + ownDescriptors)
	for i, want := 1, 375; want > 0; i, want = i+1, (750-d.reserved)/2 {
		from := fmt.Sprint("10.0.0.", i)
		if !d.refuses(from, want+1) {
			t.Fatalf("more than half of what is left was reserved, with %d reserved", d.reserved)
		}
		d.take(t, from, want)
	}
	if d.left() < 250 {
		t.Errorf("%d are left for those that only ask", d.left())
	}
}

func TestTestsOfOneAddressLeaveDescriptorsForOthers(t *testing.T) {
	d := newDescriptors(800 + ownDescriptors) // 600 for tests, of which 75 are left to others
	var releases []func()
	for !d.refuses("10.0.0.1", 7) {
		releases = append(releases, d.take(t, "10.0.0.1", 7))
	}
	if d.reserved != 525 {
		t.Errorf("one address has reserved %d, want 525", d.reserved)
	}
	if d.refuses("10.0.0.2", 37) || !d.refuses("10.0.0.2", 38) {
		t.Error("another address does not get half of the 75 that are left")
	}
	for range 4 {
		releases = append(releases, d.take(t, "10.0.0.2", 7))
	}
	for _, release := range releases {
		release()
		release()
	}
	if d.reserved != 0 || len(d.sources) != 0 {
		t.Errorf("after all have been given back: %d, %v", d.reserved, d.sources)
	}
}

func TestOpenConnectionsTakeDescriptors(t *testing.T) {
	d := newDescriptors(1000 + ownDescriptors)
	d.open = func() int { return 900 } // control connections that nothing can close
	if !d.refuses("10.0.0.1", 51) || d.refuses("10.0.0.1", 50) {
		t.Error("what is open was not counted")
	}
}

func TestASystemWithoutALimitOfDescriptorsHasNone(t *testing.T) {
	d := newDescriptors(0)
	if d.refuses("10.0.0.1", 1<<20) || d.share(7, 8) != 7 {
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
