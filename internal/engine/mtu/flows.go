package mtu

import (
	"context"
	"slices"

	"soku/internal/engine/probe"
	"soku/internal/measure"
)

// searchFlows finds the path MTU of every flow, one after the other, and returns the smallest, or
// nil if none was found.
func searchFlows(ctx context.Context, first *finder, flows int) (*measure.PathMTU, error) {
	done := []*finder{first}
	err := first.find(ctx)
	for len(done) < flows && err == nil {
		f := first.following(len(done), done)
		err = f.find(ctx)
		if measure.KindOf(err) == measure.KindUnreachable {
			err = nil // the other flows may get through
		}
		done = append(done, f)
	}
	smallest := first
	for _, f := range done {
		if f.out.Bytes > 0 && (smallest.out.Bytes == 0 || f.out.Bytes < smallest.out.Bytes) {
			smallest = f
		}
	}
	if smallest.out.Bytes == 0 {
		return nil, err
	}
	out := smallest.out
	if flows > 1 {
		for _, f := range done {
			out.Flows = append(out.Flows, f.flowOut())
		}
		out.Reports = reportsOf(done)
	}
	return out, err
}

// find searches for the size and for the hop that limits it.
func (f *finder) find(ctx context.Context) error {
	if err := f.search(ctx); err != nil || f.out.FailedBytes == 0 || f.local {
		return err
	}
	f.confirm()
	if f.placed(ctx) {
		return nil
	}
	return f.locate(ctx)
}

// following returns the search of another flow. The sizes found before are tried first.
func (f *finder) following(index int, done []*finder) *finder {
	out := &measure.PathMTU{
		Probe: f.out.Probe, Timing: f.out.Timing, Port: f.out.Port, Limit: measure.LimitUnknown, InterfaceBytes: f.out.InterfaceBytes,
		RouteBytes: f.out.RouteBytes, RouteLocked: f.out.RouteLocked, Sizes: []measure.MTUSize{},
	}
	next := &finder{asker: f.asker, view: f.view, out: out, flow: index, flows: f.flows}
	for _, earlier := range slices.Backward(done) {
		if size := earlier.out.Bytes; size > 0 && !slices.Contains(next.sizes, size) {
			next.sizes = append(next.sizes, size)
		}
		if earlier.out.Limit == measure.LimitReported && !slices.ContainsFunc(next.places, earlier.sameReport) {
			next.places = append(next.places, earlier)
		}
	}
	return next
}

// reported returns the report that probes confirm, nil if there is none.
func (f *finder) reported() *measure.MTUReport {
	i := slices.IndexFunc(f.out.Reports, func(r measure.MTUReport) bool { return r.Confirmed })
	if i < 0 {
		return nil
	}
	return &f.out.Reports[i]
}

func (f *finder) sameReport(o *finder) bool {
	a, b := f.reported(), o.reported()
	return a != nil && b != nil && *a == *b
}

// placed reports whether an earlier flow was limited by the same report, so that the hop is
// known. Only the next one is asked for: it tells branches apart.
func (f *finder) placed(ctx context.Context) bool {
	i := slices.IndexFunc(f.places, f.sameReport)
	if i < 0 {
		return false
	}
	after := *f.places[i].out.After
	f.out.Limit, f.out.After = measure.LimitReported, &after
	f.show(f.smallest(), after.Hop+1)
	if r, err := f.ask(ctx, f.smallest(), after.Hop+1); err == nil && r.kind != probe.Nothing {
		f.out.Before = &measure.MTUHop{Hop: after.Hop + 1, Address: r.from.String()}
	}
	return ctx.Err() == nil
}

func (f *finder) flowOut() measure.MTUFlow {
	return measure.MTUFlow{
		Index: f.flow, Port: f.prober.Port(f.flow), Bytes: f.out.Bytes, FailedBytes: f.out.FailedBytes,
		Limit: f.out.Limit, After: f.out.After, Before: f.out.Before,
	}
}

// reportsOf returns the reports about all flows. One that probes of any flow confirm is
// confirmed.
func reportsOf(done []*finder) (all []measure.MTUReport) {
	for _, f := range done {
		for _, r := range f.out.Reports {
			i := slices.IndexFunc(all, func(o measure.MTUReport) bool { return o.Address == r.Address && o.Bytes == r.Bytes })
			switch {
			case i >= 0:
				all[i].Confirmed = all[i].Confirmed || r.Confirmed
			case len(all) < mostReports:
				all = append(all, r)
			}
		}
	}
	return all
}
