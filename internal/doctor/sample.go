package doctor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"soku/internal/host"
	"soku/internal/host/series"
	"soku/internal/measure"
)

const (
	// sampleTime is how long the host is watched: five readings of the sampler.
	sampleTime = 500 * time.Millisecond
	// mostNamed is how many processes are kept.
	mostNamed = 10
)

// takeSample watches the host and an interface, which may be empty, for [sampleTime], or until
// ctx ends.
func takeSample(ctx context.Context, iface string) *Sample {
	from, sampler := host.ReadTotals(), series.Start(series.Config{Interface: iface})
	before, began := processTimes(), time.Now()
	select {
	case <-time.After(sampleTime):
	case <-ctx.Done():
	}
	wall, after := time.Since(began), processTimes()
	values, err := sampler.Stop().Values()
	to := host.ReadTotals()
	a := &Sample{
		WallNs: int64(wall), CPUs: to.CPUs, StealKnown: stealReported,
		BusyNs: max(to.Time.BusyNs()-from.Time.BusyNs()-(to.ProcessNs-from.ProcessNs), 0), StealNs: max(to.Time.StealNs-from.Time.StealNs, 0),
	}
	a.Processes = busiest(before, after)
	if err == nil && len(values.AtNs) > 1 {
		a.WallNs = values.AtNs[len(values.AtNs)-1]
		a.take(values, iface != "")
	}
	return a
}

// take keeps what the counters of a series did. A series has no column of a counter that did not
// move.
func (a *Sample) take(v measure.SeriesValues, traffic bool) {
	a.Counters = map[string]int64{}
	for _, resource := range pressureKnown() {
		a.Counters["pressure."+resource+"_ns"] = 0
	}
	for key := range v.Columns {
		if !strings.HasPrefix(key, "cpu") {
			a.Counters[key] = v.Total(key)
		}
	}
	a.Traffic = traffic
	a.SentBytes, a.RecvBytes = a.Counters["interface.sent_bytes"], a.Counters["interface.received_bytes"]
}

// busiest are the processes that used a processor between two readings, but for this one.
func busiest(from, to map[int]Process) []Process {
	if len(from) == 0 || len(to) == 0 {
		return nil
	}
	used := []Process{}
	for pid, p := range to {
		if before, there := from[pid]; there && before.Name == p.Name && p.Ns > before.Ns && pid != ownPID {
			used = append(used, Process{pid, p.Name, p.Ns - before.Ns})
		}
	}
	slices.SortFunc(used, func(a, b Process) int { return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.PID, b.PID)) })
	return used[:min(len(used), mostNamed)]
}
