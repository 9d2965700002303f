package measure

// Bottleneck is what limited a trial.
type Bottleneck string

// Bottlenecks. Those of files occur only with the test copy.
const (
	BottleneckSenderCPU         Bottleneck = "sender_cpu"         // a processor or thread of the sending host
	BottleneckReceiverCPU       Bottleneck = "receiver_cpu"       // a processor or thread of the receiving host
	BottleneckReceiveWindow     Bottleneck = "receive_window"     // the receiver's socket buffer
	BottleneckSendBuffer        Bottleneck = "send_buffer"        // the sender's socket buffer
	BottleneckApplication       Bottleneck = "application"        // the rate that was asked for
	BottleneckFlowCap           Bottleneck = "flow_cap"           // a limit of the path for each flow
	BottleneckPathShaper        Bottleneck = "path_shaper"        // a limit of the path with a queue
	BottleneckPathPolicer       Bottleneck = "path_policer"       // a limit of the path without a queue
	BottleneckBurstAllowance    Bottleneck = "burst_allowance"    // a higher rate until a credit is used up
	BottleneckCompetingTraffic  Bottleneck = "competing_traffic"  // other traffic
	BottleneckPathLoss          Bottleneck = "path_loss"          // packets lost by chance
	BottleneckMTU               Bottleneck = "mtu"                // packets that are too large for the path
	BottleneckFlowHashing       Bottleneck = "flow_hashing"       // flows spread unevenly over several paths
	BottleneckPacketRate        Bottleneck = "packet_rate"        // packets per second, whatever their size
	BottleneckConnectionRate    Bottleneck = "connection_rate"    // new connections per second on the path
	BottleneckServerOverload    Bottleneck = "server_overload"    // the server, which also served others
	BottleneckInstanceAllowance Bottleneck = "instance_allowance" // what a cloud allows a virtual machine, by its driver's counters
	BottleneckDiskRead          Bottleneck = "disk_read"
	BottleneckDiskWrite         Bottleneck = "disk_write"
	BottleneckFileCost          Bottleneck = "file_cost" // what each file costs, whatever its size
	BottleneckNone              Bottleneck = "none"      // nothing limited it, or with low confidence: nothing was found
)

// Probe is a further measurement that tells apart what one trial cannot.
type Probe string

// Probes.
const (
	ProbeSecondStream Probe = "second_stream" // the same with one stream and with several
	ProbePacketSizes  Probe = "packet_sizes"  // UDP datagrams of several sizes
	ProbeHalfRate     Probe = "half_rate"     // UDP datagrams at half the goodput
	ProbeTCPStream    Probe = "tcp_stream"    // a TCP stream, whose kernel knows the round trips
	ProbeAnotherTime  Probe = "another_time"  // the same at other times
	ProbeLonger       Probe = "longer"        // the same for longer
	ProbeStagesApart  Probe = "stages_apart"  // a copy with its stages apart
)

// Verdict is what limited a trial, by the rules in docs/method.md. It is safe for concurrent
// reads.
type Verdict struct {
	LimitedBy  Bottleneck `json:"limited_by" jsonschema:"description=See docs/method.md; none with low confidence: nothing was found"`
	Confidence Confidence `json:"confidence" jsonschema:"enum=high,enum=medium,enum=low"`
	// Alternatives are limits that the figures fit as well.
	Alternatives []Bottleneck `json:"or,omitempty" jsonschema:"description=Limits that look the same from both hosts"`
	Direction    Direction    `json:"direction,omitempty" jsonschema:"description=With two directions: the one that it is about"`
	Rule         string       `json:"rule,omitempty" jsonschema:"description=Name of the rule in docs/method.md; absent where none matched"`
	Evidence     []Evidence   `json:"evidence,omitempty" jsonschema:"description=What the rule compared"`
	// DurationWithoutLimitNs is 0 if it is unknown.
	DurationWithoutLimitNs int64 `json:"lifted_ns,omitempty" jsonschema:"description=Test copy with its stages apart: how long the copy would take if that limit were lifted\\, as long as the slowest other stage"`
	NextMeasurement        Probe `json:"would_tell,omitempty" jsonschema:"description=The measurement that would tell them apart"`
	// Remedy is nil where nothing is known that helps.
	Remedy *Remedy `json:"remedy,omitempty" jsonschema:"description=What helps against the limit"`
	// Rate is nil unless the rate of the test is the limit and the person did not choose it.
	Rate *RateLimit `json:"rate,omitempty" jsonschema:"description=limited_by application: the rate\\, if it is not the one that was asked for"`
}

// Remedy is what helps against a limit, as data. The sentence that a person reads is made of it
// where it is shown.
type Remedy struct {
	Code    string  `json:"code" jsonschema:"description=See docs/method.md"`
	Figures Figures `json:"figures,omitempty" jsonschema:"description=Numbers and texts; units are in the key"`
}

// RateLimit is a rate of a test that the person did not choose.
type RateLimit struct {
	Source       RateSource `json:"source" jsonschema:"enum=default,enum=server,description=default: no other rate was asked for; server: the server allows no higher one"`
	Bps          Rate       `json:"bps" jsonschema:"description=Bits per second of payload\\, all streams together"`
	RequestedBps Rate       `json:"requested_bps,omitempty" jsonschema:"description=What was asked for; absent: no limit\\, or the default"`
}

// RateSource is who chose a rate.
type RateSource string

// Sources of rates.
const (
	RateOfDefault RateSource = "default" // the default of the test
	RateOfServer  RateSource = "server"  // the server's --max-rate
)

// Evidence is a figure that a rule compared with a threshold.
type Evidence struct {
	Figure     string  `json:"figure" jsonschema:"description=See docs/method.md"`
	Value      float64 `json:"value"`
	Unit       string  `json:"unit" jsonschema:"enum=ratio,enum=times,enum=count,enum=ns,enum=bytes,description=ratio: 0 to 1; times: one figure divided by another"`
	Comparison string  `json:"comparison" jsonschema:"enum=>=,enum=<"`
	Threshold  float64 `json:"threshold"`
	Where      Where   `json:"where,omitempty" jsonschema:"enum=client,enum=server,description=The host that it was read on; absent: of both or of the path"`
	Detail     string  `json:"detail,omitempty" jsonschema:"description=The processor\\, the counter\\, or what else the figure is of"`
}
