package measure

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// Test names what a trial measures.
type Test string

// The tests that exist.
const (
	TestTCP     Test = "tcp"     // goodput of TCP streams
	TestUDP     Test = "udp"     // goodput, loss, reordering and jitter of UDP datagrams
	TestLatency Test = "latency" // request/response time over TCP or UDP
	TestConnect Test = "connect" // TCP connections a second and their set-up time
	TestPing    Test = "ping"    // ICMP echo round trip
	TestTrace   Test = "trace"   // hops of the path, their loss and round trips
	TestMTU     Test = "mtu"     // largest packet that the path carries
	TestCopy    Test = "copy"    // time and rate of copying files
)

// registered are the tests that exist, by ascending place.
var registered []registeredTest

type registeredTest struct {
	name  Test
	place int          // in help, documents and reports
	own   reflect.Type // of [Options].Own, or nil
}

// RegisterTest adds the name of a test, its place in help, documents and reports, and the type of
// its own options, or nil. It is called before main; a name or a place that is taken is a defect,
// and it panics.
func RegisterTest(name Test, place int, own reflect.Type) {
	for _, other := range registered {
		if other.name == name || other.place == place {
			panic(fmt.Sprintf("test %s: its name or its place %d is that of %s", name, place, other.name))
		}
	}
	registered = append(registered, registeredTest{name, place, own})
	slices.SortFunc(registered, func(a, b registeredTest) int { return cmp.Compare(a.place, b.place) })
}

// Tests lists every test, in the order of help and documents.
func Tests() []Test {
	out := make([]Test, len(registered))
	for i, t := range registered {
		out[i] = t.name
	}
	return out
}

// ParseTest returns the test of that name, or a usage [Error] that lists the tests that exist.
func ParseTest(name string) (Test, error) {
	if slices.Contains(Tests(), Test(name)) {
		return Test(name), nil
	}
	return "", Fail(KindUsage, "option.unknown_test", Figures{"test": name, "tests": Tests()})
}

// Direction is which way the measured bytes go.
type Direction string

// Directions. Forward is from the client, which starts the trial, to the server.
const (
	Forward       Direction = "forward"
	Reverse       Direction = "reverse"
	Bidirectional Direction = "bidirectional"
)

// Directions lists the values an option may take.
func Directions() []Direction { return []Direction{Forward, Reverse, Bidirectional} }

// Flows returns the one-way directions that d is made of: one, or for
// [Bidirectional] forward then reverse.
func (d Direction) Flows() []Direction {
	if d == Bidirectional {
		return []Direction{Forward, Reverse}
	}
	return []Direction{d}
}

// Endpoint is one end of a path as the trial used it.
type Endpoint struct {
	Name    string `json:"name,omitempty" jsonschema:"description=Name in the plan or the given host name"`
	Address string `json:"address,omitempty" jsonschema:"description=IP address used"`
	Label   string `json:"label,omitempty" jsonschema:"description=Label of the address in the plan\\, such as vlan or public"`
}

// Path is where a trial measured: from client to server, and which way.
type Path struct {
	Client    Endpoint  `json:"client"`
	Server    Endpoint  `json:"server"`
	Direction Direction `json:"direction"`
}

// String is "client → server" with the most specific name of each end.
func (p Path) String() string {
	return fmt.Sprintf("%s → %s", p.Client.String(), p.Server.String())
}

// String is the endpoint's name, or its address where it has none.
func (e Endpoint) String() string {
	switch {
	case e.Name != "" && e.Label != "":
		return e.Name + "." + e.Label
	case e.Name != "":
		return e.Name
	case e.Address != "":
		return e.Address
	}
	return "?"
}
