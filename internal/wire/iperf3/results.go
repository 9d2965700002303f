package iperf3

import (
	"encoding/json"
	"io"
	"math"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Results are the counts that one end sends to the other.
type Results struct {
	// CPU* are the processor time of the process in percent of the test's duration.
	CPUTotal  float64 `json:"cpu_util_total"`
	CPUUser   float64 `json:"cpu_util_user"`
	CPUSystem float64 `json:"cpu_util_system"`
	// SenderHasRetransmits reports whether Retransmits of the streams that this end
	// sends are known: 1 or 0, and -1 of an end that only receives.
	SenderHasRetransmits int    `json:"sender_has_retransmits"`
	CongestionUsed       string `json:"congestion_used,omitempty"`
	// ServerOutputText or ServerOutputJSON is the server's output, if the client
	// requested it.
	ServerOutputText string          `json:"server_output_text,omitempty"`
	ServerOutputJSON json.RawMessage `json:"server_output_json,omitempty"`
	Streams          []StreamResult  `json:"streams"` // at most 2*MaxStreams
}

// StreamResult is the result of one stream. Bytes exclude the omitted start; Errors and
// Packets include it if the Omitted* are not 0.
type StreamResult struct {
	ID             int     `json:"id"`          // see [StreamID]
	Bytes          int64   `json:"bytes"`       // sent, or received
	Retransmits    int64   `json:"retransmits"` // -1: unknown
	Jitter         float64 `json:"jitter"`      // seconds
	Errors         int64   `json:"errors"`      // datagrams lost
	OmittedErrors  int64   `json:"omitted_errors"`
	Packets        int64   `json:"packets"` // datagrams sent, or the highest number received
	OmittedPackets int64   `json:"omitted_packets"`
	StartTime      float64 `json:"start_time"` // seconds
	EndTime        float64 `json:"end_time"`
}

// MarshalJSON writes the results as they are exchanged.
func (r Results) MarshalJSON() ([]byte, error) {
	r.CPUTotal, r.CPUUser, r.CPUSystem = finite(r.CPUTotal), finite(r.CPUUser), finite(r.CPUSystem)
	r.Streams = append([]StreamResult{}, r.Streams...) // a list, never null
	type plain Results
	return json.Marshal(plain(r))
}

// UnmarshalJSON reads results as they are exchanged. Members that iperf3 always writes
// are required; stream identities are positive and unique.
func (r *Results) UnmarshalJSON(b []byte) error {
	if n := measure.JSONValues(b, 2); n > maxMembers { // of the server's document, which stays as it is, those deeper down are most
		return fail("iperf3.message.too_many_values", measure.Figures{"values": n, "most": maxMembers})
	}
	m, err := parseMembers(b)
	if err != nil {
		return err
	}
	*r = Results{
		CongestionUsed: m.text("congestion_used"), ServerOutputText: m.longText("server_output_text", MaxOutput),
		ServerOutputJSON: printable.JSON(m["server_output_json"]),
	}
	for _, f := range []struct {
		name string
		to   *float64
	}{{"cpu_util_total", &r.CPUTotal}, {"cpu_util_user", &r.CPUUser}, {"cpu_util_system", &r.CPUSystem}} {
		var ok bool
		if *f.to, ok = m.real(f.name); !ok {
			return fail("iperf3.message.results_without", measure.Figures{"member": f.name})
		}
	}
	known, ok := m.whole("sender_has_retransmits")
	if !ok {
		return fail("iperf3.message.results_without", measure.Figures{"member": "sender_has_retransmits"})
	}
	r.SenderHasRetransmits = int(max(-1, min(known, 1)))
	return r.readStreams(m)
}

func (r *Results) readStreams(m members) error {
	var list []json.RawMessage
	if err := json.Unmarshal(m["streams"], &list); err != nil {
		return fail("iperf3.message.results_without", measure.Figures{"member": "streams"})
	}
	if len(list) > 2*MaxStreams {
		return fail("iperf3.message.too_many_streams", measure.Figures{"streams": len(list), "most": 2 * MaxStreams})
	}
	seen := map[int]bool{}
	for _, raw := range list {
		m, err := parseMembers(raw)
		if err != nil {
			return err
		}
		s, err := readStream(m)
		if err != nil {
			return err
		}
		if seen[s.ID] {
			return fail("iperf3.message.stream_twice", measure.Figures{"stream": s.ID})
		}
		seen[s.ID] = true
		r.Streams = append(r.Streams, s)
	}
	return nil
}

func readStream(m members) (s StreamResult, err error) {
	var id int64
	for _, f := range []struct {
		name   string
		to     *int64
		needed bool
		least  int64
		most   int64
	}{
		{"id", &id, true, 1, 2*MaxStreams + 1},
		{"bytes", &s.Bytes, true, 0, math.MaxInt64},
		{"retransmits", &s.Retransmits, true, -1, math.MaxInt64},
		{"errors", &s.Errors, true, math.MinInt64, math.MaxInt64}, // negative if datagrams were duplicated
		{"omitted_errors", &s.OmittedErrors, false, math.MinInt64, math.MaxInt64},
		{"packets", &s.Packets, true, 0, math.MaxInt64},
		{"omitted_packets", &s.OmittedPackets, false, 0, math.MaxInt64},
	} {
		n, ok := m.whole(f.name)
		if !ok && f.needed || ok && (n < f.least || n > f.most) {
			return s, fail("iperf3.message.stream_member", measure.Figures{"member": f.name})
		}
		*f.to = n
	}
	s.ID = int(id)
	var ok bool
	if s.Jitter, ok = m.real("jitter"); !ok {
		return s, fail("iperf3.message.stream_member", measure.Figures{"member": "jitter"})
	}
	s.StartTime, _ = m.real("start_time")
	s.EndTime, _ = m.real("end_time")
	return s, nil
}

// Stream is the part of the stream with the identity, or nil.
func (r *Results) Stream(id int) *StreamResult {
	for i := range r.Streams {
		if r.Streams[i].ID == id {
			return &r.Streams[i]
		}
	}
	return nil
}

// finite is f, or 0 for NaN and infinity, which JSON cannot express.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// WriteResults sends r.
func WriteResults(w io.Writer, r *Results) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return WriteJSON(w, b)
}

// ReadResults reads the other end's results, with the server's output if requested.
func ReadResults(r io.Reader, output bool) (*Results, error) {
	most := MaxResults
	if output {
		most = MaxOutput
	}
	b, err := ReadJSON(r, most)
	if err != nil {
		return nil, err
	}
	out := &Results{}
	return out, out.UnmarshalJSON(b)
}
