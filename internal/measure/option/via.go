package option

import (
	"cmp"
	"slices"

	"soku/internal/measure"
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
func spoken(via string) (port int, tests []measure.Test) {
	switch via {
	case ViaIperf3:
		return 5201, []measure.Test{measure.TestTCP, measure.TestUDP}
	case ViaEthr:
		return 8888, []measure.Test{measure.TestTCP, measure.TestUDP, measure.TestLatency, measure.TestConnect}
	case ViaNtttcp:
		return 5001, []measure.Test{measure.TestTCP, measure.TestUDP}
	}
	return DefaultPort, nil
}

// Speaks reports whether a protocol, a value of the option via, has a test.
func Speaks(via string, test measure.Test) bool {
	_, tests := spoken(via)
	return tests == nil || slices.Contains(tests, test)
}

// ServerPort is the port to connect to: the one that is asked for, or that of the protocol.
func ServerPort(o measure.Options) int {
	port, _ := spoken(o.Via)
	return cmp.Or(o.Port, port)
}

// fillVia names the protocol where an older program left it out, and its port.
func fillVia(o *measure.Options) {
	o.Via = cmp.Or(o.Via, ViaSoku)
	o.Port = ServerPort(*o)
}

// checkVia checks that the protocol has the test, and what is asked of it.
func checkVia(o *measure.Options, s *Spec) error {
	if !Speaks(o.Via, s.Name) {
		_, tests := spoken(o.Via)
		return measure.Fail(measure.KindUsage, "option.via.test", measure.Figures{"via": o.Via, "test": s.Name, "tests": tests})
	}
	if s.Via == nil {
		return nil
	}
	return s.Via(*o)
}
