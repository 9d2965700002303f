package sock

import (
	"net/netip"
	"testing"
)

func TestAddressesOfOneHostAreOneSource(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.4": "10.0.0.4/32", "::ffff:10.0.0.4": "10.0.0.4/32", "2001:db8:0:1:a:b:c:d": "2001:db8:0:1::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := SourceOf(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("%s counts as %v, want %s", address, got, want)
		}
	}
	if SourceOf(netip.Addr{}).IsValid() {
		t.Error("no address counts as one")
	}
}
