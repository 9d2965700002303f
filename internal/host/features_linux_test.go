package host

import (
	"testing"

	"github.com/safchain/ethtool"
)

func TestFeaturesAreWhatEthtoolSays(t *testing.T) {
	e, err := ethtool.NewEthtool()
	if err != nil {
		t.Skipf("no ethtool here: %v", err)
	}
	defer e.Close()
	want, err := e.Features("lo")
	if err != nil {
		t.Skipf("no features here: %v", err)
	}
	got := features("lo")
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d features, ethtool has %d", len(got), len(want))
	}
	for name, on := range want {
		if have, ok := got[name]; !ok || have != on {
			t.Errorf("%s is %v (known: %v), by ethtool %v", name, have, ok, on)
		}
	}
	if features("no-such-card") != nil {
		t.Error("an interface that is not there has features")
	}
}
