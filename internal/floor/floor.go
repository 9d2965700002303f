package floor

import (
	"context"
	"runtime"
	"slices"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/text"
	"soku/internal/trial"
)

// Config configures a measurement.
type Config struct {
	Server  string // host:port on loopback of a server of this build, in another process
	Version string // of this program
	Quick   bool   // about 2 s instead of 7
	// Step is called with what is measured now and how far the measurement is. It may be
	// nil.
	Step func(what text.Line, number, of int)
}

// lengths are how long one trial of each kind runs and how often it is run. The maximum
// of several trials depends less on a single moment.
type lengths struct {
	roundTrip, goodput, packets, sleep time.Duration
	best                               int
}

var (
	full  = lengths{500 * time.Millisecond, 600 * time.Millisecond, 600 * time.Millisecond, 300 * time.Millisecond, 2}
	quick = lengths{150 * time.Millisecond, 250 * time.Millisecond, 250 * time.Millisecond, 100 * time.Millisecond, 1}
)

// Measure runs every mode and returns the floor. A mode that fails leaves a warning and
// no figure. Errors: ctx's cause if it ended; the first failure if every mode failed.
func Measure(ctx context.Context, c Config) (*Document, error) {
	if c.Quick {
		return measureFor(ctx, c, quick)
	}
	return measureFor(ctx, c, full)
}

func measureFor(ctx context.Context, c Config, l lengths) (*Document, error) {
	if c.Step == nil {
		c.Step = func(text.Line, int, int) {}
	}
	begin := time.Now()
	r := run{Config: c, lengths: l, one: trial.Run, modes: available(), steady: "cubic", doc: &Document{
		Schema: Schema,
		Tool:   measure.Tool{Name: "soku", Version: c.Version, GoVersion: runtime.Version()},
	}}
	r.doc.MeasuredAt, r.doc.Quick = begin.UTC(), c.Quick
	r.steps = len(r.modes) + len(sleeps)
	for _, m := range r.modes {
		if err := r.mode(ctx, m); err != nil {
			return nil, err
		}
	}
	if r.failed != nil && len(r.doc.RoundTrips)+len(r.doc.Goodput)+len(r.doc.Packets) == 0 {
		return nil, r.failed
	}
	if err := r.timers(ctx); err != nil {
		return nil, err
	}
	r.doc.warnOfLoad()
	r.doc.TookNs = measure.Duration(time.Since(begin))
	return r.doc, nil
}

// run is one measurement of the floor.
type run struct {
	Config
	lengths
	one    func(context.Context, trial.Spec, trial.Hooks) *measure.Result // [trial.Run]; tests replace it
	modes  []mode
	steps  int
	done   int
	doc    *Document
	failed error  // the first trial that failed
	steady string // congestion control for the most goodput
}

func (r *run) step(what text.Line) {
	r.done++
	r.Step(what, r.done, r.steps)
}

// mode measures one mode. An error ends the whole measurement.
func (r *run) mode(ctx context.Context, m mode) error {
	o, _ := m.options()
	switch m.kind {
	case roundTrips:
		r.step(text.Line{Key: "floor.step.round_trips", Args: text.Args{"Mode": m.name}})
		return r.trial(ctx, m, o, r.roundTrip, func(res *measure.Result) { r.addRoundTrip(m, res) })
	case goodput:
		r.step(text.Line{Key: "floor.step.goodput", Args: text.Args{"Mode": m.name}})
		return r.mostGoodput(ctx, m, o)
	default:
		r.step(text.Line{Key: "floor.step.packets", Args: text.Args{"Size": o.Size, "Mode": m.name}})
		return r.mostPackets(ctx, m, o)
	}
}

// trial runs one trial and passes its result to add if it succeeded.
func (r *run) trial(ctx context.Context, m mode, o measure.Options, length time.Duration, add func(*measure.Result)) error {
	o.Duration = measure.Duration(length)
	res := r.one(ctx, trial.Spec{Test: m.test, Options: o, Host: r.Server, Version: r.Version}, trial.Hooks{})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if res.Hosts.Client != nil && r.doc.Host.OS == "" {
		r.doc.Host = res.Hosts.Client.Facts
	}
	if res.Error == nil {
		add(res)
		return nil
	}
	if r.failed == nil {
		r.failed = res.Error
	}
	r.doc.Findings.Add(finding.BaselineModeFailed, "", measure.Figures{"test": m.test, "mode": m.name, "error": res.Error})
	return nil
}

func (r *run) addRoundTrip(m mode, res *measure.Result) {
	if res.Summary.RTT == nil {
		return
	}
	r.doc.RoundTrips = append(r.doc.RoundTrips, measure.FloorRoundTrip{
		Mode: m.name, Protocol: latency.OptionsOf(res.Options).Protocol, Timing: res.Latency.Timing, RTT: *res.Summary.RTT,
	})
}

// mostGoodput stores the best of several trials. A congestion control that paces limits
// loopback by its model of the path: if the system's default is neither cubic nor reno,
// another is tried first.
func (r *run) mostGoodput(ctx context.Context, m mode, o measure.Options) error {
	var best measure.FloorGoodput
	add := func(res *measure.Result) {
		if g := goodputOf(m, res); g.GoodputBps > best.GoodputBps {
			best = g
		}
	}
	system := r.doc.Host.Congestion
	if system != "" && !slices.Contains([]string{"cubic", "reno"}, system) {
		o.Congestion = r.steady
	}
	for range r.best {
		warned := len(r.doc.Findings)
		if err := r.trial(ctx, m, o, r.goodput, add); err != nil {
			return err
		}
		if len(r.doc.Findings) > warned && o.Congestion != "" && best.GoodputBps == 0 {
			// Not every system has it or lets every user choose it; the entry says which
			// was used.
			r.doc.Findings = r.doc.Findings[:warned]
			o.Congestion = ""
			if err := r.trial(ctx, m, o, r.goodput, add); err != nil {
				return err
			}
		}
	}
	if best.GoodputBps == 0 {
		return nil
	}
	same := func(g measure.FloorGoodput) bool { return g.TXPath == best.TXPath && g.RXPath == best.RXPath }
	if i := slices.IndexFunc(r.doc.Goodput, same); i >= 0 {
		// This build or system has one path for both modes; the result belongs to the
		// mode that names it.
		if r.doc.Goodput[i].GoodputBps > best.GoodputBps {
			best = r.doc.Goodput[i]
		}
		best.Mode = m.name
		r.doc.Goodput = slices.Delete(r.doc.Goodput, i, i+1)
	}
	r.doc.Goodput = append(r.doc.Goodput, best)
	return nil
}

func goodputOf(m mode, res *measure.Result) measure.FloorGoodput {
	g := measure.FloorGoodput{Mode: m.name, GoodputBps: res.Summary.GoodputBps, CPUSecPerGB: res.Summary.CPUSecPerGB}
	if c := g.CPUSecPerGB; c != nil && *c > 0 {
		g.BpsPerCore = 8e9 / *c
	}
	for _, f := range res.Flows {
		g.TXPath, g.RXPath = f.TXPath, f.RXPath
		for _, s := range f.Streams {
			if s.TCP != nil {
				g.Congestion = s.TCP.Congestion
			}
		}
	}
	return g
}

// mostPackets stores the best of several trials.
func (r *run) mostPackets(ctx context.Context, m mode, o measure.Options) error {
	var best measure.FloorPackets
	for range r.best {
		err := r.trial(ctx, m, o, r.packets, func(res *measure.Result) {
			if p := packetsOf(m, res); p.PacketsPerSecond > best.PacketsPerSecond {
				best = p
			}
		})
		if err != nil {
			return err
		}
	}
	if best.PacketsPerSecond > 0 {
		r.doc.Packets = append(r.doc.Packets, best)
	}
	return nil
}

func packetsOf(m mode, res *measure.Result) measure.FloorPackets {
	p := measure.FloorPackets{
		Mode: m.name, SizeBytes: res.Options.Size,
		PacketsPerSecond: res.Summary.PacketsPerSecond, LossRatio: res.Summary.LossRatio,
	}
	for _, f := range res.Flows {
		p.TXPath, p.RXPath = f.TXPath, f.RXPath
	}
	perPacket := func(h *measure.Host) float64 {
		if h == nil || h.Counters == nil {
			return 0
		}
		return h.Counters.CPUNsPerPacket
	}
	p.SenderNsPerPacket, p.ReceiverNsPerPacket = perPacket(res.Hosts.Client), perPacket(res.Hosts.Server)
	return p
}

// warnOfLoad warns of other work on the host: a floor that it lowered is not the host's
// limit.
func (d *Document) warnOfLoad() {
	if f := d.Host; f.CPUs > 0 && f.Load1 > float64(f.CPUs)/2 {
		d.Findings.Add(finding.HostLoaded, "", measure.Figures{"load_1m": f.Load1, "cpus": f.CPUs})
	}
}
