//go:build linux && (amd64 || arm64) && !race && !plainloops

package direct

import (
	"testing"

	"soku/internal/engine/latency/requests"
	"soku/internal/sock"
)

// TestAStampFindsItsExchange without a kernel: stamps of an interface come late, those
// of what was sent again come twice, and keys begin again at 0.
func TestAStampFindsItsExchange(t *testing.T) {
	d := &socket{wall: 1000, done: make([]exchange, 10), n: 6}
	d.passed = make([]passed, 10)
	for i := range d.passed {
		d.passed[i].key = uint32(i) - 4
		d.done[i].sent = int64(i) * 100
	}
	stamp := func(i int, software, hardware int64) {
		d.file(&sock.Stamps{Left: true, Key: uint32(i) - 4, Software: software, Hardware: hardware})
	}
	stamp(6, 1650, 0)
	stamp(6, 1660, 0) // sent again
	stamp(5, 0, 77)   // late
	stamp(4, 1450, 0)
	stamp(3, 1299, 0) // before its request
	stamp(1, 1150, 9) // too late
	stamp(9, 1950, 9) // of nothing that was sent
	for i, want := range map[int]passed{6: {left: 1650}, 5: {rawLeft: 77}, 4: {left: 1450}, 3: {}, 1: {}, 9: {}} {
		want.key = uint32(i) - 4
		if d.passed[i] != want {
			t.Errorf("exchange %d: %+v, want %+v", i, d.passed[i], want)
		}
	}
	e := &d.done[6]
	e.came, e.read, e.farIn, e.farOut = 800, 850, 5, 25
	if got, want := d.passage(6), (requests.Passage{Sent: 600, Left: 650, Came: 800, Read: 850, In: 5, Out: 25}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
