package iperf3

import (
	"cmp"
	"math"
	"slices"
	"time"

	"soku/internal/engine/tcp"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
)

// permit holds what a client asks to the limits of this server as iperf3's own
// server does, which refuses what it does not allow, and returns the options of this
// end's engines. The client decides when the test is over, so they have no time.
func (h *handler) permit(p *wire.Parameters, now time.Time) (measure.Options, error) {
	var o measure.Options
	if h.cfg.Users != nil {
		user, err := h.cfg.Users.Check(p.AuthToken, now)
		if err != nil {
			return o, &refusal{wire.CodeAuthorization, err}
		}
		h.Log().Info("a client of iperf3 proved its user", "user", user)
	}
	seconds := measure.Duration(time.Duration(p.Omit+p.Time) * time.Second)
	asked := measure.Rate(min(max(p.Bandwidth, p.FQRate), 1<<50) * int64(p.Streams()))
	switch limits := h.Limits(); {
	case p.Protocol == "sctp":
		return o, fail(wire.CodeNoSCTP, "server.iperf3.sctp", nil)
	case limits.MaxDuration > 0 && (seconds > limits.MaxDuration || p.Time == 0 && !h.cfg.EndsAmounts):
		return o, fail(wire.CodeMaxDuration, "server.iperf3.max_duration", measure.Figures{"duration_ns": seconds, "limit_ns": limits.MaxDuration})
	case limits.MaxRate > 0 && asked > limits.MaxRate:
		return o, fail(wire.CodeTotalRate, "server.iperf3.max_rate", measure.Figures{"rate_bps": asked, "limit_bps": limits.MaxRate})
	}
	if files := h.cfg.Files; p.Protocol == "udp" && (files.Source != nil || files.Sink != nil) {
		return o, fail(wire.CodeFileOverUDP, "server.iperf3.file", nil)
	}
	return optionsOf(p)
}

// amountOf is how many bytes the server sends in a test of an amount, in whole blocks as
// iperf3's server does; 0 is until the client ends the test. At a rate, datagrams go on until
// then, so that those that were lost hold nothing up; after an omitted start, whose end
// differs at both ends, so does everything.
func amountOf(p *wire.Parameters) measure.Size {
	if !p.ServerSends() || p.Omit > 0 || p.Protocol == "udp" && p.Bandwidth > 0 {
		return 0
	}
	block := int64(p.Length)
	if p.Protocol == "udp" && block == 0 {
		block = defaultDatagram
	}
	blocks := p.Blocks
	if p.Bytes > 0 {
		blocks = (p.Bytes-1)/block + 1
	}
	return measure.Size(min(blocks, math.MaxInt64/block) * block)
}

// defaultDatagram is the size of datagrams where the client leaves it to the server.
const defaultDatagram = 1460

// optionsOf are the options of this end of a test.
func optionsOf(p *wire.Parameters) (measure.Options, error) {
	o := measure.Options{
		Omit: measure.Duration(time.Duration(p.Omit) * time.Second), Interval: measure.Duration(time.Second),
		Direction: measure.Forward, Streams: p.Parallel, Rate: measure.Rate(min(p.Bandwidth, 1<<50) * int64(p.Parallel)),
		Window: measure.Size(p.Window), TOS: p.TOS,
	}
	switch {
	case p.Bidirectional:
		o.Direction = measure.Bidirectional
	case p.Reverse:
		o.Direction = measure.Reverse
	}
	if p.ServerAffinity != nil {
		if _, err := sock.NewPins(option.Pinning{On: true, CPUs: []int{*p.ServerAffinity}}); err != nil {
			return o, fail(wire.CodeAffinity, "server.iperf3.processor", measure.Figures{"processor": *p.ServerAffinity, "cause": err})
		}
	}
	if o.Rate > 0 {
		o.Burst = p.Burst
	}
	if p.Protocol == "udp" {
		o.TX, o.RX, o.Own = "auto", "auto", udp.Options{NoFragment: p.DontFragment}
		o.Size = measure.Size(p.Length)
		o.Size = cmp.Or(o.Size, defaultDatagram)
		return o, nil
	}
	o.Length, o.Own = measure.Size(p.Length), tcp.Options{NoDelay: p.NoDelay}
	o.Congestion = p.Congestion  // also where this end only receives: it reports what its connections have
	o.TX, o.RX = "write", "read" // the client's figures are compared with those of other servers, which copy
	if p.ZeroCopy != 0 && p.ServerSends() {
		if !slices.Contains(sock.WriterPaths(), "sendfile") {
			return o, fail(wire.CodeNoSendfile, "server.iperf3.sendfile", nil)
		}
		o.TX = "sendfile"
	}
	if p.SkipRXCopy && !p.MPTCP && slices.Contains(sock.ReaderPaths(), "discard") {
		o.RX = "discard"
	}
	return o, nil
}
