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

// DefaultPort is the native protocol's port, TCP and UDP.
const DefaultPort = 7658

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

// Speaks reports whether a protocol, a value of the option via, has a test.
func Speaks(via string, test Test) bool {
	_, tests := spoken(via)
	return tests == nil || slices.Contains(tests, test)
}

// ServerPort is the port to connect to: the one that is asked for, or that of the protocol.
func (o Options) ServerPort() int {
	port, _ := spoken(o.Via)
	return cmp.Or(o.Port, port)
}

// fillVia names the protocol where an older program left it out, and its port.
func (o *Options) fillVia() {
	o.Via = cmp.Or(o.Via, ViaSoku)
	o.Port = o.ServerPort()
}

// checkVia checks that the protocol has the test, and what is asked of it.
func checkVia(o *Options, s *Spec) error {
	if !Speaks(o.Via, s.Name) {
		_, tests := spoken(o.Via)
		return Fail(KindUsage, "option.via.test", Figures{"via": o.Via, "test": s.Name, "tests": tests})
	}
	if s.Via == nil {
		return nil
	}
	return s.Via(*o)
}
