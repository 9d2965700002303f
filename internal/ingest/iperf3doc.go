package ingest

// The documents of iperf3 -J, versions 3.1 to 3.21, as far as they are read.
// Every number is a float64: some versions write large counts with an exponent.
// A pointer tells a member that a version does not have from a zero.

type iperf3Doc struct {
	Start     iperf3Start      `json:"start"`
	Intervals []iperf3Interval `json:"intervals"`
	End       iperf3End        `json:"end"`
	Error     string           `json:"error"`
	Server    *iperf3Doc       `json:"server_output_json"` // with --get-server-output

	streamed bool // put together from events
}

type iperf3Start struct {
	Version   string `json:"version"`
	Cookie    string `json:"cookie"` // the client draws it and tells the server
	System    string `json:"system_info"`
	Timestamp struct {
		Seconds float64 `json:"timesecs"`
		Millis  float64 `json:"timemillisecs"` // since 3.18
	} `json:"timestamp"`
	Connected []struct {
		Socket     float64 `json:"socket"`
		LocalHost  string  `json:"local_host"`
		LocalPort  float64 `json:"local_port"`
		RemoteHost string  `json:"remote_host"`
		RemotePort float64 `json:"remote_port"`
	} `json:"connected"`
	ConnectingTo *struct {
		Host string  `json:"host"`
		Port float64 `json:"port"`
	} `json:"connecting_to"` // in the client's document
	Accepted *struct {
		Host string `json:"host"`
	} `json:"accepted_connection"` // in the server's
	Test *struct {
		Protocol string   `json:"protocol"`
		Streams  float64  `json:"num_streams"`
		Block    float64  `json:"blksize"`
		Omit     float64  `json:"omit"`
		Duration float64  `json:"duration"`
		Bytes    float64  `json:"bytes"`
		Blocks   float64  `json:"blocks"`
		Reverse  float64  `json:"reverse"`
		TOS      float64  `json:"tos"`
		Target   *float64 `json:"target_bitrate"` // since 3.7 here
	} `json:"test_start"`
	Target float64 `json:"target_bitrate"` // since 3.6
	Buffer float64 `json:"sock_bufsize"`
}

type iperf3Sum struct {
	Socket      float64  `json:"socket"`
	Start       float64  `json:"start"`
	End         float64  `json:"end"`
	Seconds     float64  `json:"seconds"`
	Bytes       float64  `json:"bytes"`
	Bps         float64  `json:"bits_per_second"`
	Retransmits *float64 `json:"retransmits"`
	Cwnd        float64  `json:"snd_cwnd"`
	RTT         float64  `json:"rtt"` // µs
	RTTVar      float64  `json:"rttvar"`
	MinRTT      float64  `json:"min_rtt"`
	MeanRTT     float64  `json:"mean_rtt"`
	PMTU        float64  `json:"pmtu"`
	Omitted     bool     `json:"omitted"`
	Sender      *bool    `json:"sender"` // since 3.7
	Jitter      *float64 `json:"jitter_ms"`
	Lost        *float64 `json:"lost_packets"`
	Packets     *float64 `json:"packets"`
	OutOfOrder  *float64 `json:"out_of_order"`
}

type iperf3Interval struct {
	Streams []iperf3Sum `json:"streams"`
	Sum     *iperf3Sum  `json:"sum"`
	Other   *iperf3Sum  `json:"sum_bidir_reverse"`
}

type iperf3End struct {
	Streams []struct {
		Sender   *iperf3Sum `json:"sender"`
		Receiver *iperf3Sum `json:"receiver"`
		UDP      *iperf3Sum `json:"udp"`
	} `json:"streams"`
	Sum           *iperf3Sum `json:"sum"` // UDP
	Sent          *iperf3Sum `json:"sum_sent"`
	Received      *iperf3Sum `json:"sum_received"`
	OtherSum      *iperf3Sum `json:"sum_bidir_reverse"`
	OtherSent     *iperf3Sum `json:"sum_sent_bidir_reverse"`
	OtherReceived *iperf3Sum `json:"sum_received_bidir_reverse"`
	CPU           *struct {
		Host       float64 `json:"host_total"` // percent of one processor
		HostUser   float64 `json:"host_user"`
		HostSystem float64 `json:"host_system"`
		Remote     float64 `json:"remote_total"`
	} `json:"cpu_utilization_percent"`
	Congestion string `json:"sender_tcp_congestion"`
}

// figures are the numbers of a sum that a result takes over.
func (s *iperf3Sum) figures() []float64 {
	out := []float64{s.Start, s.End, s.Seconds, s.Bytes, s.Bps, s.Cwnd, s.RTT, s.RTTVar, s.MinRTT, s.MeanRTT, s.PMTU}
	for _, p := range []*float64{s.Retransmits, s.Jitter, s.Packets, s.OutOfOrder} {
		if p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// sums are all sums of a document.
func (d *iperf3Doc) sums() []*iperf3Sum {
	e := &d.End
	out := []*iperf3Sum{e.Sum, e.Sent, e.Received, e.OtherSum, e.OtherSent, e.OtherReceived}
	for i := range e.Streams {
		out = append(out, e.Streams[i].Sender, e.Streams[i].Receiver, e.Streams[i].UDP)
	}
	for i := range d.Intervals {
		v := &d.Intervals[i]
		out = append(out, v.Sum, v.Other)
		for j := range v.Streams {
			out = append(out, &v.Streams[j])
		}
	}
	return out
}
