package iperf3

import (
	"encoding/json"
	"time"
)

// happened converts a document of the real program back into events.
func happened(doc map[string]any) (Start, []Interval, End) {
	s := Start{
		At: time.UnixMilli(integral(doc, "start", "timestamp", "timesecs") * 1000), Cookie: wording(doc, "start", "cookie"),
		ControlMSS: int(integral(doc, "start", "tcp_mss_default")), SendBuffer: int(integral(doc, "start", "sndbuf_actual")),
		ReceiveBuffer: int(integral(doc, "start", "rcvbuf_actual")),
	}
	peer := value(doc, "start", "connecting_to")
	if peer == nil {
		peer = value(doc, "start", "accepted_connection")
	}
	s.Peer = Address{wording(peer, "host"), int(integral(peer, "port"))}
	for _, c := range items(doc, "start", "connected") {
		s.Connected = append(s.Connected, Connected{
			Socket: int(integral(c, "socket")),
			Local:  Address{wording(c, "local_host"), int(integral(c, "local_port"))},
			Remote: Address{wording(c, "remote_host"), int(integral(c, "remote_port"))},
		})
	}
	ts := value(doc, "start", "test_start")
	s.Test = Test{
		UDP: wording(ts, "protocol") == "UDP", Streams: int(integral(ts, "num_streams")), Block: integral(ts, "blksize"),
		Omit: int(integral(ts, "omit")), Duration: int(integral(ts, "duration")), Bytes: integral(ts, "bytes"), Blocks: integral(ts, "blocks"),
		Reverse: integral(ts, "reverse") == 1, TOS: int(integral(ts, "tos")), Rate: integral(ts, "target_bitrate"),
		MSS: int(integral(doc, "start", "tcp_mss")), Window: integral(doc, "start", "sock_bufsize"),
		Title: wording(doc, "title"), ExtraData: wording(doc, "extra_data"),
		Bidir: value(doc, "end", "sum_sent_bidir_reverse") != nil,
	}
	var intervals []Interval
	for _, iv := range items(doc, "intervals") {
		intervals = append(intervals, happenedMeanwhile(iv))
	}
	return s, intervals, happenedInAll(doc, s.Test)
}

func happenedMeanwhile(iv any) (out Interval) {
	for _, x := range items(iv, "streams") {
		out.Omitted = truth(x, "omitted")
		si := StreamInterval{
			Socket: int(integral(x, "socket")), Sender: truth(x, "sender"), Start: numeric(x, "start"), Bytes: integral(x, "bytes"),
			Packets: integral(x, "packets"), Lost: integral(x, "lost_packets"), JitterMs: numeric(x, "jitter_ms"),
		}
		si.End = si.Start + numeric(x, "seconds")
		if value(x, "retransmits") != nil {
			si.TCP = &SenderState{
				integral(x, "retransmits"), integral(x, "snd_cwnd"), integral(x, "snd_wnd"), integral(x, "rtt"), integral(x, "rttvar"), integral(x, "pmtu"), 0,
			}
		}
		out.Streams = append(out.Streams, si)
	}
	return out
}

func happenedInAll(doc map[string]any, test Test) End {
	cpu := value(doc, "end", "cpu_utilization_percent")
	e := End{
		Host:   CPU{numeric(cpu, "host_total"), numeric(cpu, "host_user"), numeric(cpu, "host_system")},
		Remote: CPU{numeric(cpu, "remote_total"), numeric(cpu, "remote_user"), numeric(cpu, "remote_system")},
	}
	e.SenderSeconds = numeric(doc, "end", "sum_sent", "seconds")
	e.ReceiverSeconds = numeric(doc, "end", "sum_received", "seconds")
	for _, x := range items(doc, "end", "streams") {
		if u := value(x, "udp"); u != nil {
			e.SenderSeconds = numeric(u, "seconds")
			e.ReceiverSeconds = numeric(doc, "end", "sum", "seconds")
			s := StreamEnd{
				Socket: int(integral(u, "socket")), Sender: truth(u, "sender"), SentBytes: integral(u, "bytes"), JitterMs: numeric(u, "jitter_ms"),
				Lost: integral(u, "lost_packets"), OutOfOrder: integral(u, "out_of_order"), PacketsSent: integral(u, "packets"),
			}
			e.Streams = append(e.Streams, s)
			continue
		}
		from, to := value(x, "sender"), value(x, "receiver")
		e.OwnSeconds = numeric(to, "seconds")
		sender := truth(from, "sender")
		if known := value(from, "retransmits") != nil; sender {
			e.OwnRetransmits = known
		} else {
			e.PeerRetransmits = known
		}
		e.Streams = append(e.Streams, StreamEnd{
			Socket: int(integral(from, "socket")), Sender: sender, SentBytes: integral(from, "bytes"), ReceivedBytes: integral(to, "bytes"),
			Retransmits: integral(from, "retransmits"), MaxCwnd: integral(from, "max_snd_cwnd"), MaxWindow: integral(from, "max_snd_wnd"),
			MaxRTT: integral(from, "max_rtt"), MinRTT: integral(from, "min_rtt"), MeanRTT: integral(from, "mean_rtt"),
		})
	}
	role := Client
	if value(doc, "start", "accepted_connection") != nil {
		role = Server
	}
	if test.UDP {
		divide(doc, &e, role)
	}
	e.OwnCongestion, e.PeerCongestion = wording(doc, "end", "sender_tcp_congestion"), wording(doc, "end", "receiver_tcp_congestion")
	if ways := test.ways(role); !ways[len(ways)-1] {
		e.OwnCongestion, e.PeerCongestion = e.PeerCongestion, e.OwnCongestion
	}
	e.ServerText = wording(doc, "server_output_text")
	if j := value(doc, "server_output_json"); j != nil {
		e.ServerJSON, _ = json.Marshal(j)
	}
	return e
}

// divide assigns to the first stream of each direction the totals of a UDP document, and
// removes what a server does not know.
func divide(doc any, e *End, role string) {
	seen := map[bool]bool{}
	for i := range e.Streams {
		s := &e.Streams[i]
		name := ""
		if value(doc, "end", "sum_bidir_reverse") != nil && s.Sender == (role == Server) {
			name = "_bidir_reverse"
		}
		if integral(doc, "end", "sum_sent"+name, "packets") == 0 {
			s.PacketsReceived, s.PacketsSent = s.PacketsSent, 0
		} else if !seen[s.Sender] {
			s.PacketsReceived = integral(doc, "end", "sum_received"+name, "packets")
		}
		if !seen[s.Sender] {
			s.ReceivedBytes = integral(doc, "end", "sum_received"+name, "bytes")
		}
		seen[s.Sender] = true
	}
}
