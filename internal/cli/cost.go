package cli

import (
	"fmt"
	"strings"

	"soku/internal/measure"
)

// costText is what the trial cost each end's processors, the sender first:
// "0.069 s/GB at the sender (0.90 cores, softirq 12 %), ...". It is empty
// where neither end knows.
func costText(r *measure.Result) string {
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
	var parts []string
	for _, e := range ends {
		if e.host == nil || e.host.Counters == nil || e.host.Counters.CoresUsed == 0 {
			continue
		}
		parts = append(parts, endCost(e.host.Counters, e.name))
	}
	return strings.Join(parts, ", ")
}

func endCost(c *measure.Counters, name string) string {
	var beside []string
	figure := fmt.Sprintf("%.2f cores", c.CoresUsed)
	if c.CPUSecPerGB > 0 {
		beside = append(beside, figure)
		figure = fmt.Sprintf("%.3g s/GB", c.CPUSecPerGB)
	}
	if c.CPUNsPerPacket > 0 {
		beside = append(beside, measure.FormatLatency(c.CPUNsPerPacket)+" a packet")
	}
	if c.SoftirqRatio != nil {
		beside = append(beside, fmt.Sprintf("softirq %.0f %%", *c.SoftirqRatio*100))
	}
	if c.Shared {
		beside = append(beside, "shared with other tests")
	}
	text := figure + " at the " + name
	if len(beside) > 0 {
		text += " (" + strings.Join(beside, ", ") + ")"
	}
	return text
}
