package measure

import "time"

// NearBaseline is the share of a median round trip from which what tool and host add is
// worth a finding.
const NearBaseline = 0.25

// HostFloor is the loopback baseline of a host and a build of soku: ordinary trials
// between two processes over the host's own loopback. "soku floor" measures and stores
// it (docs/reference/floor.md); a result carries the stored one of its client.
type HostFloor struct {
	MeasuredAt time.Time        `json:"measured_at"`
	Quick      bool             `json:"quick,omitempty" jsonschema:"description=Measured in about 2 s instead of 7 s: less precise"`
	RoundTrips []FloorRoundTrip `json:"round_trips,omitempty" jsonschema:"description=One element per mode"`
	Goodput    []FloorGoodput   `json:"goodput,omitempty" jsonschema:"description=One element per mode: one TCP stream"`
	Packets    []FloorPackets   `json:"packets,omitempty" jsonschema:"description=One element per mode: one UDP stream of small datagrams"`
	Timers     []FloorTimer     `json:"timers,omitempty" jsonschema:"description=One element per sleep duration"`
}

// FloorRoundTrip is the shortest round trip that this host and program can measure.
// No message is delayed. On a longer path both ends sleep and must wake up; the
// loopback baseline of each latency trial includes that, this one may not.
type FloorRoundTrip struct {
	Mode     string      `json:"mode"`
	Protocol string      `json:"protocol" jsonschema:"enum=tcp,enum=udp"`
	Timing   *Timing     `json:"timing,omitempty" jsonschema:"description=How the client waited and what took the time stamps"`
	Method   string      `json:"method,omitempty" jsonschema:"description=The timing in words; only in documents of earlier versions"`
	RTT      Percentiles `json:"rtt_ns"`
}

// ClientTiming is how the client timed round trips.
func (t *FloorRoundTrip) ClientTiming() Timing { return timingOf(t.Timing, t.Method) }

// FloorGoodput is the most that one TCP stream reached, both ends on this host.
type FloorGoodput struct {
	Mode        string   `json:"mode"`
	TXPath      string   `json:"tx_path,omitempty"`
	RXPath      string   `json:"rx_path,omitempty"`
	Congestion  string   `json:"congestion,omitempty" jsonschema:"description=Congestion control in force"`
	GoodputBps  float64  `json:"goodput_bps" jsonschema:"description=The best of the trials"`
	CPUSecPerGB *float64 `json:"cpu_seconds_per_gb,omitempty" jsonschema:"description=Processor seconds of both ends per 1e9 payload bytes"`
	BpsPerCore  float64  `json:"bps_per_core,omitempty" jsonschema:"description=Payload bits that one second of processor time moves through both ends"`
}

// FloorPackets is how many datagrams a second one stream got through.
type FloorPackets struct {
	Mode                string   `json:"mode"`
	SizeBytes           Size     `json:"size_bytes" jsonschema:"description=Payload of a datagram"`
	TXPath              string   `json:"tx_path,omitempty"`
	RXPath              string   `json:"rx_path,omitempty"`
	PacketsPerSecond    float64  `json:"packets_per_second" jsonschema:"description=Received"`
	LossRatio           *float64 `json:"loss_ratio,omitempty" jsonschema:"description=Datagrams that the sender sent faster than the receiver read"`
	SenderNsPerPacket   float64  `json:"sender_cpu_ns_per_packet,omitempty"`
	ReceiverNsPerPacket float64  `json:"receiver_cpu_ns_per_packet,omitempty"`
}

// FloorTimer is how late a short sleep ends, as the engines sleep.
type FloorTimer struct {
	AskedNs int64       `json:"asked_ns"`
	LateNs  Percentiles `json:"late_ns" jsonschema:"description=Actual minus scheduled end of the sleep"`
}
