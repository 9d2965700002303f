package measure

// Trace is what a trace trial found: the hops of the path, who answered at each, and
// which way each flow took. Times are in ns.
type Trace struct {
	Probe   string      `json:"probe" jsonschema:"enum=icmp,enum=udp,enum=tcp,description=Kind of the probes"`
	Timing  *Timing     `json:"timing,omitempty" jsonschema:"description=Kind of socket and what took the time stamps"`
	Method  string      `json:"method,omitempty" jsonschema:"description=The timing in words; only in documents of earlier versions"`
	Port    int         `json:"port,omitempty" jsonschema:"description=Destination port; absent for icmp"`
	Reached bool        `json:"reached" jsonschema:"description=The target itself answered"`
	Rounds  int64       `json:"rounds" jsonschema:"description=Rounds started"`
	Sent    int64       `json:"sent" jsonschema:"description=All probes\\, including those past the target and those whose answer was not awaited"`
	Foreign int64       `json:"foreign,omitempty" jsonschema:"description=ICMP messages about packets that were not probes; in no figure"`
	Hops    []TraceHop  `json:"hops" jsonschema:"description=One element per distance\\, from 1; hops after the last that answered are omitted"`
	Flows   []TraceFlow `json:"flows" jsonschema:"description=One element per flow"`
	// Outstanding is how much is still to be found out, for live progress.
	Outstanding int `json:"outstanding,omitempty" jsonschema:"description=Hops of flows at which it is not known who answers\\, and that are still probed; in a result: when it was interrupted or gave up"`
}

// TraceHop is one distance from the client. Sent counts the probes of flows whose path
// is that long and whose timeout is over. Those without an answer are Lost if an answer was
// due, and otherwise Unanswered: nodes limit the rate of their ICMP errors (RFC 1812 section
// 4.3.2.8), and such silence says nothing about the path.
type TraceHop struct {
	Hop        int          `json:"hop"`
	Sent       int64        `json:"sent"`
	Due        int64        `json:"due,omitempty" jsonschema:"description=Probes to which an answer was due: to a node that was left alone for a second before or that answered repeats at once; absent in documents of earlier versions"`
	Lost       int64        `json:"lost" jsonschema:"description=Probes without an answer that was due; in documents of earlier versions all without an answer"`
	Unanswered int64        `json:"unanswered,omitempty" jsonschema:"description=Probes without an answer that was not due; not loss"`
	LossRatio  float64      `json:"loss_ratio" jsonschema:"description=Lost divided by due; in documents of earlier versions by sent"`
	Limit      *AnswerLimit `json:"limit,omitempty" jsonschema:"description=The nodes of this hop limit their answers; absent if that did not show"`
	Nodes      []TraceNode  `json:"nodes,omitempty" jsonschema:"description=Nodes that answered\\, the one with most answers first; several if the path has branches"`
}

// AnswerLimit is how many probes the nodes of a hop answer.
type AnswerLimit struct {
	PerSecond float64 `json:"answers_per_second" jsonschema:"description=Answers of all its nodes together to probes at the pace that they sustain"`
}

// TraceNode is one address that answered at a hop.
type TraceNode struct {
	Address    string      `json:"address"`
	Name       string      `json:"name,omitempty" jsonschema:"description=By reverse DNS (option names)"`
	Target     bool        `json:"target,omitempty" jsonschema:"description=The target itself"`
	Reason     string      `json:"reason,omitempty" jsonschema:"description=Why it did not forward the probe\\, other than the expired hop limit; in English"`
	ReasonCode Reason      `json:"reason_code,omitempty" jsonschema:"description=The reason as a code by type and code of the ICMP error (docs/reference/trace.md); absent in documents of earlier versions"`
	Received   int64       `json:"received"`
	LastNs     float64     `json:"last_ns"`
	MinNs      float64     `json:"min_ns"`
	MeanNs     float64     `json:"mean_ns"`
	MaxNs      float64     `json:"max_ns"`
	StdDevNs   float64     `json:"stddev_ns" jsonschema:"description=Of the sample; 0 for one answer"`
	Flows      []int       `json:"flows" jsonschema:"description=Indices of the flows it answered"`
	MPLS       []MPLSLabel `json:"mpls,omitempty" jsonschema:"description=Label stack of the probe when it arrived there (RFC 4950); top first"`
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
	Index   int  `json:"index"`
	Port    int  `json:"port,omitempty" jsonschema:"description=Source port; for icmp the echo identifier"`
	Reached bool `json:"reached"`
	// Uncertain is true if hops before the target may be the target's own silence.
	Uncertain bool     `json:"uncertain,omitempty" jsonschema:"description=The target answered at the last hop of path\\, and may also be nearer: a hop before it did not answer\\, and the target may have been silent there because it limits its answers"`
	Path      []string `json:"path" jsonschema:"description=The address that answered last at each hop\\, from 1; empty if none did"`
}

// LossKnown reports whether the loss of a hop says something: not if no answer was due.
func (h *TraceHop) LossKnown() bool {
	return h.Sent > 0 && (h.Due > 0 || h.Unanswered == 0 && len(h.Nodes) > 0)
}

// Known reports, for each flow, whether its whole path is known: its end, and the node at
// every hop at which some flow was answered. Paths of other flows cannot be compared.
func (t *Trace) Known() []bool {
	seen := map[int]bool{}
	for _, f := range t.Flows {
		for i, address := range f.Path {
			seen[i] = seen[i] || address != ""
		}
	}
	known := make([]bool, len(t.Flows))
	for i, f := range t.Flows {
		known[i] = !f.Uncertain && (f.Reached || !t.Reached)
		for k, address := range f.Path {
			known[i] = known[i] && (address != "" || !seen[k])
		}
	}
	return known
}

// PathMTU is what an mtu trial found. Sizes are of whole IP packets, in bytes.
type PathMTU struct {
	Probe          string       `json:"probe" jsonschema:"enum=icmp,enum=udp,description=Kind of the probes"`
	Timing         *Timing      `json:"timing,omitempty" jsonschema:"description=Kind of socket and what took the time stamps"`
	Method         string       `json:"method,omitempty" jsonschema:"description=The timing in words; only in documents of earlier versions"`
	Port           int          `json:"port,omitempty" jsonschema:"description=Destination port; absent for icmp"`
	Bytes          int          `json:"bytes" jsonschema:"description=Largest packet that was not lost or fragmented; with icmp in both directions"`
	FailedBytes    int          `json:"failed_bytes,omitempty" jsonschema:"description=Smallest packet that was not answered"`
	InterfaceBytes int          `json:"interface_bytes" jsonschema:"description=MTU of the first interface of the path"`
	RouteBytes     int          `json:"route_bytes,omitempty" jsonschema:"description=MTU that the route of the client sets; larger packets are not tried\\, because no program sends them; absent if it sets none"`
	RouteLocked    bool         `json:"route_locked,omitempty" jsonschema:"description=The route's MTU is locked: the client does not learn a smaller one from ICMP errors"`
	Limit          string       `json:"limit" jsonschema:"enum=interface,enum=reported,enum=black_hole,enum=unknown,description=What limits it: the local interface or route; a hop that reports it; a black hole\\, after which larger packets are lost without a report; or unknown"`
	After          *MTUHop      `json:"after,omitempty" jsonschema:"description=Last hop that larger packets reached. The link or node after it does not carry them"`
	Before         *MTUHop      `json:"before,omitempty" jsonschema:"description=Next hop that small packets reached and larger ones did not"`
	Reports        []MTUReport  `json:"reports,omitempty" jsonschema:"description=ICMP errors fragmentation needed or packet too big; one element per address and size"`
	Sizes          []MTUSize    `json:"sizes" jsonschema:"description=Sizes tried\\, in order"`
	Flows          []MTUFlow    `json:"flows,omitempty" jsonschema:"description=One element per flow; the other members are those of a flow with the smallest path MTU\\, and the reports of all; absent for one flow"`
	Hops           []MTUHopSeen `json:"hops,omitempty" jsonschema:"description=Hops of the path and whether larger packets reached them"`
}

// MTUFlow is the path MTU of one flow: packets that share addresses, protocol and ports,
// which equal-cost routing keeps on one branch. The members are those of [PathMTU].
type MTUFlow struct {
	Index       int     `json:"index"`
	Port        int     `json:"port,omitempty" jsonschema:"description=Source port; for icmp the echo identifier"`
	Bytes       int     `json:"bytes" jsonschema:"description=0: no answer to any size"`
	FailedBytes int     `json:"failed_bytes,omitempty"`
	Limit       string  `json:"limit"`
	After       *MTUHop `json:"after,omitempty"`
	Before      *MTUHop `json:"before,omitempty" jsonschema:"description=Next hop that small packets reached; it tells branches apart"`
}

// Range returns the smallest and the largest path MTU of its flows, in bytes, and how many
// flows answered; zeros for one flow.
func (m *PathMTU) Range() (least, most, flows int) {
	for _, f := range m.Flows {
		if f.Bytes == 0 {
			continue
		}
		if flows++; flows == 1 || f.Bytes < least {
			least = f.Bytes
		}
		most = max(most, f.Bytes)
	}
	return least, most, flows
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
	Bytes     int    `json:"bytes" jsonschema:"description=The reported size; 0: none (RFC 1191 section 5)"`
	Confirmed bool   `json:"confirmed" jsonschema:"description=Confirmed by probes: this size was answered and one byte more was not"`
}

// MTUSize is one size that was tried.
type MTUSize struct {
	Bytes    int     `json:"bytes"`
	Sent     int     `json:"sent"`
	Answered bool    `json:"answered"`
	Local    bool    `json:"local,omitempty" jsonschema:"description=The system refused to send it: larger than the interface or its route allows"`
	Reported int     `json:"reported_bytes,omitempty" jsonschema:"description=The largest size that a node of the path reported"`
	RTTNs    float64 `json:"rtt_ns,omitempty"`
}

// MTUHopSeen is one hop, asked with small packets and with ones that do not get through.
type MTUHopSeen struct {
	Hop     int    `json:"hop"`
	Address string `json:"address,omitempty"`
	Small   bool   `json:"small" jsonschema:"description=The hop answered small packets"`
	Large   bool   `json:"large" jsonschema:"description=The hop answered packets of failed_bytes"`
}

// MTUStep is what an mtu trial asks right now, and what it knows by then. Sizes are of
// whole IP packets, in bytes.
type MTUStep struct {
	Asking int `json:"asking_bytes"`           // size of the packets that leave next
	Hop    int `json:"hop,omitempty"`          // the distance they end at; 0: the target
	Passed int `json:"passed_bytes,omitempty"` // the largest that got through; 0: none yet
	Failed int `json:"failed_bytes,omitempty"` // the smallest that did not; 0: none yet
	Flow   int `json:"flow,omitempty"`         // the flow that is asked, from 0
	Flows  int `json:"flows,omitempty"`        // all of them; 0: one
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
