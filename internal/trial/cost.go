package trial

import "soku/internal/measure"

// cost adds up what both ends spent on 1e9 payload bytes. One end alone says
// little: what one saves the other may spend.
func cost(r *measure.Result) {
	var sum float64
	for _, h := range []*measure.Host{r.Hosts.Client, r.Hosts.Server} {
		if h == nil || h.Counters == nil || h.Counters.CPUSecPerGB == 0 {
			return
		}
		sum += h.Counters.CPUSecPerGB
	}
	r.Summary.CPUSecPerGB = &sum
}
