package trial

import (
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

const (
	// busyDelay is the time that the threads of an end wait for a processor, divided by the length of the
	// trial, from which its host is busy. On two processors it was 0.11 to 0.13 with no other work and 0.30
	// to 0.74 with two busy loops.
	busyDelay = 0.15
	// busyOthers is how many processors other programs must use meanwhile: the threads of many
	// streams also wait for each other.
	busyOthers = 0.25
	// busyWakeUp is the median time, in ns, from the arrival of a reply in the kernel to the program, from
	// which the host is busy. On two processors it was 117 us with no other work and 657 us with two busy loops.
	busyWakeUp = 250e3
)

// warnBusy reports ends whose host kept the program from its processors, and lowers the confidence
// of what was measured.
func warnBusy(r *measure.Result) {
	if wakeUp, known := wakeUpOf(r.Summary); known && wakeUp >= busyWakeUp {
		busy(r, measure.NewFinding(finding.HostBusy, measure.AtClient, measure.Figures{"wake_up_ns": wakeUp}))
	}
	for _, end := range []struct {
		where measure.Where
		host  *measure.Host
	}{{measure.AtClient, r.Hosts.Client}, {measure.AtServer, r.Hosts.Server}} {
		if delay, known := runDelay(end.host); known && delay >= busyDelay && othersUse(end.host, r.Hosts) >= busyOthers {
			busy(r, measure.NewFinding(finding.HostBusy, end.where, measure.Figures{"run_delay_ratio": delay}))
		}
	}
}

// busy adds the finding, also as the reason of a medium confidence.
func busy(r *measure.Result, f measure.Finding) {
	r.Findings = append(r.Findings, f)
	for i := range r.Flows {
		lessSure(&r.Flows[i].Summary, measure.Medium, f)
	}
	lessSure(&r.Summary, measure.Medium, f)
}

// wakeUpOf is the median time from the arrival of a reply in the kernel to the program, in ns, unknown
// without stamps of the kernel.
func wakeUpOf(s measure.Summary) (ns float64, known bool) {
	if s.RTT == nil || s.ApplicationRTT == nil {
		return 0, false
	}
	return s.ApplicationRTT.P50 - s.RTT.P50, true
}

// runDelay is the time that the threads of the program waited for a processor, divided by the length
// of the trial.
func runDelay(h *measure.Host) (ratio float64, known bool) {
	if h == nil {
		return 0, false
	}
	v, err := h.Series.Values()
	if err != nil || len(v.AtNs) < 2 || v.Columns["process.wait_ns"] == nil {
		return 0, false
	}
	return float64(v.Total("process.wait_ns")) / float64(v.AtNs[len(v.AtNs)-1]), true
}

// othersUse is how many processors of the host programs used that are no end of the trial. Of two ends
// on one host, neither is another program.
func othersUse(h *measure.Host, hosts measure.Hosts) float64 {
	c := h.Counters
	if c == nil || c.WallNs <= 0 {
		return 0
	}
	own := c.ProcessUserNs + c.ProcessSysNs + c.CPUSoftirqNs
	if one, other := hosts.Client, hosts.Server; sameMachine(one, other) {
		for _, end := range []*measure.Host{one, other} {
			if end != h && end.Counters != nil {
				own += end.Counters.ProcessUserNs + end.Counters.ProcessSysNs
			}
		}
	}
	return float64(c.CPUBusyNs-own) / float64(c.WallNs)
}

// sameMachine reports whether both ends are processes of one boot of one machine.
func sameMachine(a, b *measure.Host) bool {
	return a != nil && b != nil && a.Facts.Deployment != nil && b.Facts.Deployment != nil &&
		a.Facts.Deployment.BootID != "" && a.Facts.Deployment.BootID == b.Facts.Deployment.BootID
}
