package limiter

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTriesInARowAreBoundedAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New[string](time.Second, 2)
		for range 3 {
			if !l.Allows("a") {
				t.Error("to ask counts as a try")
			}
		}
		first, second := l.Take("a"), l.Take("a")
		if !first || !second || l.Allows("a") || l.Take("a") || !l.Take("b") {
			t.Error("not two tries in a row of each key")
		}
		time.Sleep(time.Second)
		if !l.Allows("a") || !l.Take("a") || l.Take("a") {
			t.Error("not one try more in a second")
		}
	})
}

func TestKeysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New[int](time.Second, 2)
		for i := range 2 * maxKeys {
			l.Take(i)
		}
		if len(l.by) != maxKeys {
			t.Errorf("%d keys are known", len(l.by))
		}
		if !l.Allows(1) || l.Allows(2*maxKeys) || l.Take(2*maxKeys) {
			t.Error("those without room are not limited together")
		}
		time.Sleep(2 * time.Second)
		if l.Take(2 * maxKeys); len(l.by) != 1 || !l.Allows(2*maxKeys) {
			t.Errorf("%d keys are known after their time", len(l.by))
		}
	})
}

func TestANetworkIsCountedAsOne(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:1": "192.0.2.1/32", "[::ffff:192.0.2.1]:1": "192.0.2.1/32", "[2001:db8:0:1:2::3]:1": "2001:db8:0:1::/64", "[fe80::1%eth0]:1": "fe80::/64",
		"": "invalid Prefix", "@": "invalid Prefix",
	} {
		if got := NetworkOf(remote).String(); got != want {
			t.Errorf("%q: %s, want %s", remote, got, want)
		}
	}
}
