package measure

import "fmt"

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

// NeedsServer reports whether a test of these options needs a soku server at
// the far end.
func (o Options) NeedsServer(t Test) bool {
	external := specs[t] != nil && specs[t].External != nil && specs[t].External(o)
	return t.NeedsServer() && !external
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
