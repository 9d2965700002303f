package measure

import "time"

// Schema is the identity of the result document this package reads and writes.
// Fields may be added under the same number; a number changes when a field
// changes its meaning or goes away.
const Schema = "soku.result/1"

// Result is all that one trial left: self-contained, versioned, enough for any
// report without looking anything up elsewhere. Members that this version does
// not know survive reading and writing.
type Result struct {
	Schema    string     `json:"schema" jsonschema:"enum=soku.result/1"`
	ID        string     `json:"id" jsonschema:"description=Unique and sortable by time"`
	Tool      Tool       `json:"tool"`
	Test      Test       `json:"test"`
	Trial     *Trial     `json:"trial,omitempty" jsonschema:"description=Place in a campaign; absent for a test run by hand"`
	StartedAt time.Time  `json:"started_at" jsonschema:"description=Wall clock of the client"`
	Path      Path       `json:"path"`
	Options   Options    `json:"options" jsonschema:"description=Every effective option"`
	Summary   Summary    `json:"summary"`
	Flows     []Flow     `json:"flows,omitempty" jsonschema:"description=One element per direction"`
	Latency   *Latency   `json:"latency,omitempty" jsonschema:"description=Tests latency\\, connect (set-up times)\\, ping\\, and trace (round trips to the target)"`
	Connect   *Connect   `json:"connect,omitempty" jsonschema:"description=Test connect"`
	Copy      *Copy      `json:"copy,omitempty" jsonschema:"description=Test copy"`
	Trace     *Trace     `json:"trace,omitempty" jsonschema:"description=Test trace"`
	PathMTU   *PathMTU   `json:"path_mtu,omitempty" jsonschema:"description=Test mtu"`
	UnderLoad *UnderLoad `json:"latency_under_load,omitempty" jsonschema:"description=Test tcp with the option with_latency"`
	Origin    *Origin    `json:"origin,omitempty" jsonschema:"description=Source of an ingested result; absent if soku measured it"`
	Hosts     Hosts      `json:"hosts"`
	Verdict   *Verdict   `json:"verdict,omitempty" jsonschema:"description=What limited the trial; tests tcp\\, udp\\, connect and copy"`
	Explains  *Explains  `json:"explains,omitempty" jsonschema:"description=Which other trial this one explains"`
	Findings  Findings   `json:"findings,omitempty" jsonschema:"description=What makes the figures less certain"`
	Error     *Error     `json:"error,omitempty" jsonschema:"description=Why the trial failed; figures beside it are partial"`

	unknown *unknownMembers
}

// Tool is the program that wrote the document.
type Tool struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Protocol  string `json:"protocol,omitempty" jsonschema:"description=Wire protocol between the ends"`
	GoVersion string `json:"go_version,omitempty"`
}

// Trial is a result's place in its campaign.
type Trial struct {
	Campaign string  `json:"campaign" jsonschema:"description=Identity of the campaign"`
	Name     string  `json:"name,omitempty" jsonschema:"description=Name of the campaign in its plan"`
	Pattern  string  `json:"pattern" jsonschema:"description=The levels joined in the plan's order of factors\\, for display; two patterns may differ in their levels only"`
	Levels   []Level `json:"levels" jsonschema:"description=The levels that identify the pattern: one element per factor in the plan's order"`
	Label    string  `json:"label" jsonschema:"description=Name of the test in the plan; two tests of one kind have different labels"`
	Round    int     `json:"round" jsonschema:"minimum=1"`
	Repeat   int     `json:"repeat" jsonschema:"minimum=1,description=Number of the trial of its kind within the round"`
	Order    int     `json:"order" jsonschema:"minimum=1,description=Position within the round"`
	Seed     int64   `json:"seed" jsonschema:"description=Seed of the campaign's random order"`

	Pair    *Pair    `json:"pair,omitempty" jsonschema:"description=Endpoints of the trial as the plan names them; absent in ingested results and in those of older versions"`
	Group   *Group   `json:"group,omitempty" jsonschema:"description=Trials that started together with this one; absent for a trial that started alone"`
	Session *Session `json:"session,omitempty" jsonschema:"description=The run of the campaign that measured this; a resumed campaign has several"`
}

// Pair is the two endpoints of a trial as the plan names them. The addresses
// that were used are in the result's [Path].
type Pair struct {
	Client Endpoint `json:"client" jsonschema:"description=Empty for the machine that ran the campaign"`
	Server Endpoint `json:"server"`
}

// Group is a set of trials that started together, at one barrier.
type Group struct {
	ID     string `json:"id" jsonschema:"description=Unique in the campaign"`
	Trials int    `json:"trials" jsonschema:"minimum=1,description=Number of trials that start together"`
	// StartSkewNs is nil where the trial did not start.
	StartSkewNs *int64 `json:"start_skew_ns,omitempty" jsonschema:"minimum=0,description=How much later than the first of the group this trial started\\, on the clock of the machine that ran the campaign; absent if it did not start"`
	// StartSkewErrorNs is half of the shortest round trip to the client plus that of the first trial.
	StartSkewErrorNs int64 `json:"start_skew_error_ns,omitempty" jsonschema:"minimum=0,description=start_skew_ns is known within ± this: half of the shortest round trips between the machine that ran the campaign and the clients of this trial and of the first; absent for the first and on one machine"`
}

// Session is one run of a campaign, from its start or a resumption to its end; of ingested
// results what their source calls one.
type Session struct {
	ID     string `json:"id" jsonschema:"description=Unique in the campaign; of an ingested result the name of the run in its source"`
	Number int    `json:"number" jsonschema:"minimum=1,description=1 for the run that began the campaign; runs of ingested results are numbered as they appear"`
}

// Confidence says how far the figure of a single trial can be trusted.
type Confidence string

// Confidence labels, after the stability rule of the IETF responsiveness draft.
const (
	High   Confidence = "high"   // a steady state was found and held
	Medium Confidence = "medium" // enough intervals, but they were not stable
	Low    Confidence = "low"    // too few intervals or samples to judge
)

// Summary is what a person asks first. A pointer or omitted member means that
// the test does not measure it.
type Summary struct {
	GoodputBps           float64      `json:"goodput_bps,omitempty" jsonschema:"description=Payload bits per second counted at the receiver over the steady part; all directions together"`
	SentBytes            int64        `json:"sent_bytes,omitempty" jsonschema:"description=Payload bytes that the sender passed to its kernel after the omitted start"`
	ReceivedBytes        int64        `json:"received_bytes,omitempty" jsonschema:"description=Payload bytes the receiver got after the omitted start"`
	Retransmits          *int64       `json:"retransmits,omitempty" jsonschema:"description=TCP segments retransmitted; absent if the kernel does not report them"`
	PacketsSent          int64        `json:"packets_sent,omitempty"`
	PacketsReceived      int64        `json:"packets_received,omitempty"`
	PacketsLost          int64        `json:"packets_lost,omitempty"`
	PacketsReordered     int64        `json:"packets_reordered,omitempty"`
	PacketsDuplicated    int64        `json:"packets_duplicated,omitempty"`
	SocketDrops          *int64       `json:"socket_drops,omitempty" jsonschema:"description=Datagrams dropped because the receiver's socket buffer was full: the host was too slow\\, not the path; absent if the system does not report them"`
	LossRatio            *float64     `json:"loss_ratio,omitempty" jsonschema:"description=Lost divided by sent: 0 to 1"`
	JitterNs             *float64     `json:"jitter_ns,omitempty" jsonschema:"description=RFC 3550 section 6.4.1 at the end of the trial; mean over the streams"`
	PacketsPerSecond     float64      `json:"packets_per_second,omitempty" jsonschema:"description=Received"`
	Fairness             *Fairness    `json:"fairness,omitempty" jsonschema:"description=Fairness of the goodput between several streams; with two directions that of the less even one"`
	ConnectionsPerSecond float64      `json:"connections_per_second,omitempty" jsonschema:"description=Test connect: TCP connections per second that the server accepted; the client's own count if no soku server counted"`
	PathMTUBytes         int          `json:"path_mtu_bytes,omitempty" jsonschema:"description=Test mtu: largest IP packet that got through"`
	RTT                  *Percentiles `json:"rtt_ns,omitempty" jsonschema:"description=Round trips of the tests latency and ping\\, and of trace to its target; set-up times of connections (SYN to SYN-ACK) in connect"`
	ReportedRTT          *RTTFigures  `json:"rtt_reported_ns,omitempty" jsonschema:"description=Round trips as summarised by the source of an ingested result; in addition to rtt_ns if it has both\\, alone if there is no histogram"`
	ApplicationRTT       *Percentiles `json:"application_rtt_ns,omitempty" jsonschema:"description=Round trips from program to program\\, including the client's wake-up. Test latency"`
	IdleRTT              *Percentiles `json:"idle_rtt_ns,omitempty" jsonschema:"description=Round trips before and after the load together (with_latency)"`
	LoadedRTT            *Percentiles `json:"loaded_rtt_ns,omitempty" jsonschema:"description=Round trips during the load (with_latency)"`
	RPM                  float64      `json:"responsiveness_rpm,omitempty" jsonschema:"description=Round trips per minute under load: 60 s divided by the mean of loaded round trips without the slowest 5 %"`
	LateSends            int64        `json:"late_sends,omitempty" jsonschema:"description=Open loop: requests sent more than one gap late; their latency counts from the scheduled time"`
	CPUSecPerGB          *float64     `json:"cpu_seconds_per_gb,omitempty" jsonschema:"description=Processor seconds of both ends together per 1e9 payload bytes; absent unless both are known"`
	FloorNs              *float64     `json:"floor_ns,omitempty" jsonschema:"description=Median round trip that the tool and this host add: the same test on its loopback"`
	DurationNs           Duration     `json:"duration_ns" jsonschema:"description=Length of the measured part at the receiver"`
	SteadyStartNs        Duration     `json:"steady_start_ns,omitempty" jsonschema:"description=Start of the part that goodput_bps covers\\, from the first byte"`
	Confidence           Confidence   `json:"confidence,omitempty" jsonschema:"enum=high,enum=medium,enum=low"`
	ConfidenceFinding    *Finding     `json:"confidence_finding,omitempty" jsonschema:"description=Why"`
	ConfidenceReason     string       `json:"confidence_reason,omitempty" jsonschema:"description=Why as a sentence; only in documents of earlier versions"`
}

// SetConfidence sets how far the figure can be trusted, and why.
func (s *Summary) SetConfidence(c Confidence, why Finding) {
	s.Confidence, s.ConfidenceFinding, s.ConfidenceReason = c, &why, ""
}

// Why is why the summary has its confidence, and false if it gives no reason.
func (s *Summary) Why() (why Finding, known bool) {
	switch {
	case s.ConfidenceFinding != nil:
		return *s.ConfidenceFinding, true
	case s.ConfidenceReason != "":
		return TextFinding(s.ConfidenceReason), true
	}
	return Finding{}, false
}

// Counted reports whether the trial counted anything, as opposed to one that failed before
// that. What arrived in one piece took no time.
func (r *Result) Counted() bool {
	s := &r.Summary
	return s.DurationNs > 0 || s.SentBytes > 0 || s.ReceivedBytes > 0 || s.PacketsSent > 0
}

// Flow is one direction of a trial, with the counts of the receiver and of the sender.
type Flow struct {
	Direction Direction `json:"direction"`
	TXPath    string    `json:"tx_path,omitempty" jsonschema:"description=How the sender's bytes got into its kernel: write\\, splice\\, zerocopy\\, sendfile\\, batch or gso"`
	RXPath    string    `json:"rx_path,omitempty" jsonschema:"description=How the receiver's bytes got out of its kernel: read\\, discard (never copied to the program)\\, batch or gro"`
	// Acknowledged is set if the receiver reported nothing: received are the bytes that
	// its system acknowledged to the sender.
	Acknowledged bool     `json:"acknowledged,omitempty" jsonschema:"description=The receiver reported nothing: received is inferred from TCP acknowledgements"`
	Summary      Summary  `json:"summary"`
	Streams      []Stream `json:"streams"`
	Samples      []Sample `json:"samples" jsonschema:"description=All streams together; every 100 ms on the receiver's clock"`
}

// Discarded reports whether the receiver's kernel dropped the bytes, so that no
// program could have had them at this rate.
func (f Flow) Discarded() bool { return f.RXPath == "discard" }

// Stream is one connection or UDP flow in one direction.
type Stream struct {
	Index         int          `json:"index"`
	Local         string       `json:"local,omitempty" jsonschema:"description=Address and port at the client"`
	Remote        string       `json:"remote,omitempty" jsonschema:"description=Address and port at the server"`
	SentBytes     int64        `json:"sent_bytes"`
	ReceivedBytes int64        `json:"received_bytes"`
	Packets       *PacketCount `json:"packets,omitempty" jsonschema:"description=UDP only"`
	TCP           *TCPInfo     `json:"tcp_info,omitempty" jsonschema:"description=The sender's kernel at the end"`
	Samples       []Sample     `json:"samples,omitempty" jsonschema:"description=One element per live interval"`
}

// PacketCount is what a UDP receiver found in the sequence numbers, and the
// sender's count. Lost = Sent - Received unique datagrams, never negative.
type PacketCount struct {
	Sent       int64   `json:"sent"`
	Received   int64   `json:"received" jsonschema:"description=Without duplicates"`
	Lost       int64   `json:"lost"`
	Reordered  int64   `json:"reordered" jsonschema:"description=Arrived after a later one (RFC 4737)"`
	Duplicated int64   `json:"duplicated"`
	JitterNs   float64 `json:"jitter_ns" jsonschema:"description=RFC 3550 section 6.4.1"`
	// SocketDrops is nil if the receiver's system does not report them. Where it joined
	// datagrams it counts trains, and this is an estimate.
	SocketDrops *int64 `json:"socket_drops,omitempty" jsonschema:"description=Dropped because the receiver's socket buffer was full; some may have been duplicates. If the host joined datagrams: dropped trains times the mean length of a train"`
	Omitted     int64  `json:"omitted,omitempty" jsonschema:"description=Counts of the omitted start\\, which the other counts exclude"`
	Joined      int64  `json:"joined,omitempty" jsonschema:"description=Received joined with others by the receiving host (UDP_GRO)"`
}

// Sample is one interval. Start and End are ns since the first byte of the trial.
type Sample struct {
	StartNs       int64    `json:"start_ns"`
	EndNs         int64    `json:"end_ns"`
	SentBytes     int64    `json:"sent_bytes,omitempty"`
	ReceivedBytes int64    `json:"received_bytes,omitempty"`
	Packets       int64    `json:"packets,omitempty" jsonschema:"description=Received in this interval"`
	Lost          int64    `json:"lost,omitempty" jsonschema:"description=Found missing in this interval; late arrivals are subtracted at the end"`
	JitterNs      float64  `json:"jitter_ns,omitempty"`
	TCP           *TCPInfo `json:"tcp_info,omitempty"`
}

// Bps is the received rate of the interval in bits per second.
func (s Sample) Bps() float64 {
	if s.EndNs <= s.StartNs {
		return 0
	}
	return float64(s.ReceivedBytes) * 8e9 / float64(s.EndNs-s.StartNs)
}

// TCPInfo is what the sending kernel knows of a connection.
type TCPInfo struct {
	State          string `json:"state,omitempty"`
	Congestion     string `json:"congestion,omitempty" jsonschema:"description=Congestion control in force"`
	MSS            int64  `json:"mss_bytes,omitempty"`
	CwndSegments   int64  `json:"cwnd_segments,omitempty"`
	SsthreshSegs   int64  `json:"ssthresh_segments,omitempty"`
	RTTNs          int64  `json:"rtt_ns,omitempty" jsonschema:"description=Smoothed"`
	RTTVarNs       int64  `json:"rtt_var_ns,omitempty"`
	MinRTTNs       int64  `json:"min_rtt_ns,omitempty"`
	Retransmits    int64  `json:"retransmits" jsonschema:"description=Total so far"`
	Lost           int64  `json:"lost,omitempty"`
	Reordering     int64  `json:"reordering,omitempty"`
	ReorderEvents  int64  `json:"reorder_events,omitempty" jsonschema:"description=Number of reordering events that the sender detected"`
	SndWndBytes    int64  `json:"snd_wnd_bytes,omitempty" jsonschema:"description=Receive window of the peer; absent if the kernel does not report it"`
	PMTU           int64  `json:"pmtu_bytes,omitempty"`
	DeliveryBps    int64  `json:"delivery_rate_bps,omitempty"`
	PacingBps      int64  `json:"pacing_rate_bps,omitempty"`
	BusyNs         int64  `json:"busy_ns,omitempty"`
	RwndLimitedNs  int64  `json:"rwnd_limited_ns,omitempty"`
	SndbufLimitdNs int64  `json:"sndbuf_limited_ns,omitempty"`
	UnackedSegs    int64  `json:"unacked_segments,omitempty" jsonschema:"description=Segments in flight: sent and not acknowledged"`
	NotsentBytes   int64  `json:"notsent_bytes,omitempty" jsonschema:"description=Bytes in the send queue that were not sent yet"`
	AppLimited     bool   `json:"app_limited,omitempty" jsonschema:"description=The delivery rate was measured while the sender had nothing to send"`
	DSACKs         int64  `json:"dsacks,omitempty" jsonschema:"description=Duplicates that the receiver reported (RFC 2883): retransmits that were not needed\\, in total so far"`
	Timeouts       int64  `json:"timeouts,omitempty" jsonschema:"description=Retransmission timeouts so far; absent if none or if the kernel does not report them (Linux before 6.7)"`
	DeliveredCE    int64  `json:"delivered_ce,omitempty" jsonschema:"description=Delivered segments that the path marked as having met congestion (ECN)\\, in total so far"`
	SentBytes      int64  `json:"sent_bytes,omitempty" jsonschema:"description=Payload bytes that the kernel sent\\, retransmits included\\, in total so far"`
	AckedBytes     int64  `json:"acked_bytes,omitempty" jsonschema:"description=Payload bytes that the peer acknowledged\\, in total so far"`
	DataSegsOut    int64  `json:"data_segments_out,omitempty" jsonschema:"description=Segments with payload that the kernel sent\\, retransmits included\\, in total so far"`
	Subflows       int64  `json:"subflows,omitempty" jsonschema:"description=Multipath TCP: number of present subflows; congestion window\\, segments in flight\\, bytes sent and acknowledged\\, counts and rates are the sum over all subflows\\, min_rtt_ns is the minimum\\, other members are of the first; absent for TCP and for a connection that fell back to it"`
}

// Hosts are the two machines.
type Hosts struct {
	Client *Host `json:"client,omitempty"`
	Server *Host `json:"server,omitempty"`
}

// Host is what one machine is, and what the trial cost it.
type Host struct {
	Facts    Facts     `json:"facts"`
	Counters *Counters `json:"counters,omitempty"`
	// PinnedCPUs are empty where nothing was asked for or nothing could be kept.
	PinnedCPUs []int      `json:"pinned_cpus,omitempty" jsonschema:"description=Option pin: the processor of each loop that moved packets; one element per loop in the order of their start"`
	Series     *Series    `json:"series,omitempty" jsonschema:"description=The host's counters during the trial\\, one element per interval of 100 ms or longer"`
	Floor      *HostFloor `json:"floor,omitempty" jsonschema:"description=The client only: the stored loopback baseline of this host (soku floor)\\, with the same kernel\\, processors and soku"`
}

// FunctionBytes are what a [VirtualFunction] has moved. Zeros mean that it carried nothing.
type FunctionBytes struct {
	Rx int64 `json:"rx_bytes"`
	Tx int64 `json:"tx_bytes"`
}

// Counters are differences over the trial on one host. Process times count all threads of
// the soku process only: what the kernel does for the trial in an interrupt, in ksoftirqd or
// in another process's time is in CPUSoftirqNs and CPUBusyNs of the host.
type Counters struct {
	WallNs        int64    `json:"wall_ns"`
	ProcessUserNs int64    `json:"process_user_ns"`
	ProcessSysNs  int64    `json:"process_system_ns"`
	CoresUsed     float64  `json:"cores_used,omitempty" jsonschema:"description=Process time divided by wall time"`
	Shared        bool     `json:"shared,omitempty" jsonschema:"description=The process ran other measurements at the same time: its times include them\\, and no quotient is formed"`
	CPUBusyNs     int64    `json:"cpu_busy_ns,omitempty" jsonschema:"description=All processors of the host together"`
	CPUSoftirqNs  int64    `json:"cpu_softirq_ns,omitempty"`
	SoftirqRatio  *float64 `json:"softirq_ratio,omitempty" jsonschema:"description=cpu_softirq_ns divided by cpu_busy_ns; absent if the system does not report it"`
	CPUStealNs    int64    `json:"cpu_steal_ns,omitempty"`
	RxBytes       int64    `json:"rx_bytes,omitempty" jsonschema:"description=Interface counters"`
	TxBytes       int64    `json:"tx_bytes,omitempty"`
	RxDropped     int64    `json:"rx_dropped,omitempty"`
	TxDropped     int64    `json:"tx_dropped,omitempty"`
	// FunctionBytes are nil where the interface has no virtual function.
	FunctionBytes  *FunctionBytes `json:"virtual_function,omitempty" jsonschema:"description=What the virtual function of the interface moved (accelerated networking)\\; in rx_bytes and tx_bytes\\, too"`
	UDPRcvbufError int64          `json:"udp_rcvbuf_errors,omitempty"`
	TCPRetransSegs int64          `json:"tcp_retrans_segs,omitempty"`
	CPUSecPerGB    float64        `json:"cpu_seconds_per_gb,omitempty" jsonschema:"description=Process time divided by 1e9 payload bytes that this end moved; absent with an omitted start\\, when shared and below 1e6 bytes (cpu_ns_per_packet: 1000 datagrams)"`
	CPUNsPerPacket float64        `json:"cpu_ns_per_packet,omitempty" jsonschema:"description=Process time divided by datagrams that this end sent or received (UDP); absent like cpu_seconds_per_gb"`
}
