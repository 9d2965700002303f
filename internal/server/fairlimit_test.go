package server

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

// holders takes places and records who lost them.
type holders struct {
	*FairLimit
	lost []string
}

func (h *holders) take(address, name string) *Held {
	return h.Hold(netip.MustParseAddr(address), func() { h.lost = append(h.lost, name) })
}

func TestOneAddressMayHaveAllPlacesWhileNoOtherWantsAny(t *testing.T) {
	h := &holders{FairLimit: NewFairLimit(3)}
	for i := range 3 {
		h.take("10.0.0.1", fmt.Sprint(i))
	}
	if h.take("10.0.0.2", "other") == nil || !slices.Equal(h.lost, []string{"0"}) {
		t.Errorf("lost: %v", h.lost)
	}
	if h.take("10.0.0.1", "3") == nil || !slices.Equal(h.lost, []string{"0", "1"}) {
		t.Errorf("an address with most displaces its own: %v", h.lost)
	}
	if h.take("10.0.0.3", "third") == nil || !slices.Equal(h.lost, []string{"0", "1", "2"}) {
		t.Errorf("lost: %v", h.lost)
	}
	if h.take("10.0.0.4", "fourth") == nil || !slices.Equal(h.lost, []string{"0", "1", "2", "other"}) {
		t.Errorf("the oldest of addresses with one each: %v", h.lost)
	}
}

func TestAKeptConnectionDoesNotLoseItsPlace(t *testing.T) {
	h := &holders{FairLimit: NewFairLimit(2)}
	kept := []*Held{h.take("10.0.0.1", "a"), h.take("10.0.0.1", "b")}
	for _, k := range kept {
		if !k.Pin() {
			t.Error("it was lost")
		}
	}
	if h.take("10.0.0.2", "other") != nil {
		t.Error("a kept connection lost its place")
	}
	kept[0].Release()
	kept[0].Release()
	other := h.take("10.0.0.2", "other")
	if other == nil {
		t.Fatal("no place after one was released")
	}
	if h.take("10.0.0.1", "c") != nil {
		t.Error("an address with more displaced another's")
	}
	if len(h.lost) > 0 {
		t.Errorf("lost: %v", h.lost)
	}
}

func TestThoseThatCanLoseTheirPlaceHaveABoundOfTheirOwn(t *testing.T) {
	h := &holders{FairLimit: NewFairLimit(10)}
	h.maxEvictable = 2
	for _, name := range []string{"a", "b", "c", "d"} {
		h.take("10.0.0.1", name).Pin()
	}
	e := h.take("10.0.0.1", "e")
	h.take("10.0.0.1", "f")
	h.take("10.0.0.1", "g")
	if h.open() != 6 || !slices.Equal(h.lost, []string{"e"}) || e.Pin() {
		t.Errorf("%d are open, lost: %v", h.open(), h.lost)
	}
}

func TestAddressesOfIPv6CountByTheirNetwork(t *testing.T) {
	h := &holders{FairLimit: NewFairLimit(2)}
	h.take("2001:db8::1", "a")
	h.take("2001:db8::2", "b")
	if h.take("2001:db8:0:1::1", "other") == nil || !slices.Equal(h.lost, []string{"a"}) {
		t.Errorf("lost: %v", h.lost)
	}
}

func TestWhatIsHeldNeverExceedsTheLimit(t *testing.T) {
	const most = 20
	h := NewFairLimit(most)
	open := map[*Held]bool{}
	for range 20_000 {
		switch rand.IntN(4) {
		case 0:
			for x := range open {
				x.Release()
				delete(open, x)
				break
			}
		case 1:
			for x := range open {
				if !x.Pin() {
					t.Fatal("one that is open was lost")
				}
				break
			}
		default:
			var own *Held
			own = h.Hold(netip.AddrFrom4([4]byte{10, 0, 0, byte(rand.IntN(5))}), func() { delete(open, own) })
			if own != nil {
				open[own] = true
			}
		}
		counted := 0
		for _, s := range h.sources {
			counted += s.have
		}
		evictable := 0
		for x := range open {
			if x.evictable != nil {
				evictable++
			}
		}
		if len(open) > most || h.evictable != evictable || h.have != len(open) || counted != len(open) {
			t.Fatalf("%d open, %d and %d counted", len(open), h.have, counted)
		}
	}
	for x := range open {
		x.Release()
	}
	if len(h.sources) > 0 || h.have != 0 {
		t.Errorf("%d sources, %d are left", len(h.sources), h.have)
	}
}
