package host

// Totals are counters of this host since it started, of all processes together,
// as the programs read them that report a whole machine. What the system does not
// tell is zero.
type Totals struct {
	CPUs int // processors that are there
	// Time of all processors together, in ticks of a hundredth of a second. All is
	// the sum with those that have no member of their own.
	User, System, Idle, IOWait, Softirq, All int64

	ProcessNs int64 // processor time of this process, user and system

	// What TCP sent again, both address families: segments; those lost again; SYNs;
	// by fast retransmit, forward, and after a timeout; and those that failed.
	RetransSegs, LostRetrans, SYNRetrans, FastRetrans, ForwardRetrans, SlowStartRetrans, RetransFail int64
}

// ReadTotals reads them now. On systems other than Linux only ProcessNs and CPUs
// are there.
func ReadTotals() Totals { return readTotals() }

// ProcessorMHz is how fast the first processor runs now, as the system says; 0
// where it does not.
func ProcessorMHz() float64 { return processorMHz() }

// Traffic is what an interface moved since it is there.
type Traffic struct{ SentBytes, ReceivedBytes, SentPackets, ReceivedPackets int64 }

// InterfaceTraffic reads it now; false where there is no such interface or the system
// does not tell.
func InterfaceTraffic(name string) (Traffic, bool) { return interfaceTraffic(name) }

// InterfacePackets are the packets of [InterfaceTraffic].
func InterfacePackets(name string) (sent, received int64, ok bool) {
	t, ok := interfaceTraffic(name)
	return t.SentPackets, t.ReceivedPackets, ok
}

// Interrupts are those of all lines of the system's list of interrupts that have
// text in them, all processors together; false where there is no list.
func Interrupts(text string) (int64, bool) { return interrupts(text) }
