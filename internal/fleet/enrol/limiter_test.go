package enrol

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

func TestAddressesWithFailuresAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(rate.Every(time.Second), 2)
		address := func(i int) netip.Prefix {
			return netip.PrefixFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(i)))), 32)
		}
		for i := range 2 * maxAddresses {
			l.failed(address(i))
		}
		if len(l.by) != maxAddresses {
			t.Errorf("%d addresses are known", len(l.by))
		}
		if !l.allows(address(1)) || l.allows(address(2*maxAddresses)) {
			t.Error("those without room are not limited together")
		}
		time.Sleep(2 * time.Second)
		if l.failed(address(2 * maxAddresses)); len(l.by) != 1 || !l.allows(address(2*maxAddresses)) {
			t.Errorf("%d addresses are known after their time", len(l.by))
		}
	})
}

func TestANetworkIsCountedAsOne(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:1": "192.0.2.1/32", "[::ffff:192.0.2.1]:1": "192.0.2.1/32", "[2001:db8:0:1:2::3]:1": "2001:db8:0:1::/64", "[fe80::1%eth0]:1": "fe80::/64",
		"": "invalid Prefix", "@": "invalid Prefix",
	} {
		if got := networkOf(remote).String(); got != want {
			t.Errorf("%q: %s, want %s", remote, got, want)
		}
	}
}
