package flows

import (
	"net"
	"strconv"
	"syscall"

	"soku/internal/host/series"
	"soku/internal/measure"
	"soku/internal/sock"
)

// mostWatched is how many streams of a direction have columns in the series of a host.
const mostWatched = 8

// senderColumns and receiverColumns are the columns of a stream at its two ends, without
// direction and index.
var (
	senderColumns = []socketColumn{
		{"sent_bytes", false, func(s *sock.State) int64 { return s.SentBytes }},
		{"acked_bytes", false, func(s *sock.State) int64 { return s.AckedBytes }},
		{"segments_out", false, func(s *sock.State) int64 { return s.SegmentsOut }},
		{"retransmits", false, func(s *sock.State) int64 { return s.Retransmits }},
		{"dsacks", false, func(s *sock.State) int64 { return s.DSACKs }},
		{"timeouts", false, func(s *sock.State) int64 { return s.Timeouts }},
		{"ce_delivered", false, func(s *sock.State) int64 { return s.DeliveredCE }},
		{"busy_ns", false, func(s *sock.State) int64 { return s.BusyNs }},
		{"rwnd_limited_ns", false, func(s *sock.State) int64 { return s.RwndLimitedNs }},
		{"sndbuf_limited_ns", false, func(s *sock.State) int64 { return s.SndbufLimitedNs }},
		{"unacked_bytes", true, func(s *sock.State) int64 { return s.UnackedBytes }},
		{"notsent_bytes", true, func(s *sock.State) int64 { return s.NotsentBytes }},
		{"cwnd_bytes", true, func(s *sock.State) int64 { return s.CwndBytes }},
		{"snd_wnd_bytes", true, func(s *sock.State) int64 { return s.SndWndBytes }},
		{"rtt_ns", true, func(s *sock.State) int64 { return s.RTTNs }},
		{"min_rtt_ns", true, func(s *sock.State) int64 { return s.MinRTTNs }},
		{"mss_bytes", true, func(s *sock.State) int64 { return s.MSSBytes }},
		{"pmtu_bytes", true, func(s *sock.State) int64 { return s.PMTUBytes }},
		{"app_limited", true, func(s *sock.State) int64 { return s.AppLimited }},
		{"congestion_state", true, func(s *sock.State) int64 { return s.CongestionState }},
		{"send_queue_bytes", true, func(s *sock.State) int64 { return s.SendQueueBytes }},
		{"send_buffer_bytes", true, func(s *sock.State) int64 { return s.SendBufferBytes }},
	}
	receiverColumns = []socketColumn{
		{"receive_queue_bytes", true, func(s *sock.State) int64 { return s.ReceiveQueueBytes }},
		{"receive_buffer_bytes", true, func(s *sock.State) int64 { return s.ReceiveBufferBytes }},
		{"socket_drops", false, func(s *sock.State) int64 { return s.Drops }},
	}
	controlColumns = []socketColumn{
		{"rtt_ns", true, func(s *sock.State) int64 { return s.RTTNs }},
		{"min_rtt_ns", true, func(s *sock.State) int64 { return s.MinRTTNs }},
		{"retransmits", false, func(s *sock.State) int64 { return s.Retransmits }},
		{"timeouts", false, func(s *sock.State) int64 { return s.Timeouts }},
	}
)

// socketColumn is one figure of a socket.
type socketColumn struct {
	name  string
	gauge bool
	of    func(*sock.State) int64
}

// Watch are the sources of this side's connections for the series of its host: what the kernel
// knows of the first [mostWatched] streams of each direction, at the sender and the receiver.
// The connections stay the caller's, who may close them at any time.
func (c Conns) Watch(side Side, o measure.Options) (all []series.Source) {
	conns := c.List()
	for i, d := range o.Direction.Flows() {
		columns := receiverColumns
		if side.sends(d) {
			columns = senderColumns
		}
		for s := range min(o.Streams, mostWatched) {
			if n := i*o.Streams + s; n < len(conns) {
				all = append(all, watch(conns[n], string(d)+"."+strconv.Itoa(s)+".", columns))
			}
		}
	}
	return all
}

// WatchControl is the source of a control connection.
func WatchControl(c net.Conn) series.Source { return watch(c, "control.", controlColumns) }

func watch(c net.Conn, prefix string, columns []socketColumn) series.Source {
	socket, is := c.(syscall.Conn)
	if !is {
		return series.Source{}
	}
	reader := sock.NewStateReader(socket)
	if reader == nil {
		return series.Source{}
	}
	s := series.Source{}
	for _, column := range columns {
		s.Columns = append(s.Columns, series.Column{Key: prefix + column.name, Gauge: column.gauge})
	}
	var state sock.State
	s.Read = func(row []int64) {
		if !reader.Read(&state) {
			return
		}
		for i := range columns {
			if v := columns[i].of(&state); v != sock.NotKnown {
				row[i] = v
			}
		}
	}
	return s
}
