package measure

// Role is which side of a flow an end was.
type Role string

// Roles.
const (
	Sender   Role = "sender"
	Receiver Role = "receiver"
)

// End is what one of the two ends counted during a trial: the client keeps its
// own and gets the server's over the control connection, and both make the result.
type End struct {
	Host      *Host      `json:"host,omitempty"`
	Flows     []FlowEnd  `json:"flows,omitempty"`
	Latency   *Latency   `json:"latency,omitempty"`
	Connect   *Connect   `json:"connect,omitempty"`
	Copy      *Copy      `json:"copy,omitempty"`
	UnderLoad *UnderLoad `json:"latency_under_load,omitempty"`
	// Timing is how the server of a latency test waited for messages.
	Timing *Timing `json:"timing,omitempty"`
	// Method is the timing in words. Only ends of earlier versions of soku write and
	// read it.
	Method   string   `json:"method,omitempty"`
	Findings Findings `json:"findings,omitempty"`
	// Warnings are the findings as sentences. Only ends of earlier versions of soku
	// write and read them.
	Warnings []string `json:"warnings,omitempty"`
	Error    *Error   `json:"error,omitempty"`
}

// Moved is what this end sent and received after the omitted start: payload
// bytes, and datagrams of the UDP test with those that came twice.
func (e *End) Moved() (bytes, packets int64) {
	for _, f := range e.Flows {
		for _, s := range f.Streams {
			bytes += s.SentBytes + s.ReceivedBytes
			if p := s.Packets; p != nil && f.Role == Sender {
				packets += p.Sent
			} else if p != nil {
				packets += p.Received + p.Duplicated
			}
		}
	}
	if e.Copy != nil {
		for _, s := range e.Copy.Stages {
			for _, w := range []*CopyWork{s.Source, s.Sink} {
				if w != nil {
					bytes += w.NetworkBytes
				}
			}
		}
	}
	return bytes, packets
}

// FlowEnd is one end's count of one direction.
type FlowEnd struct {
	Direction Direction `json:"direction"`
	Role      Role      `json:"role"`
	// Path is the way this end's bytes took into the kernel or out of it: one of
	// the values of the options tx and rx, never auto.
	Path string `json:"path,omitempty"`
	// Acknowledged: the counts of the receiver are inferred from TCP acknowledgements.
	Acknowledged bool `json:"acknowledged,omitempty"`
	// StartNs is when this end moved its first byte after the start signal and
	// DurationNs how long it moved bytes, to the last one.
	StartNs    int64 `json:"start_ns"`
	DurationNs int64 `json:"duration_ns"`
	// Streams has one element a stream, by index. Its SentBytes or
	// ReceivedBytes is filled by role; Samples are one element a live interval.
	Streams []Stream `json:"streams"`
	// Samples are all streams together, every 100 ms.
	Samples []Sample `json:"samples"`
}

// Progress is one live interval as a person watches it.
type Progress struct {
	Direction Direction     `json:"direction,omitempty"`
	StartNs   int64         `json:"start_ns"`
	EndNs     int64         `json:"end_ns"`
	Bytes     int64         `json:"bytes,omitempty"`
	Bps       float64       `json:"bps,omitempty"`
	Packets   int64         `json:"packets,omitempty"`
	Lost      int64         `json:"lost,omitempty"`
	JitterNs  float64       `json:"jitter_ns,omitempty"`
	Retrans   *int64        `json:"retransmits,omitempty" jsonschema:"description=In this interval"`
	RTT       *Percentiles  `json:"rtt_ns,omitempty"`
	Role      Role          `json:"role,omitempty" jsonschema:"description=Which end counted"`
	Copy      *CopyProgress `json:"copy,omitempty" jsonschema:"description=Test copy"`
	Streams   []int64       `json:"stream_bytes,omitempty" jsonschema:"description=One element per stream\\, up to 32 streams"`

	// What follows is for observers in the same process.

	// Omitted is an interval of the start that is left out; its times are from the
	// first byte on. Rest is a last interval that is shorter than a tenth of one. A
	// person who watches a test is shown neither.
	Omitted bool `json:"-"`
	Rest    bool `json:"-"`
	// Samples are the same interval of each stream, where an engine has streams: of
	// a TCP sender with what its kernel knows, retransmits since the interval's part
	// of the test began.
	Samples []Sample `json:"-"`
}

// Whole reports whether p is an interval that a person who watches is shown.
func (p Progress) Whole() bool { return !p.Omitted && !p.Rest }

// Observer gets live intervals. Engines call it from one goroutine at a time
// and never wait for it long: it must return within a few milliseconds.
type Observer func(Progress)
