package iperf3

import (
	"encoding/json"
	"io"
	"math"
	"reflect"
	"strconv"
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

// form is how a parameter is written.
type form int

const (
	ifSet    form = iota // left out where it is zero
	always               // also where it is zero
	asNumber             // a truth value as 1 if it is set
	offload              // always for UDP, since version 3.20, and a truth value as 1 or 0
)

// parameter is a member of the parameters.
type parameter struct {
	name        string
	to          any // *bool, *string, *int or *int64
	form        form
	least, most int64 // of a number that is there
}

// all are the parameters in the order in which iperf3 writes them.
func (p *Parameters) all() []parameter {
	const large = math.MaxInt32
	return []parameter{
		{"omit", &p.Omit, always, 0, MaxOmit},
		{"server_affinity", &p.ServerAffinity, ifSet, 0, 1024},
		{"time", &p.Time, always, 0, MaxTime},
		{"num", &p.Bytes, always, 0, math.MaxInt64},
		{"blockcount", &p.Blocks, always, 0, math.MaxInt64},
		{"MSS", &p.MSS, ifSet, 0, MaxMSS},
		{"nodelay", &p.NoDelay, ifSet, 0, 0},
		{"parallel", &p.Parallel, always, 1, MaxStreams},
		{"reverse", &p.Reverse, ifSet, 0, 0},
		{"bidirectional", &p.Bidirectional, ifSet, 0, 0},
		{"mptcp", &p.MPTCP, ifSet, 0, 0},
		{"window", &p.Window, ifSet, 0, MaxWindow},
		{"len", &p.Length, ifSet, 0, MaxTCPLength},
		{"bandwidth", &p.Bandwidth, ifSet, 0, math.MaxInt64},
		{"fqrate", &p.FQRate, ifSet, 0, math.MaxInt64},
		{"pacing_timer", &p.PacingTimer, ifSet, 0, large},
		{"burst", &p.Burst, ifSet, 1, MaxBurst},
		{"gso", &p.GSO, offload, 0, 0},
		{"gso_dg_size", &p.GSODatagram, offload, 0, large},
		{"gso_bf_size", &p.GSOBuf, offload, 0, large},
		{"gro", &p.GRO, offload, 0, 0},
		{"gro_bf_size", &p.GROBuf, offload, 0, large},
		{"TOS", &p.TOS, ifSet, 0, 255},
		{"flowlabel", &p.FlowLabel, ifSet, 1, 0xfffff},
		{"title", &p.Title, ifSet, 0, 0},
		{"extra_data", &p.ExtraData, ifSet, 0, 0},
		{"congestion", &p.Congestion, ifSet, 0, 0},
		{"congestion_used", &p.CongestionUsed, ifSet, 0, 0},
		{"get_server_output", &p.GetServerOutput, asNumber, 0, 0},
		{"udp_counters_64bit", &p.Counters64, asNumber, 0, 0},
		{"repeating_payload", &p.RepeatPayload, asNumber, 0, 0},
		{"zerocopy", &p.ZeroCopy, ifSet, 0, large},
		{"dont_fragment", &p.DontFragment, asNumber, 0, 0},
		{"authtoken", &p.AuthToken, ifSet, 0, 0},
		{"skip_rx_copy", &p.SkipRXCopy, asNumber, 0, 0},
		{"client_version", &p.ClientVersion, ifSet, 0, 0},
	}
}

// MarshalJSON writes the parameters as a client sends them.
func (p Parameters) MarshalJSON() ([]byte, error) {
	out := []byte("{" + strconv.Quote(p.Protocol) + ":true")
	for _, m := range p.all() {
		v := reflect.ValueOf(m.to).Elem()
		if m.form == offload && p.Protocol != "udp" || v.IsZero() && m.form != always && m.form != offload {
			continue
		}
		value := v.Interface()
		if set, ok := value.(bool); ok && m.form != ifSet {
			value = map[bool]int{true: 1}[set]
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `,"`+m.name+`":`...), text...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads parameters as a client sends them. A member outside of
// iperf3's range is an error with the cause *[OutOfRangeError].
func (p *Parameters) UnmarshalJSON(b []byte) error {
	m, err := parseMembers(b)
	if err != nil {
		return err
	}
	*p = Parameters{Protocol: "tcp"}
	for _, other := range []string{"sctp", "udp"} {
		if m.truth(other) {
			p.Protocol = other
		}
	}
	for _, x := range p.all() {
		var n int64
		if x.most > 0 {
			if n, err = m.between(x.name, x.least, x.most); err != nil {
				return err
			}
		}
		switch to := x.to.(type) {
		case *bool:
			*to = m.truth(x.name)
		case *string:
			*to = m.text(x.name)
		case *int:
			*to = int(n)
		case *int64:
			*to = n
		case **int:
			if _, ok := m.whole(x.name); ok {
				*to = new(int(n))
			}
		}
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
