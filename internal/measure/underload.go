package measure

import "time"

// UnderLoad is the latency of a path before, while and after a TCP flow loads it,
// each on a TCP connection apart from the flow's.
type UnderLoad struct {
	Before *Latency `json:"before,omitempty" jsonschema:"description=The path before the start of the flow"`
	During *Latency `json:"during,omitempty" jsonschema:"description=During the flow\\, without its start"`
	After  *Latency `json:"after,omitempty" jsonschema:"description=After the end of the flow"`
}

// RPM is the responsiveness that a distribution of round trips stands for: how
// many of them fit into a minute one after another, by their mean without the
// slowest twentieth, as the IETF responsiveness draft trims it. It is 0 for no round trips.
func RPM(h *Histogram) float64 {
	if h == nil || h.Count() == 0 {
		return 0
	}
	left := h.Count() - h.Count()/20
	var sum, n float64
	for _, b := range h.Buckets() {
		take := min(left, b.Count)
		sum += float64(take) * float64(b.From+b.To) / 2
		n += float64(take)
		if left -= take; left == 0 {
			break
		}
	}
	if sum == 0 {
		return 0
	}
	return float64(time.Minute) * n / sum
}
