package iperf3

import (
	"net/netip"

	"soku/internal/measure"
	"soku/internal/wire/iperf3"
)

// testOf is the test that these parameters ask for.
func testOf(p iperf3.Parameters, interval float64) Test {
	return Test{
		UDP: p.Protocol == "udp", Streams: p.Parallel, Block: int64(p.Length), Omit: p.Omit, Duration: p.Time,
		Bytes: p.Bytes, Blocks: p.Blocks, Reverse: p.Reverse, Bidir: p.Bidirectional, TOS: p.TOS, Rate: p.Bandwidth,
		MSS: p.MSS, Window: int64(p.Window), Interval: interval, GSO: p.GSO, GRO: p.GRO, Title: p.Title, ExtraData: p.ExtraData,
	}
}

// socketNumber is how a stream is called in what is printed; iperf3 has the numbers
// of its sockets there, which are alike.
func socketNumber(index int) int { return 5 + 2*index }

func addressOf(a netip.AddrPort) Address {
	return Address{a.Addr().WithZone("").String(), int(a.Port())}
}

// ended tells what both ends counted, where anything was.
func (c *client) ended(r *measure.Result) {
	if c.collector == nil {
		return
	}
	c.collector.finish()
	if len(r.Flows) == 0 {
		return
	}
	ex := c.exchanger.Exchange()
	e := End{}
	own, far := seconds(ex.Own), seconds(ex.Far)
	if own == 0 {
		own = lastSample(r.Flows[0])
	}
	if far == 0 {
		far = own
	}
	e.OwnCongestion = c.congestion
	e.OwnSeconds, e.SenderSeconds, e.ReceiverSeconds = own, own, far
	if c.collector.test.Reverse {
		e.SenderSeconds, e.ReceiverSeconds = far, own
	}
	for _, f := range r.Flows {
		c.flow(&e, f, ex)
	}
	e.costs(r, ex)
	if ex.Far != nil {
		e.PeerRetransmits = ex.Far.SenderHasRetransmits == 1
		e.ServerText, e.ServerJSON = ex.Far.ServerOutputText, ex.Far.ServerOutputJSON
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

// flow adds the streams of one direction.
func (c *client) flow(e *End, f measure.Flow, ex iperf3.Exchange) {
	first := c.collector.first(f.Direction)
	for i, s := range f.Streams {
		if first+i >= len(c.sockets) {
			return
		}
		k := &c.collector.tracks[first+i]
		out := StreamEnd{
			Socket: c.sockets[first+i], Sender: f.Direction == measure.Forward, SentBytes: s.SentBytes, ReceivedBytes: s.ReceivedBytes,
			Reorder: k.reorder, MaxCwnd: k.maxCwnd, MaxWindow: k.maxWindow, MaxRTT: k.maxRTT, MinRTT: k.minRTT, MeanRTT: k.mean(),
		}
		if s.TCP != nil {
			out.Retransmits = s.TCP.Retransmits
			e.OwnRetransmits = e.OwnRetransmits || out.Sender
		}
		var told *iperf3.StreamResult
		if ex.Far != nil && first+i < len(ex.Streams) {
			told = ex.Far.Stream(ex.Streams[first+i].ID)
		}
		datagrams(&out, s.Packets, told)
		e.Streams = append(e.Streams, out)
	}
}

// datagrams fills in the counts of UDP: own are this end's, told the far end's.
func datagrams(out *StreamEnd, own *measure.PacketCount, told *iperf3.StreamResult) {
	if own == nil {
		return
	}
	out.JitterMs = own.JitterNs / 1e6
	if !out.Sender {
		out.PacketsReceived, out.Lost, out.OutOfOrder = own.Received+own.Lost, own.Lost, own.Reordered
		if told != nil {
			out.PacketsSent = max(0, told.Packets-told.OmittedPackets)
		}
		return
	}
	out.PacketsSent = own.Sent
	if told != nil {
		out.PacketsReceived, out.Lost = max(0, told.Packets-told.OmittedPackets), max(0, told.Errors-told.OmittedErrors)
	}
}

// costs fills in what the test took of both ends' processors, and their congestion
// controls.
func (e *End) costs(r *measure.Result, ex iperf3.Exchange) {
	if h := r.Hosts.Client; h != nil && h.Counters != nil && h.Counters.WallNs > 0 {
		wall := float64(h.Counters.WallNs) / 100
		e.Host.User, e.Host.System = float64(h.Counters.ProcessUserNs)/wall, float64(h.Counters.ProcessSysNs)/wall
		e.Host.Total = e.Host.User + e.Host.System
	}
	if ex.Far != nil {
		e.Remote = CPU{ex.Far.CPUTotal, ex.Far.CPUUser, ex.Far.CPUSystem}
		e.PeerCongestion = ex.Far.CongestionUsed
	}
}
