package iperf3

import (
	"encoding/json"
	"io"
	"math"
)

// Parameters are the client's test parameters. Members with the zero value are not sent,
// except Omit, Time, Bytes, Blocks, Parallel, and with UDP those of GSO and GRO.
// [ReadParameters] accepts values within
// iperf3's ranges only.
type Parameters struct {
	Protocol        string // "tcp", "udp" or "sctp"
	Omit            int    // seconds at the start that do not count, 0..600
	Time            int    // seconds to measure, 0..86400; 0: until Bytes or Blocks
	Bytes           int64  // to measure, 0: until Time
	Blocks          int64  // writes or datagrams to measure, 0: until Time
	Parallel        int    // streams of each direction, 1..128
	Reverse         bool   // the server sends
	Bidirectional   bool
	MSS             int
	NoDelay         bool
	MPTCP           bool
	Window          int   // socket buffers, bytes
	Length          int   // of a write or datagram, bytes; the server chooses if it is 0 for UDP
	Bandwidth       int64 // bit/s of each stream, 0: no limit
	FQRate          int64 // bit/s of each stream, by the kernel; 0: no limit
	PacingTimer     int   // microseconds, see [DefaultPacingTimer]
	Burst           int   // writes or datagrams at a time with Bandwidth, 0..1000
	TOS             int
	FlowLabel       int
	Title           string
	ExtraData       string
	Congestion      string
	CongestionUsed  string
	GetServerOutput bool
	Counters64      bool // datagrams are numbered with 64 bits
	RepeatPayload   bool
	ZeroCopy        int // 0 no, 1 sendfile, others for later versions
	DontFragment    bool
	SkipRXCopy      bool
	ServerAffinity  *int   // processor of the server's process
	AuthToken       string // base64
	ClientVersion   string

	// GSO and GRO select segmentation offload of datagrams at both ends, since version
	// 3.20. They change nothing on the wire.
	GSO, GRO                    bool
	GSODatagram, GSOBuf, GROBuf int // bytes
}

// Streams is the total number of streams of the test.
func (p *Parameters) Streams() int {
	if p.Bidirectional {
		return 2 * p.Parallel
	}
	return p.Parallel
}

// ServerSends reports whether the server sends.
func (p *Parameters) ServerSends() bool { return p.Reverse || p.Bidirectional }

// ServerReceives reports whether the server receives.
func (p *Parameters) ServerReceives() bool { return !p.Reverse || p.Bidirectional }

// sentParameters are the members in the order that iperf3 writes them.
type sentParameters struct {
	TCP            bool  `json:"tcp,omitempty"`
	UDP            bool  `json:"udp,omitempty"`
	SCTP           bool  `json:"sctp,omitempty"`
	Omit           int   `json:"omit"`
	ServerAffinity *int  `json:"server_affinity,omitempty"`
	Time           int   `json:"time"`
	Bytes          int64 `json:"num"`
	Blocks         int64 `json:"blockcount"`
	MSS            int   `json:"MSS,omitempty"`
	NoDelay        bool  `json:"nodelay,omitempty"`
	Parallel       int   `json:"parallel"`
	Reverse        bool  `json:"reverse,omitempty"`
	Bidirectional  bool  `json:"bidirectional,omitempty"`
	MPTCP          bool  `json:"mptcp,omitempty"`
	Window         int   `json:"window,omitempty"`
	Length         int   `json:"len,omitempty"`
	Bandwidth      int64 `json:"bandwidth,omitempty"`
	FQRate         int64 `json:"fqrate,omitempty"`
	PacingTimer    int   `json:"pacing_timer,omitempty"`
	Burst          int   `json:"burst,omitempty"`
	*sentOffload
	TOS             int    `json:"TOS,omitempty"`
	FlowLabel       int    `json:"flowlabel,omitempty"`
	Title           string `json:"title,omitempty"`
	ExtraData       string `json:"extra_data,omitempty"`
	Congestion      string `json:"congestion,omitempty"`
	CongestionUsed  string `json:"congestion_used,omitempty"`
	GetServerOutput int    `json:"get_server_output,omitempty"`
	Counters64      int    `json:"udp_counters_64bit,omitempty"`
	RepeatPayload   int    `json:"repeating_payload,omitempty"`
	ZeroCopy        int    `json:"zerocopy,omitempty"`
	DontFragment    int    `json:"dont_fragment,omitempty"`
	AuthToken       string `json:"authtoken,omitempty"`
	SkipRXCopy      int    `json:"skip_rx_copy,omitempty"`
	ClientVersion   string `json:"client_version,omitempty"`
}

// sentOffload are the members that every client of UDP sends since version 3.20.
type sentOffload struct {
	GSO         int `json:"gso"`
	GSODatagram int `json:"gso_dg_size"`
	GSOBuf      int `json:"gso_bf_size"`
	GRO         int `json:"gro"`
	GROBuf      int `json:"gro_bf_size"`
}

func (p *Parameters) offload() *sentOffload {
	if p.Protocol != "udp" {
		return nil
	}
	return &sentOffload{number(p.GSO), p.GSODatagram, p.GSOBuf, number(p.GRO), p.GROBuf}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// MarshalJSON writes the parameters as a client sends them.
func (p Parameters) MarshalJSON() ([]byte, error) {
	return json.Marshal(sentParameters{
		TCP: p.Protocol == "tcp", UDP: p.Protocol == "udp", SCTP: p.Protocol == "sctp",
		Omit: p.Omit, ServerAffinity: p.ServerAffinity, Time: p.Time, Bytes: p.Bytes, Blocks: p.Blocks,
		MSS: p.MSS, NoDelay: p.NoDelay, Parallel: p.Parallel, Reverse: p.Reverse, Bidirectional: p.Bidirectional,
		MPTCP: p.MPTCP, Window: p.Window, Length: p.Length, Bandwidth: p.Bandwidth, FQRate: p.FQRate,
		PacingTimer: p.PacingTimer, Burst: p.Burst, TOS: p.TOS, FlowLabel: p.FlowLabel,
		sentOffload: p.offload(),
		Title:       p.Title, ExtraData: p.ExtraData, Congestion: p.Congestion, CongestionUsed: p.CongestionUsed,
		GetServerOutput: number(p.GetServerOutput), Counters64: number(p.Counters64), RepeatPayload: number(p.RepeatPayload),
		ZeroCopy: p.ZeroCopy, DontFragment: number(p.DontFragment), AuthToken: p.AuthToken,
		SkipRXCopy: number(p.SkipRXCopy), ClientVersion: p.ClientVersion,
	})
}

// UnmarshalJSON reads parameters as a client sends them. A member outside of
// iperf3's range is an error with the cause *[OutOfRangeError].
func (p *Parameters) UnmarshalJSON(b []byte) error {
	m, err := parseMembers(b)
	if err != nil {
		return err
	}
	*p = Parameters{
		Reverse: m.truth("reverse"), Bidirectional: m.truth("bidirectional"), MPTCP: m.truth("mptcp"),
		NoDelay: m.truth("nodelay"), GSO: m.truth("gso"), GRO: m.truth("gro"),
		Title: m.text("title"), ExtraData: m.text("extra_data"),
		Congestion: m.text("congestion"), CongestionUsed: m.text("congestion_used"),
		GetServerOutput: m.truth("get_server_output"), Counters64: m.truth("udp_counters_64bit"),
		RepeatPayload: m.truth("repeating_payload"), DontFragment: m.truth("dont_fragment"),
		AuthToken: m.text("authtoken"), SkipRXCopy: m.truth("skip_rx_copy"), ClientVersion: m.text("client_version"),
	}
	switch {
	case m.truth("udp"):
		p.Protocol = "udp"
	case m.truth("sctp"):
		p.Protocol = "sctp"
	default:
		p.Protocol = "tcp"
	}
	return p.readNumbers(m)
}

func (p *Parameters) readNumbers(m members) error {
	const large = math.MaxInt32
	for _, f := range []struct {
		name        string
		to          *int
		least, most int64
	}{
		{"omit", &p.Omit, 0, MaxOmit},
		{"time", &p.Time, 0, MaxTime},
		{"MSS", &p.MSS, 0, MaxMSS},
		{"parallel", &p.Parallel, 1, MaxStreams},
		{"window", &p.Window, 0, MaxWindow},
		{"len", &p.Length, 0, MaxTCPLength},
		{"pacing_timer", &p.PacingTimer, 0, large},
		{"burst", &p.Burst, 1, MaxBurst},
		{"TOS", &p.TOS, 0, 255},
		{"flowlabel", &p.FlowLabel, 1, 0xfffff},
		{"zerocopy", &p.ZeroCopy, 0, large},
		{"gso_dg_size", &p.GSODatagram, 0, large},
		{"gso_bf_size", &p.GSOBuf, 0, large},
		{"gro_bf_size", &p.GROBuf, 0, large},
	} {
		n, err := m.between(f.name, f.least, f.most)
		if err != nil {
			return err
		}
		*f.to = int(n)
	}
	for _, f := range []struct {
		name string
		to   *int64
	}{{"num", &p.Bytes}, {"blockcount", &p.Blocks}, {"bandwidth", &p.Bandwidth}, {"fqrate", &p.FQRate}} {
		n, err := m.between(f.name, 0, math.MaxInt64)
		if err != nil {
			return err
		}
		*f.to = n
	}
	if _, ok := m.whole("server_affinity"); ok {
		n, err := m.between("server_affinity", 0, 1024)
		if err != nil {
			return err
		}
		p.ServerAffinity = new(int(n))
	}
	p.Parallel = max(p.Parallel, 1)
	return p.checkLength()
}

// checkLength refuses a length outside the protocol's limits.
func (p *Parameters) checkLength() error {
	switch {
	case p.Protocol == "udp" && p.Length != 0 && (p.Length < MinUDPLength || p.Length > MaxUDPLength):
		return outOfRange("len", int64(p.Length), MinUDPLength, MaxUDPLength)
	case p.Protocol != "udp" && p.Length == 0:
		return outOfRange("len", 0, 1, MaxTCPLength)
	case p.Reverse && p.Bidirectional:
		return fail("iperf3.message.both_directions", nil)
	}
	return nil
}

// WriteParameters sends p.
func WriteParameters(w io.Writer, p *Parameters) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return WriteJSON(w, b)
}

// ReadParameters reads a client's parameters, at most [MaxParameters] bytes.
func ReadParameters(r io.Reader) (*Parameters, error) {
	b, err := ReadJSON(r, MaxParameters)
	if err != nil {
		return nil, err
	}
	p := &Parameters{}
	return p, p.UnmarshalJSON(b)
}
