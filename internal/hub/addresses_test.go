package hub_test

import (
	"slices"
	"testing"

	"soku/internal/fleet"
	"soku/internal/measure"
)

func TestTheAddressThatIsLikelyToBeReachedIsTriedFirst(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	has := func(name string, n int, all ...fleet.Address) {
		b.host(n, func(h *host) { h.name, h.addresses = name, all })
	}
	public := fleet.Address{Name: "public", Address: "vm.example", Asked: true}
	front := fleet.Address{Name: "eth0", Address: "10.0.1.2", Bits: 24}
	back := fleet.Address{Name: "eth1", Address: "10.0.2.2", Bits: 24}
	six := fleet.Address{Name: "eth2", Address: "2001:db8::2", Bits: 64}
	has("announces", 1, public, front, six)
	has("several", 2, six, front, back)
	has("many", 3, front, back, six, fleet.Address{Name: "a", Address: "10.0.3.2"}, fleet.Address{Name: "b", Address: "10.0.2.3", Bits: 24})
	has("none", 4)
	has("client", 5, fleet.Address{Name: "eth0", Address: "10.0.2.9", Bits: 24})
	for name, c := range map[string]struct {
		client string
		all    []string
	}{
		"announces": {"client", []string{"vm.example", "10.0.1.2", "2001:db8::2"}},
		"several":   {"client", []string{"10.0.2.2", "10.0.1.2", "2001:db8::2"}},
		"many":      {"client", []string{"10.0.2.2", "10.0.2.3", "10.0.1.2", "10.0.3.2"}},
		"client":    {"", []string{"10.0.2.9"}},
	} {
		if all, err := h.Campaigns().Addresses(c.client, name); err != nil || !slices.Equal(all, c.all) {
			t.Errorf("%s: %q, %v", name, all, err)
		}
	}
	if _, err := h.Campaigns().Addresses("client", "none"); measure.KindOf(err) != measure.KindNotFound {
		t.Error(err)
	}
}
