package measure

// Trace is what a trace trial found: the hops of the path, who answered at each, and
// which way each flow took. Times are in ns.
type Trace struct {
	Probe   string      `json:"probe" jsonschema:"enum=icmp,enum=udp,enum=tcp,description=Kind of the probes"`
	Timing  *Timing     `json:"timing,omitempty" jsonschema:"description=Kind of socket and who took the times"`
	Method  string      `json:"method,omitempty" jsonschema:"description=The timing in words; only in documents of earlier versions"`
	Port    int         `json:"port,omitempty" jsonschema:"description=Destination port; absent for icmp"`
	Reached bool        `json:"reached" jsonschema:"description=The target itself answered"`
	Rounds  int64       `json:"rounds" jsonschema:"description=Rounds that were begun"`
	Sent    int64       `json:"sent" jsonschema:"description=All probes\\, also those past the target and those nobody waited for"`
	Foreign int64       `json:"foreign,omitempty" jsonschema:"description=ICMP messages about packets that were none of the probes; they are in no figure"`
	Hops    []TraceHop  `json:"hops" jsonschema:"description=One element a distance from 1 on; those after the last that answered are left out"`
	Flows   []TraceFlow `json:"flows" jsonschema:"description=One element a flow"`
}

// TraceHop is one distance from the client. Sent counts the probes of flows whose path
// is that long and whose time is over; Lost those of them nobody answered.
type TraceHop struct {
	Hop       int         `json:"hop"`
	Sent      int64       `json:"sent"`
	Lost      int64       `json:"lost"`
	LossRatio float64     `json:"loss_ratio" jsonschema:"description=Lost divided by sent; a router that answers few probes is not one that drops packets"`
	Nodes     []TraceNode `json:"nodes,omitempty" jsonschema:"description=Who answered; the one with most answers first; several where the path has branches"`
}

// TraceNode is one address that answered at a hop.
type TraceNode struct {
	Address    string      `json:"address"`
	Name       string      `json:"name,omitempty" jsonschema:"description=By reverse DNS (option names)"`
	Target     bool        `json:"target,omitempty" jsonschema:"description=The target itself"`
	Reason     string      `json:"reason,omitempty" jsonschema:"description=Why it let the probe go no further\\, other than that its hop limit was reached; in English"`
	ReasonCode Reason      `json:"reason_code,omitempty" jsonschema:"description=The reason as a code by type and code of the ICMP error (docs/reference/trace.md); absent in documents of earlier versions"`
	Received   int64       `json:"received"`
	LastNs     float64     `json:"last_ns"`
	MinNs      float64     `json:"min_ns"`
	MeanNs     float64     `json:"mean_ns"`
	MaxNs      float64     `json:"max_ns"`
	StdDevNs   float64     `json:"stddev_ns" jsonschema:"description=Of the sample; 0 for one answer"`
	Flows      []int       `json:"flows" jsonschema:"description=Indices of the flows it answered"`
	MPLS       []MPLSLabel `json:"mpls,omitempty" jsonschema:"description=Label stack that the probe had when it arrived there (RFC 4950); top first"`
}

// MPLSLabel is an entry of a label stack (RFC 3032).
type MPLSLabel struct {
	Label int  `json:"label"`
	Class int  `json:"traffic_class"`
	Last  bool `json:"bottom_of_stack"`
	TTL   int  `json:"ttl"`
}

// TraceFlow is the path of one flow: packets that share addresses, protocol and ports,
// which equal-cost routing keeps on one branch.
type TraceFlow struct {
	Index   int      `json:"index"`
	Port    int      `json:"port,omitempty" jsonschema:"description=Source port; for icmp the echo identifier"`
	Reached bool     `json:"reached"`
	Path    []string `json:"path" jsonschema:"description=The address that answered last at each hop from 1 on; empty where none did"`
}

// PathMTU is what an mtu trial found. Sizes are of whole IP packets, in bytes.
type PathMTU struct {
	Probe          string       `json:"probe" jsonschema:"enum=icmp,enum=udp,description=Kind of the probes"`
	Timing         *Timing      `json:"timing,omitempty" jsonschema:"description=Kind of socket and who took the times"`
	Method         string       `json:"method,omitempty" jsonschema:"description=The timing in words; only in documents of earlier versions"`
	Port           int          `json:"port,omitempty" jsonschema:"description=Destination port; absent for icmp"`
	Bytes          int          `json:"bytes" jsonschema:"description=Largest packet that got through unfragmented; with icmp there and its reply back"`
	FailedBytes    int          `json:"failed_bytes,omitempty" jsonschema:"description=Smallest packet that did not get through"`
	InterfaceBytes int          `json:"interface_bytes" jsonschema:"description=MTU of the interface the path begins at"`
	Limit          string       `json:"limit" jsonschema:"enum=interface,enum=reported,enum=black_hole,enum=unknown,description=What limits it: the local interface; a hop that says so; a place after which larger packets vanish without a report; or nobody could be found"`
	After          *MTUHop      `json:"after,omitempty" jsonschema:"description=Last hop that larger packets reached. The link or node behind it does not carry them"`
	Before         *MTUHop      `json:"before,omitempty" jsonschema:"description=Next hop that small packets reached and larger ones did not"`
	Reports        []MTUReport  `json:"reports,omitempty" jsonschema:"description=Messages of the kind fragmentation needed or packet too big; one element an address and size"`
	Sizes          []MTUSize    `json:"sizes" jsonschema:"description=Sizes that were tried\\, in the order of trying"`
	Hops           []MTUHopSeen `json:"hops,omitempty" jsonschema:"description=Hops on the way and whether larger packets reached them"`
}

// MTUHop is a hop by its distance.
type MTUHop struct {
	Hop     int    `json:"hop"`
	Address string `json:"address"`
	Name    string `json:"name,omitempty"`
}

// MTUReport is what one node said of the size of packets.
type MTUReport struct {
	Address   string `json:"address"`
	Bytes     int    `json:"bytes" jsonschema:"description=The size it said; 0: none (RFC 1191 section 5)"`
	Confirmed bool   `json:"confirmed" jsonschema:"description=Probes agreed: that size got through and one byte more did not"`
}

// MTUSize is one size that was tried.
type MTUSize struct {
	Bytes    int     `json:"bytes"`
	Sent     int     `json:"sent"`
	Answered bool    `json:"answered"`
	Local    bool    `json:"local,omitempty" jsonschema:"description=The system would not send it: larger than the interface or its route carries"`
	Reported int     `json:"reported_bytes,omitempty" jsonschema:"description=What a node on the way said is the most"`
	RTTNs    float64 `json:"rtt_ns,omitempty"`
}

// MTUHopSeen is one hop, asked with small packets and with ones that do not get through.
type MTUHopSeen struct {
	Hop     int    `json:"hop"`
	Address string `json:"address,omitempty"`
	Small   bool   `json:"small" jsonschema:"description=It answered small packets"`
	Large   bool   `json:"large" jsonschema:"description=It answered packets of failed_bytes"`
}

// MTUStep is what an mtu trial asks right now, and what it knows by then. Sizes are of
// whole IP packets, in bytes.
type MTUStep struct {
	Asking int `json:"asking_bytes"`           // size of the packets that leave next
	Hop    int `json:"hop,omitempty"`          // the distance they end at; 0: the target
	Passed int `json:"passed_bytes,omitempty"` // the largest that got through; 0: none yet
	Failed int `json:"failed_bytes,omitempty"` // the smallest that did not; 0: none yet
}

// Values of PathMTU.Limit.
const (
	LimitInterface = "interface"
	LimitReported  = "reported"
	LimitBlackHole = "black_hole"
	LimitUnknown   = "unknown"
)

// ProbeTiming is the kind of socket and who took the times.
func (t *Trace) ProbeTiming() Timing { return timingOf(t.Timing, t.Method) }

// ProbeTiming is the kind of socket and who took the times.
func (m *PathMTU) ProbeTiming() Timing { return timingOf(m.Timing, m.Method) }
