package ethr

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/text"
)

const (
	routeHops = 30
	// discoverTimeout is the timeout of a hop's answer while the path is discovered.
	discoverTimeout = 2 * time.Second
	// routeRounds is practically without end.
	routeRounds = 1_000_000_000
)

// errPrinted is a failure whose message was already printed.
var errPrinted = errors.New("printed already")

// tracer has the signature of Run in engine/trace.
type tracer func(ctx context.Context, target netip.Addr, o measure.Options, view func(*measure.Trace)) (*measure.Trace, *measure.Latency, error)

// route discovers the hops of the path and prints a line for each; with -t mtr it then
// probes all of them repeatedly and prints a table each second.
func (t *test) route(ctx context.Context) error {
	reached, err := t.discover(ctx)
	switch {
	case err != nil:
		return err
	case !reached:
		what := "TCP connection"
		if t.Protocol == "ICMP" {
			what = "ICMP Echo"
		}
		t.out.sayError("Destination %s is not responding to %s.", t.addr.Addr(), what)
		t.out.sayError("Terminating tracing...")
		return errPrinted
	case t.Test == "tr":
		return nil
	}
	return t.watch(ctx)
}

// routeOptions are the options of the trace engine.
func (t *test) routeOptions() measure.Options {
	o := option.Defaults(measure.TestTrace)
	o.Own = probe.Options{Probe: strings.ToLower(t.Protocol), MaxHops: routeHops}
	o.Port, o.Bind, o.TOS = 0, t.o.Bind, t.o.TOS
	if t.Protocol == "TCP" {
		o.Port = t.Port
	}
	o.Count, o.Timeout, o.Interval = 1, measure.Duration(discoverTimeout), measure.Duration(t.Gap)
	return o
}

// tracing runs the engine and calls seen with its state. If seen is slow, as a reverse DNS
// lookup may be, it gets the newest state only.
func (t *test) tracing(ctx context.Context, o measure.Options, seen func(*measure.Trace)) (*measure.Trace, error) {
	views := make(chan *measure.Trace, 1)
	var last *measure.Trace
	var err error
	go func() {
		defer close(views)
		last, _, err = t.ask(ctx, t.addr.Addr(), o, func(v *measure.Trace) {
			select {
			case <-views:
			default:
			}
			views <- v
		})
	}()
	for v := range views {
		seen(v)
	}
	return last, err
}

// discover probes each hop once and prints it when it and all hops before it are known.
func (t *test) discover(ctx context.Context) (reached bool, err error) {
	t.out.say("Tracing route to %s over %d hops:", t.addr.Addr(), routeHops)
	printed := 0
	lines := func(v *measure.Trace) {
		for _, h := range known(v, printed) {
			t.hop(ctx, h)
			printed++
		}
	}
	last, err := t.tracing(ctx, t.routeOptions(), lines)
	if last == nil {
		if measure.KindOf(err) == measure.KindPermission {
			err = measure.AsError(err, measure.KindPermission).WithHintCode("dropin.ethr.route", nil)
		}
		return false, err
	}
	lines(last)
	t.out.debug("%s probes: %s; %d sent, %d ICMP messages were about other packets", t.Protocol, text.ForPrograms().Timing(last.ProbeTiming()), last.Sent, last.Foreign)
	return last.Reached, err
}

// known are the hops not yet printed that have answered or timed out, as have all hops
// before them.
func known(v *measure.Trace, printed int) []measure.TraceHop {
	end := min(printed, len(v.Hops)) // the path may be shorter than assumed
	from := end
	for end < len(v.Hops) && v.Hops[end].Sent > 0 {
		end++
	}
	return v.Hops[from:end]
}

// hop prints a hop after its first probe.
func (t *test) hop(ctx context.Context, h measure.TraceHop) {
	if len(h.Nodes) == 0 {
		t.out.say("%2d.|--???", h.Hop)
		return
	}
	n := h.Nodes[0]
	name := n.Address + " [" + host.Names(ctx, []string{n.Address})[n.Address] + "]"
	if t.Test == "mtr" {
		t.out.say("%2d.|--%s", h.Hop, name)
	} else {
		t.out.say("%2d.|--%-70s %s", h.Hop, name, duration(time.Duration(n.LastNs)))
	}
	if n.Reason != "" {
		t.out.debug("%s lets it go no further: %s", n.Address, n.Reason)
	}
}

// watch probes all hops at the interval of -g, and prints their figures each second and at
// the end.
func (t *test) watch(ctx context.Context) error {
	o := t.routeOptions()
	o.Count = routeRounds
	if t.Protocol == "ICMP" {
		o.Timeout = measure.Duration(pingTimeout)
	}
	begun := time.Now()
	tables := 0
	last, err := t.tracing(ctx, o, func(v *measure.Trace) {
		if time.Since(begun) >= time.Duration(tables+1)*time.Second {
			tables++
			t.hopTable(v)
		}
	})
	if last != nil {
		t.hopTable(last)
	}
	return err
}

// hopTable prints the figures of each hop.
func (t *test) hopTable(v *measure.Trace) {
	t.out.say("%s", strings.Repeat("- ", 54))
	t.out.say("Host: %-40s    Sent    Recv        Last         Avg        Best        Wrst", t.addr.Addr())
	for _, h := range v.Hops {
		if len(h.Nodes) == 0 {
			t.out.say("%2d.|--%-40s   %5s   %5s   %9s   %9s   %9s   %9s", h.Hop, "???", "-", "-", "-", "-", "-", "-")
			continue
		}
		n := h.Nodes[0]
		at := func(ns float64) string { return duration(time.Duration(ns)) }
		t.out.say("%2d.|--%-40s   %5d   %5d   %9s   %9s   %9s   %9s", h.Hop, n.Address, h.Sent, n.Received,
			at(n.LastNs), at(n.MeanNs), at(n.MinNs), at(n.MaxNs))
	}
}
