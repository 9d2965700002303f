package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"soku/internal/measure"
)

var useChecks = []Check{
	{"cpu_busy", GroupUse, Warning, measure.High, cpuBusy},
	{"steal", GroupUse, Warning, measure.High, steal},
	{"run_queue", GroupUse, Warning, measure.Medium, runQueue},
	{"pressure", GroupUse, Warning, measure.Medium, pressure},
	{"other_traffic", GroupUse, Warning, measure.High, otherTraffic},
	{"drops", GroupUse, Warning, measure.High, drops},
	{"throttling", GroupUse, Problem, measure.High, throttling},
}

const (
	// freeLeast is how many processors a test needs to itself: one for its loop. Interrupts of the
	// interface take another one where there is one.
	freeLeast = 1
	// busyMost is the share of all processors that others may use before a loop has to wait for
	// one now and then.
	busyMost = 0.25
	// namedLeast is the share of a processor from which on a process is named.
	namedLeast = 0.1
	namedMost  = 3
)

func cpuBusy(s *Subject) Outcome {
	a := s.Sample
	if a == nil || a.WallNs <= 0 || a.CPUs == 0 {
		return not(s.missing())
	}
	used := float64(a.BusyNs) / float64(a.WallNs)
	severity := Severity("")
	switch free := float64(a.CPUs) - used; {
	case free < freeLeast:
		severity = Problem
	case used < busyMost*float64(a.CPUs):
		return well
	}
	names := []string{}
	for _, p := range a.Processes {
		if cores := float64(p.Ns) / float64(a.WallNs); cores >= namedLeast && len(names) < namedMost {
			names = append(names, fmt.Sprintf("%s (%d) %.2f", p.Name, p.PID, cores))
		}
	}
	return found(Finding{Severity: severity, Figures: measure.Figures{"used": used, "cpus": a.CPUs, "processes": names}})
}

// Shares of processors' time that the hypervisor gave to others. 2 % is about a time slice of
// 4 ms in 0.2 s: the tail of a latency has it. With a tenth the goodput has it.
const (
	stealWarning = 0.02
	stealProblem = 0.10
)

func steal(s *Subject) Outcome {
	a := s.Sample
	if a == nil || !a.StealKnown || a.WallNs <= 0 || a.CPUs == 0 {
		return not(s.missing())
	}
	ratio := float64(a.StealNs) / float64(a.WallNs) / float64(a.CPUs)
	if ratio < stealWarning {
		return well
	}
	return found(Finding{Severity: aboveAs(ratio, stealProblem, Problem), Figures: measure.Figures{"steal_ratio": ratio}})
}

// runQueue holds the load of the last minute, programs that run or wait, against the processors.
func runQueue(s *Subject) Outcome {
	switch {
	case s.Facts.CPUs == 0 || s.Facts.OS == "windows" || s.Facts.OS == "":
		return not(s.missing())
	case s.Facts.Load1 < float64(s.Facts.CPUs):
		return well
	}
	return found(Finding{Figures: measure.Figures{"load": s.Facts.Load1, "cpus": s.Facts.CPUs}})
}

// pressureMost is the share of the time in which something waited
// (Documentation/accounting/psi.rst): a tenth for processors and disks, and 1 % for memory, as a
// program that waits for memory stands still.
var pressureMost = map[string]float64{"cpu": 0.10, "io": 0.10, "memory": 0.01}

func pressure(s *Subject) (o Outcome) {
	a := s.Sample
	if a == nil || a.WallNs <= 0 {
		return not(s.missing())
	}
	known := false
	for _, resource := range slices.Sorted(maps.Keys(pressureMost)) {
		waited, ok := a.Counters["pressure."+resource+"_ns"]
		known = known || ok
		if ratio := float64(waited) / float64(a.WallNs); ratio >= pressureMost[resource] {
			f := Finding{Figures: measure.Figures{"resource": resource, "waited_ratio": min(ratio, 1)}}
			if resource == "io" { // only tests of files use a disk
				f.Severity = Note
			}
			o.Findings = append(o.Findings, f)
		}
	}
	if !known {
		return not(s.missing())
	}
	return o
}

// Shares of the wanted rate that other traffic may have. Differences of 3 % matter to most
// comparisons (stats.DefaultPractical), and a tenth is in every figure.
const (
	trafficWarning = 0.01
	trafficProblem = 0.10
	trafficUnknown = 10e6 // bit/s, from which on it is reported where no rate is wanted
)

func otherTraffic(s *Subject) Outcome {
	a := s.Sample
	switch {
	case s.Facts.Interface == "":
		return not(NoInterface)
	case a == nil || !a.Traffic || a.WallNs <= 0:
		return not(s.missing())
	}
	bps := float64(max(a.SentBytes, a.RecvBytes)) * 8e9 / float64(a.WallNs)
	f := Finding{Figures: measure.Figures{
		"interface": s.Facts.Interface, "other_bps": bps, "rate_bps": s.RateBps,
	}}
	switch {
	case s.RateBps == 0 && bps < trafficUnknown, s.RateBps > 0 && bps < trafficWarning*s.RateBps:
		return well
	case s.RateBps > 0 && bps >= trafficProblem*s.RateBps:
		f.Severity = Problem
	}
	return found(f)
}

// dropWords are parts of the keys of counters of a series that count packets that were dropped
// or held back.
var dropWords = []string{"_dropped", "_errors", "softnet.dropped", "allowance_exceeded", "drop", "discard", "no_buf", "out_of_buf", "nobuf", "overrun", "missed"}

// drops are counters that rose although nothing was measured.
func drops(s *Subject) Outcome {
	a := s.Sample
	if a == nil || a.Counters == nil {
		return not(s.missing())
	}
	var names []string
	total := int64(0)
	for _, key := range slices.Sorted(maps.Keys(a.Counters)) {
		n := a.Counters[key]
		if n > 0 && slices.ContainsFunc(dropWords, func(word string) bool { return strings.Contains(key, word) }) {
			names = append(names, fmt.Sprintf("%s %d", key, n))
			total += n
		}
	}
	if total == 0 {
		return well
	}
	return found(Finding{Figures: measure.Figures{"counters": names, "dropped": total, "sample_ns": a.WallNs}})
}

// throttling is a quota of processor time that was used up although nothing was measured.
func throttling(s *Subject) Outcome {
	a, limits := s.Sample, s.Facts.Limits
	switch {
	case limits == nil || a == nil || a.Counters == nil:
		return not(s.missing())
	case limits.CPUQuota == 0:
		return not(NotApplicable)
	}
	ns := a.Counters["cgroup.throttled_ns"]
	if ns == 0 {
		return well
	}
	return found(Finding{Figures: measure.Figures{"throttled_ns": ns, "sample_ns": a.WallNs}})
}
