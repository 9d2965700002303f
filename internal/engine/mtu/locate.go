package mtu

import (
	"context"
	"slices"

	"soku/internal/engine/probe"
	"soku/internal/measure"
)

// silence is how many hops in a row may be silent before the search along the path ends.
const silence = 5

// locate finds how far packets that are too large get, and what stops them.
func (f *finder) locate(ctx context.Context) error {
	if err := f.walk(ctx); err != nil {
		return err
	}
	f.confirm()
	f.conclude()
	return nil
}

// walk probes each hop with packets of both sizes.
func (f *finder) walk(ctx context.Context) error {
	silent, maxHops := 0, probe.OptionsOf(f.o).MaxHops
	for hop := 1; hop <= maxHops && silent < silence; hop++ {
		f.show(f.out.FailedBytes, hop)
		small, err := f.ask(ctx, f.smallest(), hop)
		if err != nil {
			return err
		}
		large, err := f.ask(ctx, f.out.FailedBytes, hop)
		if err != nil {
			return err
		}
		seen := measure.MTUHopSeen{Hop: hop, Small: small.kind != probe.Nothing, Large: large.kind != probe.Nothing}
		for _, r := range []reaction{large, small} {
			if r.from.IsValid() {
				seen.Address = r.from.String()
			}
		}
		for _, reported := range large.reports {
			f.report(reported)
		}
		f.out.Hops = append(f.out.Hops, seen)
		if silent++; seen.Small || seen.Large {
			silent = 0
		}
		if small.kind == probe.Arrived {
			break
		}
	}
	for n := len(f.out.Hops); n > 0 && f.out.Hops[n-1].Address == ""; n-- {
		f.out.Hops = f.out.Hops[:n-1]
	}
	return nil
}

// confirm compares what nodes reported with what arrived.
func (f *finder) confirm() {
	for i := range f.out.Reports {
		r := &f.out.Reports[i]
		r.Confirmed = r.Bytes == f.out.Bytes && f.out.FailedBytes == f.out.Bytes+1
	}
}

// conclude names the place where larger packets end.
func (f *finder) conclude() {
	f.out.After = &measure.MTUHop{Hop: 0, Address: f.prober.Local().String()}
	for _, h := range f.out.Hops {
		if h.Large {
			f.out.After = &measure.MTUHop{Hop: h.Hop, Address: h.Address}
		}
	}
	i := slices.IndexFunc(f.out.Hops, func(h measure.MTUHopSeen) bool { return h.Hop > f.out.After.Hop && h.Small })
	if i >= 0 {
		f.out.Before = &measure.MTUHop{Hop: f.out.Hops[i].Hop, Address: f.out.Hops[i].Address}
	}
	for _, r := range f.out.Reports {
		if r.Confirmed || r.Bytes == 0 && r.Address == f.out.After.Address {
			f.out.Limit = measure.LimitReported
			f.out.After = &measure.MTUHop{Hop: f.hopOf(r.Address), Address: r.Address}
			return
		}
	}
	switch {
	case i >= 0:
		f.out.Limit = measure.LimitBlackHole
	default:
		// No hop answered, so the place is unknown.
		f.out.After = nil
	}
}

// hopOf returns the distance of an address, or of the place where larger packets end if
// the address gave no other answer: routers have several addresses.
func (f *finder) hopOf(address string) int {
	for _, h := range f.out.Hops {
		if h.Address == address {
			return h.Hop
		}
	}
	return f.out.After.Hop
}
