package mtu

import (
	"context"
	"net"
	"net/netip"

	"soku/internal/engine/probe"
	"soku/internal/measure"
)

const (
	// smallIPv4 and smallIPv6 are sizes that every path carries: for IPv4 68 (RFC 791),
	// for IPv6 enough for a probe. It is below the 1280 bytes that an IPv6 path must
	// carry, so that a path that does not is found.
	smallIPv4, smallIPv6 = 68, 100
	// largest is the maximum of the length field in an IPv4 header.
	largest = 65535
	// fallback is the first size if the interface is not known.
	fallback = 1500
	// mostReports is how many reports are kept: they may be forged.
	mostReports = 32
	// toTarget is the hop limit of probes to the target.
	toTarget = 255
)

// Run finds the path MTU to target of o.Flows flows, one after the other; the result is that
// of the smallest. A size counts as too large if o.Count packets of it, or two if a node on
// the path reports it, get no answer. o is effective. view, which may be nil, is called with
// each size and each hop before it is probed, and must return within a few milliseconds.
//
// An error comes from [probe.Open], has kind [measure.KindUnreachable] if the target does not
// answer small packets or [measure.KindBroken] if the system stops sending or receiving,
// or is the cause of ctx, whose end is noticed within 100 ms. The result until then is
// returned with the error, or nil without one.
func Run(ctx context.Context, target netip.Addr, o measure.Options, view func(measure.MTUStep)) (*measure.PathMTU, error) {
	target = target.Unmap()
	p, err := probe.Open(probe.Config{What: "mtu", Target: target, Options: o, Flows: o.Flows})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	timing := p.Timing()
	f := &finder{
		asker: &asker{prober: p, target: target, o: o, answerTimeout: o.Timeout.Std()},
		view:  view, flows: o.Flows,
		out: &measure.PathMTU{
			Probe: probe.OptionsOf(o).Probe, Timing: &timing, Port: o.Port, Limit: measure.LimitUnknown,
			InterfaceBytes: interfaceMTU(p.Local(), o.Device), Sizes: []measure.MTUSize{},
		},
	}
	f.out.RouteBytes, f.out.RouteLocked = routeMTU(target, o)
	return searchFlows(ctx, f, o.Flows)
}

// interfaceMTU returns the MTU of the interface with the local address, or of the named
// one.
func interfaceMTU(local netip.Addr, device string) int {
	if i, err := net.InterfaceByName(device); err == nil {
		return min(i.MTU, largest)
	}
	all, err := net.Interfaces()
	if err != nil {
		return fallback
	}
	for _, i := range all {
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(local.AsSlice()) {
				return min(i.MTU, largest)
			}
		}
	}
	return fallback
}

// finder is one run; one goroutine uses it.
type finder struct {
	*asker
	flow   int                   // 0 is searched for first
	flows  int                   // all of them
	view   func(measure.MTUStep) // may be nil
	out    *measure.PathMTU
	hints  []int     // sizes reported by nodes on the path, not tried yet
	sizes  []int     // path MTUs of earlier flows, not tried yet
	places []*finder // earlier flows, one for each report that limits them
	local  bool      // this host refused the smallest size that failed
}

// search halves the interval of sizes. Packets of out.Bytes have always arrived.
func (f *finder) search(ctx context.Context) error {
	f.asker.flow = f.flow
	size := f.smallest()
	if f.flow > 0 {
		size = f.first() // the target is known to answer
	}
	for size > f.out.Bytes {
		ok, err := f.size(ctx, size)
		switch {
		case err != nil:
			return err
		case !ok && size == f.smallest():
			return f.noAnswer(size)
		case ok:
			f.answerTimeout = f.timeout()
		}
		if f.out.FailedBytes == 0 {
			size = f.first()
		} else {
			size = f.next()
		}
	}
	if f.out.FailedBytes == 0 || f.local {
		f.out.Limit = measure.LimitInterface
	}
	return nil
}

// smallest returns a size that every path carries.
func (f *finder) smallest() int {
	if f.target.Is6() {
		return smallIPv6
	}
	return smallIPv4
}

// first returns the largest packet that the programs of this host send to the target: probes
// pass over the MTU of a route, and others do not.
func (f *finder) first() int {
	if route := f.out.RouteBytes; route > 0 {
		return min(f.out.InterfaceBytes, route)
	}
	return f.out.InterfaceBytes
}

func (f *finder) noAnswer(small int) error {
	target, kind := f.target.String(), probe.OptionsOf(f.o).Probe
	if f.blocked.Reason == "" {
		return measure.Fail(measure.KindUnreachable, "mtu.no_answer", measure.Figures{"target": target, "size_bytes": small, "probe": kind})
	}
	return measure.Fail(measure.KindUnreachable, "mtu.reported", measure.Figures{
		"target": target, "size_bytes": small, "probe": kind, "reason": f.blocked.Reason, "reporter": f.blocked.From.String(),
	})
}

// next returns the size to try, or 0 if there is none between the largest that arrived
// and the smallest that did not.
func (f *finder) next() int {
	lo, hi := f.out.Bytes, f.out.FailedBytes
	if hi == 0 || hi-lo <= 1 {
		return 0
	}
	for _, hints := range []*[]int{&f.hints, &f.sizes} {
		for len(*hints) > 0 {
			hint := (*hints)[0]
			// A reported size is right if it arrives and one byte more does not.
			switch {
			case hint > lo && hint < hi:
				return hint
			case hint == lo && lo+1 < hi:
				*hints = (*hints)[1:]
				return lo + 1
			}
			*hints = (*hints)[1:]
		}
	}
	if lo == 0 {
		return f.smallest()
	}
	return lo + (hi-lo)/2
}

// size tries one size and stores the outcome.
func (f *finder) size(ctx context.Context, bytes int) (ok bool, err error) {
	f.show(bytes, 0)
	r, err := f.ask(ctx, bytes, toTarget)
	if err != nil {
		return false, err
	}
	ok = r.kind == probe.Arrived
	tried := measure.MTUSize{Bytes: bytes, Sent: r.sent, Answered: ok, Local: r.local}
	if ok {
		tried.RTTNs = float64(r.rtt)
		f.out.Bytes = bytes
	} else {
		f.out.FailedBytes, f.local = bytes, r.local
	}
	for _, reported := range r.reports {
		tried.Reported = reported.Bytes
		f.report(reported)
	}
	f.out.Sizes = append(f.out.Sizes, tried)
	return ok, nil
}

// show reports what is probed next.
func (f *finder) show(bytes, hop int) {
	if f.view != nil {
		step := measure.MTUStep{Asking: bytes, Hop: hop, Passed: f.out.Bytes, Failed: f.out.FailedBytes}
		if f.flows > 1 {
			step.Flow, step.Flows = f.flow, f.flows
		}
		f.view(step)
	}
}

// report stores what a node reported about sizes.
func (f *finder) report(r measure.MTUReport) {
	for _, known := range f.out.Reports {
		if known.Address == r.Address && known.Bytes == r.Bytes {
			return
		}
	}
	if len(f.out.Reports) < mostReports {
		f.out.Reports = append(f.out.Reports, r)
		f.hints = append(f.hints, r.Bytes)
	}
}
