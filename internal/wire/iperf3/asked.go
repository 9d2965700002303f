package iperf3

import (
	"cmp"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/wire"
)

// ParametersFor are the parameters for the test of a request. An option that iperf3 does
// not support is an error of kind usage.
func ParametersFor(r wire.Request) (*Parameters, error) {
	o, x := r.Options, r.IPerf3
	if err := fits(r); err != nil {
		return nil, err
	}
	settings := sock.FromOptions(o)
	p := &Parameters{
		Protocol: string(r.Test), Omit: int(o.Omit.Std() / time.Second), Parallel: o.Streams,
		Time:    int((o.Duration.Std() + time.Second - 1) / time.Second), // this end ends the test, to the nanosecond
		Reverse: o.Direction == measure.Reverse, Bidirectional: o.Direction == measure.Bidirectional,
		MSS: settings.MSS, NoDelay: settings.NoDelay, MPTCP: o.Multipath, Window: int(o.Window), Length: lengthOf(r),
		Bandwidth: int64(o.Rate) / int64(o.Streams), FQRate: x.FQRate, PacingTimer: max(0, cmp.Or(x.PacingTimer, DefaultPacingTimer)), Burst: o.Burst,
		TOS: o.TOS, Title: x.Title, ExtraData: x.ExtraData, Congestion: o.Congestion,
		GetServerOutput: x.GetServerOutput, RepeatPayload: x.RepeatPayload, DontFragment: settings.NoFragment, FlowLabel: o.FlowLabel,
		SkipRXCopy: x.SkipRXCopy || o.RX == "discard", ClientVersion: x.ClientVersion,
	}
	switch {
	case x.Blocks > 0:
		p.Blocks, p.Time = x.Blocks, 0
	case x.Endless:
		p.Time = 0
	case o.Bytes > 0:
		p.Bytes, p.Time = int64(o.Bytes), 0
	}
	if x.ZeroCopy || o.TX == "zerocopy" || o.TX == "sendfile" || o.TX == "splice" {
		p.ZeroCopy = 1
	}
	if r.Test == measure.TestUDP {
		p.Counters64 = !x.Counters32
		p.GSO, p.GRO = o.TX == "gso", o.RX == "gro"
		p.fitOffload()
	}
	if _, server, _ := option.ParsePin(o.Pin); len(server.CPUs) == 1 { // which was checked
		p.ServerAffinity = &server.CPUs[0]
	}
	if x.Key != nil {
		token, err := Token(x.User, x.Password, x.Key, x.PKCS1, time.Now())
		if err != nil {
			return nil, measure.Fail(measure.KindUsage, "iperf3.user", measure.Figures{"user": x.User, "cause": err})
		}
		p.AuthToken = token
	}
	return p, nil
}

// DefaultPacingTimer is the pacing timer that clients of iperf3 request by default,
// microseconds.
const DefaultPacingTimer = 1000

// mostSegments is how many datagrams Linux takes at a time, and so iperf3.
const mostSegments = 128

// fitOffload sets the sizes for segmentation offload of datagrams of p.Length.
func (p *Parameters) fitOffload() {
	p.GSODatagram, p.GSOBuf, p.GROBuf = 0, MaxUDPLength, MaxUDPLength
	if p.GSO && p.Length > 0 {
		p.GSODatagram, p.GSOBuf = p.Length, min(MaxUDPLength/p.Length, mostSegments)*p.Length
	}
}

// usualLength is iperf3's default size of a read or write, bytes. Versions since 3.16 do
// not count a short last read, so a larger size would lose bytes.
const usualLength = 128 << 10

func lengthOf(r wire.Request) int {
	switch {
	case r.Test == measure.TestUDP:
		return int(r.Options.Size)
	case r.IPerf3.Length > 0:
		return r.IPerf3.Length
	}
	return min(int(cmp.Or(r.Options.Length, option.UsualLength(r.Options.Streams))), usualLength)
}

// wholeWrites rounds an amount up to whole writes, as iperf3 does.
func wholeWrites(o measure.Options, length int) measure.Options {
	if over := int64(o.Bytes) % int64(length); o.Bytes > 0 && over > 0 {
		o.Bytes += measure.Size(int64(length) - over)
	}
	return o
}

// fits returns an error if iperf3 does not support the request.
func fits(r wire.Request) error {
	o, x := r.Options, r.IPerf3
	_, server, err := option.ParsePin(o.Pin)
	if err != nil {
		return err
	}
	fail := func(code string, figures measure.Figures) error {
		return measure.Fail(measure.KindUsage, code, figures)
	}
	switch {
	case r.Test != measure.TestTCP && r.Test != measure.TestUDP:
		return fail("iperf3.unsupported.test", measure.Figures{"test": r.Test})
	case r.TLS != nil || r.Token != "":
		return fail("iperf3.unsupported.tls", nil)
	case o.Streams > MaxStreams:
		return fail("iperf3.unsupported.streams", measure.Figures{"streams": o.Streams, "most": MaxStreams})
	case o.Omit.Std()%time.Second != 0 || o.Omit.Std() > MaxOmit*time.Second:
		return fail("iperf3.unsupported.omit", measure.Figures{"most": MaxOmit, "omit_ns": o.Omit})
	case o.Duration.Std() > MaxTime*time.Second:
		return fail("iperf3.unsupported.duration", measure.Figures{"duration_ns": o.Duration})
	case o.Window > MaxWindow:
		return fail("iperf3.unsupported.window", measure.Figures{"most_bytes": MaxWindow})
	case sock.FromOptions(o).MSS > MaxMSS:
		return fail("iperf3.unsupported.mss", measure.Figures{"most_bytes": MaxMSS})
	case r.Test == measure.TestUDP && (o.Size < MinUDPLength || o.Size > MaxUDPLength):
		return fail("iperf3.unsupported.size", measure.Figures{"least_bytes": MinUDPLength, "most_bytes": MaxUDPLength, "size_bytes": o.Size})
	case len(server.CPUs) > 1:
		return fail("iperf3.unsupported.pin", measure.Figures{"processors": len(server.CPUs)})
	case x.Length < 0 || x.Length > MaxTCPLength:
		return fail("iperf3.unsupported.length", measure.Figures{"most_bytes": MaxTCPLength})
	case x.ClientPort < 0 || x.ClientPort > 0 && x.ClientPort+portsOf(o) > 1<<16:
		return fail("iperf3.unsupported.ports", measure.Figures{"ports": portsOf(o), "port": x.ClientPort})
	case x.User != "" && x.Key == nil:
		return fail("iperf3.unsupported.key", nil)
	case len(x.Title) > maxText || len(x.ExtraData) > maxText:
		return fail("iperf3.unsupported.title", measure.Figures{"most_bytes": maxText})
	}
	return nil
}

// portsOf is the number of local ports of a test, one per stream.
func portsOf(o measure.Options) int { return o.Streams * len(o.Direction.Flows()) }

func notIperf3() error { return fail("iperf3.message.unexpected", nil) }
