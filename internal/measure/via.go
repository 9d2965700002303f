package measure

import (
	"cmp"
	"slices"
)

// Values of the option via: which protocol is spoken with the far end.
const (
	ViaSoku   = "soku"
	ViaIperf3 = "iperf3"
	ViaEthr   = "ethr"
	ViaNtttcp = "ntttcp"
)

// spoken are the tests that each foreign protocol has, and its port.
func spoken(via string) (port int, tests []Test) {
	switch via {
	case ViaIperf3:
		return 5201, []Test{TestTCP, TestUDP}
	case ViaEthr:
		return 8888, []Test{TestTCP, TestUDP, TestLatency, TestConnect}
	case ViaNtttcp:
		return 5001, []Test{TestTCP, TestUDP}
	}
	return DefaultPort, nil
}

// resolveVia checks that the protocol has the test, and fills in its port.
func (o *Options) resolveVia(test Test) error {
	o.Via = cmp.Or(o.Via, ViaSoku) // absent in what an older program wrote
	port, tests := spoken(o.Via)
	if tests != nil && !slices.Contains(tests, test) {
		return Errorf(KindUsage, "via %s has no %s test", o.Via, test).WithHint("it has: %s", list(tests))
	}
	o.Port = cmp.Or(o.Port, port)
	if o.Via == ViaEthr {
		return o.checkEthr(test)
	}
	return nil
}
