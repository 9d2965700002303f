package doctor

import (
	"strconv"
	"strings"

	"soku/internal/measure"
)

// Wanted is what a person wants to measure. Zero is unknown.
type Wanted struct {
	RateBps  float64 `json:"rate_bps,omitempty"`
	RateFrom string  `json:"rate_from,omitempty" jsonschema:"enum=asked,enum=link,description=link: the speed of the interface"`
	RTTNs    float64 `json:"rtt_ns,omitempty" jsonschema:"description=Median round trip"`
	RTTFrom  string  `json:"rtt_from,omitempty" jsonschema:"enum=asked,enum=latency,enum=ping"`
	Streams  int     `json:"streams"`
	Port     int     `json:"port,omitempty"`
}

// Values of RateFrom and RTTFrom.
const (
	FromAsked   = "asked"
	FromLink    = "link"
	FromLatency = "latency"
	FromPing    = "ping"
)

// BDP is the bandwidth-delay product in bytes, 0 if it is not known (RFC 6349, section 3.3).
func (w Wanted) BDP() float64 { return w.RateBps / 8 * w.RTTNs / 1e9 }

// Readings are what was read of one host. A member that could not be read is nil or zero.
type Readings struct {
	Far    bool // read by the server and reported in a result
	Facts  measure.Facts
	Sample *Sample
	Extra  *Extra
}

// Sample is what a host did in about half a second, without what soku did itself.
type Sample struct {
	WallNs     int64
	CPUs       int // online
	BusyNs     int64
	StealNs    int64
	StealKnown bool
	SentBytes  int64
	RecvBytes  int64
	Traffic    bool             // the interface's counters were read
	Counters   map[string]int64 // differences of counters, by the keys of a series; nil: none
	Processes  []Process        // the busiest first; nil: unknown
}

// Process is a process that used a processor.
type Process struct {
	PID  int
	Name string
	Ns   int64 // processor time in the sample
}

// Extra are the facts of this host that results do not have.
type Extra struct {
	Device       string          // that carries the traffic of the interface
	Fixed        map[string]bool // offloads by the names of ethtool that the driver does not let change; nil: unknown
	Duplex       string          // full, half
	EEE          *EEE
	Interrupts   []Interrupt // of the device
	Balancer     bool        // irqbalance runs
	Queues       []string    // receive queues that receive packet steering can be set for
	Conntrack    *Conntrack
	Firewall     *Firewall
	FirewallNot  Reason // why Firewall is nil
	ClockSources []string
	Policies     []Policy
	Unit         string // of systemd that this process is in; empty: none
}

// EEE is Energy-Efficient Ethernet (IEEE 802.3az).
type EEE struct{ Enabled, Active bool }

// Interrupt is one of the interface's, and the processor that handles it.
type Interrupt struct {
	Number int
	CPUs   string
}

// Conntrack is how many connections the system tracks.
type Conntrack struct{ Count, Most int64 }

// Firewall counts its rules in this network namespace.
type Firewall struct {
	Tables, Chains, Rules int
	Port                  int      // rules that compare the destination port with the wanted one
	Legacy                []string // tables of iptables without nftables
}

// Policy is the governor of some processors.
type Policy struct {
	Name, Governor string
	Available      []string
}

// sysctl is a kernel setting of the facts.
func (s *Subject) sysctl(name string) (string, bool) {
	v, ok := s.Facts.Sysctl[name]
	return v, ok
}

// numbers returns the n numbers of a kernel setting. ok is false if it has another count of numbers.
func (s *Subject) numbers(name string, n int) ([]float64, bool) {
	text, ok := s.sysctl(name)
	fields := strings.Fields(text)
	if !ok || len(fields) != n {
		return nil, false
	}
	out := make([]float64, n)
	for i, f := range fields {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, false
		}
		out[i] = float64(v)
	}
	return out, true
}

// device is the interface that carries the packets, below a VLAN.
func (s *Subject) device() string {
	if s.Facts.NIC != nil && s.Facts.NIC.Device != "" {
		return s.Facts.NIC.Device
	}
	return s.Facts.Interface
}

// driver is the driver of [Subject.device].
func (s *Subject) driver() string {
	if s.Facts.NIC != nil && s.Facts.NIC.Driver != "" {
		return s.Facts.NIC.Driver
	}
	return s.Facts.Driver
}

// physical reports whether the interface is a device of a bus.
func (s *Subject) physical() bool { return s.Facts.NIC != nil && s.Facts.NIC.Bus != "" }

// mtu is that of the interface, or the usual one.
func (s *Subject) mtu() float64 {
	const usual = 1500
	if s.Facts.MTU > 0 {
		return float64(s.Facts.MTU)
	}
	return usual
}
