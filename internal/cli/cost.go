package cli

import (
	"soku/internal/measure"
	"soku/internal/text"
)

// costSummary says what the trial cost each end's processors, the sender first. It adds
// nothing where neither end knows.
func costSummary(out *text.Lines, r *measure.Result) {
	ends := []struct {
		name string
		host *measure.Host
	}{{"client", r.Hosts.Client}, {"server", r.Hosts.Server}}
	if r.Latency == nil {
		switch r.Options.Direction {
		case measure.Forward:
			ends[0].name, ends[1].name = "sender", "receiver"
		case measure.Reverse:
			ends[0].name, ends[1].name = "receiver", "sender"
			ends[0], ends[1] = ends[1], ends[0]
		}
	}
	label := "label.cost"
	for _, e := range ends {
		if e.host == nil || e.host.Counters == nil || e.host.Counters.CoresUsed == 0 {
			continue
		}
		c := e.host.Counters
		out.Row(label, "summary.cost."+e.name, text.Args{
			"Cores": c.CoresUsed, "PerGB": c.CPUSecPerGB, "PerPacket": c.CPUNsPerPacket, "Softirq": c.SoftirqRatio, "Shared": c.Shared,
		})
		label = ""
	}
}
