package iperf3

import (
	"net"
	"net/netip"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/iperf3"
)

// testOf is the test that these parameters request.
func testOf(p iperf3.Parameters, interval float64) Test {
	return Test{
		UDP: p.Protocol == "udp", Streams: p.Parallel, Block: int64(p.Length), Omit: p.Omit, Duration: p.Time,
		Bytes: p.Bytes, Blocks: p.Blocks, Reverse: p.Reverse, Bidir: p.Bidirectional, TOS: p.TOS, Rate: p.Bandwidth, FQRate: p.FQRate,
		MSS: p.MSS, Window: int64(p.Window), Interval: interval, GSO: p.GSO, GRO: p.GRO, Title: p.Title, ExtraData: p.ExtraData,
	}
}

// socketNumber is the number of a stream in the output; iperf3 prints its socket
// descriptors, which look the same.
func socketNumber(index int) int { return 5 + 2*index }

func addressOf(a netip.AddrPort) Address {
	return Address{a.Addr().WithZone("").String(), int(a.Port())}
}

// ends are the data connections of a test as one end has them.
type ends struct {
	role          string
	sockets       []int // one element a stream, forward first
	connected     []Connected
	send, receive int    // socket buffers, bytes
	congestion    string // congestion control
}

// newEnds reads the properties of the connections when a test starts.
func newEnds(role string, test Test, ex iperf3.Exchange, conns []net.Conn) ends {
	e := ends{role: role}
	for i, s := range ex.Streams {
		number := socketNumber(i)
		e.sockets = append(e.sockets, number)
		e.connected = append(e.connected, Connected{number, addressOf(s.Local), addressOf(s.Remote)})
	}
	if len(conns) == 0 {
		return e
	}
	e.send, e.receive, _ = sock.Buffers(conns[0])
	if t, ok := conns[0].(*net.TCPConn); ok && !test.UDP {
		info, _ := sock.TCPInfo(t)
		e.congestion = info.Congestion
	}
	return e
}

// ended returns what both ends counted, if anything.
func (c *client) ended(r *measure.Result) {
	if c.collector == nil {
		return
	}
	ex := c.exchanger.Exchange()
	own, far := seconds(ex.Own), seconds(ex.Far)-ex.Pause.Seconds()
	if own == 0 && len(r.Flows) > 0 {
		own = lastSample(r.Flows[0])
	}
	c.collector.finish(own)
	if len(r.Flows) == 0 {
		return
	}
	e := End{OwnCongestion: c.ends.congestion, File: c.kept()}
	if far <= 0 {
		far = own
	}
	e.OwnSeconds, e.SenderSeconds, e.ReceiverSeconds = own, own, far
	if c.collector.test.Reverse {
		e.SenderSeconds, e.ReceiverSeconds = far, own
	}
	for _, f := range r.Flows {
		for i, s := range f.Streams {
			var far *iperf3.StreamResult
			if n := c.collector.first(f.Direction) + i; ex.Far != nil && n < len(ex.Streams) {
				far = ex.Far.Stream(ex.Streams[n].ID)
			}
			e.add(c.collector, f.Direction, i, s, far)
		}
	}
	e.Host = costs(r.Hosts.Client)
	if ex.Far != nil {
		e.Remote = CPU{ex.Far.CPUTotal, ex.Far.CPUUser, ex.Far.CPUSystem}
		e.PeerCongestion = ex.Far.CongestionUsed
		e.PeerRetransmits = ex.Far.SenderHasRetransmits == 1
		if c.set.GetServerOutput { // iperf3's server sends it to later clients, too, once one asked for it
			e.ServerText, e.ServerJSON = ex.Far.ServerOutputText, ex.Far.ServerOutputJSON
		}
	}
	c.writer.End(e)
}

// seconds is how long the first stream moved bytes.
func seconds(r *iperf3.Results) float64 {
	if r == nil || len(r.Streams) == 0 {
		return 0
	}
	return max(0, r.Streams[0].EndTime-r.Streams[0].StartTime)
}

func lastSample(f measure.Flow) float64 {
	if n := len(f.Samples); n > 0 {
		return float64(f.Samples[n-1].EndNs) / 1e9
	}
	return 0
}

// ofServer is the end of a test at the server, which does not have the client's results
// yet when it prints.
func (n ends) ofServer(end *measure.End, own *iperf3.Results, c *collector) End {
	e := End{OwnCongestion: n.congestion, Host: costs(end.Host)}
	e.OwnSeconds = seconds(own)
	if e.OwnSeconds == 0 && len(end.Flows) > 0 {
		e.OwnSeconds = float64(end.Flows[0].DurationNs) / 1e9
	}
	e.SenderSeconds, e.ReceiverSeconds = e.OwnSeconds, e.OwnSeconds
	for _, f := range end.Flows {
		for i, s := range f.Streams {
			e.add(c, f.Direction, i, s, nil)
		}
	}
	return e
}

// add adds the outcome of one stream; far is the other end's report of it.
func (e *End) add(c *collector, d measure.Direction, index int, s measure.Stream, far *iperf3.StreamResult) {
	n := c.first(d) + index
	if n >= len(c.sockets) {
		return
	}
	k := &c.tracks[n]
	out := StreamEnd{
		Socket: c.sockets[n], Sender: (d == measure.Forward) == (c.role == Client), SentBytes: s.SentBytes, ReceivedBytes: s.ReceivedBytes,
		Reorder: k.last.Reorder, MaxCwnd: k.maxCwnd, MaxWindow: k.maxWindow, MaxRTT: k.maxRTT, MinRTT: k.minRTT, MeanRTT: k.mean(),
	}
	if s.TCP != nil && out.Sender {
		e.OwnRetransmits = true
	}
	if s.TCP != nil {
		out.Retransmits = s.TCP.Retransmits
	}
	datagrams(&out, s.Packets, far)
	e.Streams = append(e.Streams, out)
}

// datagrams fills in the counts of UDP: own are this end's, far the other end's.
func datagrams(out *StreamEnd, own *measure.PacketCount, far *iperf3.StreamResult) {
	if own == nil {
		return
	}
	out.JitterMs = own.JitterNs / 1e6
	if !out.Sender {
		out.PacketsReceived, out.Lost, out.OutOfOrder = own.Received+own.Lost, own.Lost, own.Reordered
		if far != nil {
			out.PacketsSent = max(0, far.Packets-far.OmittedPackets)
		}
		return
	}
	out.PacketsSent = own.Sent
	if far != nil {
		out.PacketsReceived, out.Lost = max(0, far.Packets-far.OmittedPackets), max(0, far.Errors-far.OmittedErrors)
	}
}

// costs are the processor shares that the test used on a host, of one processor.
func costs(h *measure.Host) CPU {
	if h == nil || h.Counters == nil || h.Counters.WallNs <= 0 {
		return CPU{}
	}
	wall := float64(h.Counters.WallNs) / 100
	c := CPU{User: float64(h.Counters.ProcessUserNs) / wall, System: float64(h.Counters.ProcessSysNs) / wall}
	c.Total = c.User + c.System
	return c
}
