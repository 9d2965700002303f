package iperf3

import (
	"encoding/json"
	"io"
	"math"
	"strings"
	"time"
)

// jsonWriter builds the document of a test, or writes one line per event.
type jsonWriter struct {
	out  io.Writer
	set  *Settings
	role string
	test Test
	keep bool // the intervals, for a client that wants the document

	start     object
	intervals []any
	end       object
	closing   End
	failure   string
	err       error
}

// newJSON is for one test of the given role.
func newJSON(out io.Writer, set *Settings) *jsonWriter {
	return &jsonWriter{out: out, set: set, role: set.Role, intervals: []any{}, start: object{{"connected", []any{}}}}
}

func (w *jsonWriter) Begin(p Program) {
	w.start.add("version", p.Version)
	w.start.add("system_info", p.System)
}

func (w *jsonWriter) Start(s Start) {
	w.test = s.Test
	w.start[0].value = connected(s.Connected)
	w.start.add("timestamp", object{
		{"time", s.At.UTC().Format(time.RFC1123[:len(time.RFC1123)-3]) + "GMT"},
		{"timesecs", s.At.Unix()},
		{"timemillisecs", s.At.UnixMilli()},
	})
	peer := "connecting_to"
	if w.role == Server {
		peer = "accepted_connection"
	}
	w.start.add(peer, object{{"host", s.Peer.Host}, {"port", s.Peer.Port}})
	w.start.add("cookie", s.Cookie)
	switch {
	case s.Test.UDP:
	case s.Test.MSS != 0:
		w.start.add("tcp_mss", s.Test.MSS)
	default:
		w.start.add("tcp_mss_default", s.ControlMSS)
	}
	w.start.add("target_bitrate", s.Test.Rate)
	w.start.add("fq_rate", s.Test.FQRate)
	w.start.add("sock_bufsize", s.Test.Window)
	w.start.add("sndbuf_actual", s.SendBuffer)
	w.start.add("rcvbuf_actual", s.ReceiveBuffer)
	w.start.add("test_start", testStart(s.Test))
	w.event("start", w.start)
}

func connected(all []Connected) []any {
	list := []any{}
	for _, c := range all {
		list = append(list, object{
			{"socket", c.Socket},
			{"local_host", c.Local.Host}, {"local_port", c.Local.Port},
			{"remote_host", c.Remote.Host}, {"remote_port", c.Remote.Port},
		})
	}
	return list
}

func testStart(t Test) object {
	name := "TCP"
	if t.UDP {
		name = "UDP"
	}
	return object{
		{"protocol", name}, {"num_streams", t.Streams}, {"blksize", t.Block}, {"omit", t.Omit}, {"duration", t.Duration},
		{"bytes", t.Bytes}, {"blocks", t.Blocks}, {"reverse", one(t.Reverse)}, {"tos", t.TOS}, {"target_bitrate", t.Rate},
		{"bidir", one(t.Bidir)}, {"fqrate", t.FQRate}, {"interval", t.Interval}, {"gso", one(t.GSO)}, {"gro", one(t.GRO)},
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *jsonWriter) Interval(iv Interval) {
	streams := []any{}
	doc := object{{"streams", nil}}
	for _, sender := range w.test.ways(w.role) {
		for _, s := range iv.Streams {
			if s.Sender == sender {
				streams = append(streams, w.interval(s, iv.Omitted, true))
			}
		}
		total := iv.sum(sender)
		doc.add(w.sumName("sum", sender), w.interval(total, iv.Omitted, false))
	}
	doc[0].value = streams
	if !w.set.Stream || w.set.StreamFull || w.keep {
		w.intervals = append(w.intervals, doc)
	}
	w.event("interval", doc)
}

// interval is one stream, or the sum of several, which has fewer members.
func (w *jsonWriter) interval(s StreamInterval, omitted, single bool) object {
	o := object{}
	if single {
		o.add("socket", s.Socket)
	}
	o = append(o, span(s.Start, s.End, s.End-s.Start, s.Bytes, per(s.Bytes, s.End-s.Start))...)
	switch {
	case w.test.UDP && s.Sender:
		o.add("packets", s.Packets)
	case w.test.UDP:
		o.add("jitter_ms", s.JitterMs)
		o.add("lost_packets", s.Lost)
		o.add("packets", s.Packets)
		o.add("lost_percent", percent(s.Lost, s.Packets))
	case s.TCP != nil:
		o.add("retransmits", s.TCP.Retransmits)
		if single {
			o = append(o, object{
				{"snd_cwnd", s.TCP.Cwnd}, {"snd_wnd", s.TCP.Window}, {"rtt", s.TCP.RTT}, {"rttvar", s.TCP.RTTVar},
				{"pmtu", s.TCP.PMTU}, {"reorder", s.TCP.Reorder},
			}...)
		}
	}
	o.add("omitted", omitted)
	o.add("sender", s.Sender)
	return o
}

// span is the common beginning of every part of a document. Times are rounded to
// microseconds, the resolution of iperf3's clock.
func span(start, end, seconds float64, bytes int64, bytesPerSecond float64) object {
	return object{
		{"start", micro(start)}, {"end", micro(end)}, {"seconds", micro(seconds)},
		{"bytes", bytes}, {"bits_per_second", bytesPerSecond * 8},
	}
}

func micro(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }

// sumName distinguishes the server's sums from the client's in a bidirectional test.
func (w *jsonWriter) sumName(name string, sender bool) string {
	if w.test.Bidir && sender == (w.role == Server) {
		return name + "_bidir_reverse"
	}
	return name
}

func (w *jsonWriter) End(e End) {
	w.closing = e
	streams := []any{}
	doc := object{{"streams", nil}}
	ways := w.test.ways(w.role)
	for _, sender := range ways {
		for _, s := range e.Streams {
			if s.Sender == sender {
				streams = append(streams, w.streamEnd(e, s))
			}
		}
		doc = append(doc, w.sums(e, sender)...)
	}
	doc[0].value = streams
	doc.add("cpu_utilization_percent", object{
		{"host_total", e.Host.Total}, {"host_user", e.Host.User}, {"host_system", e.Host.System},
		{"remote_total", e.Remote.Total}, {"remote_user", e.Remote.User}, {"remote_system", e.Remote.System},
	})
	if !w.test.UDP {
		send, receive := e.OwnCongestion, e.PeerCongestion
		if !ways[len(ways)-1] {
			send, receive = receive, send
		}
		if send != "" {
			doc.add("sender_tcp_congestion", send)
		}
		if receive != "" {
			doc.add("receiver_tcp_congestion", receive)
		}
	}
	w.end = doc
}

func (w *jsonWriter) streamEnd(e End, s StreamEnd) object {
	socket := object{{"socket", s.Socket}}
	sent := append(socket, span(0, e.SenderSeconds, e.SenderSeconds, s.SentBytes, per(s.SentBytes, e.SenderSeconds))...)
	if w.test.UDP {
		return object{{"udp", append(sent, object{
			{"jitter_ms", s.JitterMs}, {"lost_packets", s.Lost}, {"packets", s.packets()},
			{"lost_percent", percent(s.Lost, s.PacketsSent)}, {"out_of_order", s.OutOfOrder}, {"sender", s.Sender},
		}...)}}
	}
	if e.retransmits(s.Sender) {
		sent = append(sent, object{
			{"retransmits", s.Retransmits}, {"reorder", s.Reorder}, {"max_snd_cwnd", s.MaxCwnd}, {"max_snd_wnd", s.MaxWindow},
			{"max_rtt", s.MaxRTT}, {"min_rtt", s.MinRTT}, {"mean_rtt", s.MeanRTT},
		}...)
	}
	sent.add("sender", s.Sender)
	received := append(object{{"socket", s.Socket}},
		span(0, e.ReceiverSeconds, e.OwnSeconds, s.ReceivedBytes, per(s.ReceivedBytes, e.ReceiverSeconds))...)
	received.add("sender", s.Sender)
	doc := object{{"sender", sent}}
	if e.File != nil {
		doc.add("diskfile", e.File.document(s))
	}
	doc.add("receiver", received)
	return doc
}

// sums are the members for all streams that go one way.
func (w *jsonWriter) sums(e End, sender bool) object {
	t, packets := e.sum(sender)
	sent := span(0, e.SenderSeconds, e.SenderSeconds, t.SentBytes, per(t.SentBytes, e.SenderSeconds))
	received := span(0, e.ReceiverSeconds, e.ReceiverSeconds, t.ReceivedBytes, per(t.ReceivedBytes, e.ReceiverSeconds))
	if !w.test.UDP {
		if e.retransmits(sender) {
			sent.add("retransmits", t.Retransmits)
		}
		sent.add("sender", sender)
		received.add("sender", sender)
		return object{{w.sumName("sum_sent", sender), sent}, {w.sumName("sum_received", sender), received}}
	}
	datagrams := func(jitter float64, lost, packets int64, percent float64, sender bool) object {
		return object{{"jitter_ms", jitter}, {"lost_packets", lost}, {"packets", packets}, {"lost_percent", percent}, {"sender", sender}}
	}
	lost := percent(t.Lost, packets)
	// The oldest member combines the bytes sent with the receiver's time and losses.
	mixed := span(0, e.ReceiverSeconds, e.ReceiverSeconds, t.SentBytes, per(t.SentBytes, e.SenderSeconds))
	return object{
		{w.sumName("sum", sender), append(mixed, datagrams(t.JitterMs, t.Lost, packets, lost, sender)...)},
		{w.sumName("sum_sent", sender), append(sent, datagrams(0, 0, t.PacketsSent, 0, true)...)},
		{w.sumName("sum_received", sender), append(received, datagrams(t.JitterMs, t.Lost, t.PacketsReceived, lost, false)...)},
	}
}

func (w *jsonWriter) Fail(message string) {
	w.failure = message
	if w.role == Client { // iperf3 writes the prefix in text and in documents of servers
		w.failure = strings.TrimPrefix(message, "error - ")
	}
}

// whole is the complete document so far.
func (w *jsonWriter) whole() object {
	if w.end == nil {
		w.end = object{}
	}
	doc := object{{"start", w.start}, {"intervals", w.intervals}, {"end", w.end}}
	add := func(key string, value any, there bool) {
		if there {
			doc.add(key, value)
		}
	}
	add("title", w.test.Title, w.test.Title != "")
	add("extra_data", w.test.ExtraData, w.test.ExtraData != "")
	add("server_output_json", json.RawMessage(w.closing.ServerJSON), w.closing.ServerJSON != nil)
	add("server_output_text", w.closing.ServerText, w.closing.ServerText != "")
	add("error", w.failure, w.failure != "")
	return doc
}

// Close writes the document.
func (w *jsonWriter) Close() error {
	doc := w.whole()
	if w.set.Stream {
		w.last(doc)
	}
	if !w.set.Stream || w.set.StreamFull {
		w.line(pretty(doc))
	}
	return w.err
}

// last writes the events that end a stream.
func (w *jsonWriter) last(doc object) {
	for _, key := range []string{"error", "server_output_json", "server_output_text"} {
		for _, m := range doc {
			if m.key == key {
				w.event(key, m.value)
			}
		}
	}
	w.event("end", w.end)
}

func (w *jsonWriter) event(name string, data any) {
	if w.set.Stream {
		w.line(compact(object{{"event", name}, {"data", data}}))
	}
}

func (w *jsonWriter) line(text string) {
	if _, err := io.WriteString(w.out, text+"\n"); err != nil && w.err == nil {
		w.err = err
	}
}
