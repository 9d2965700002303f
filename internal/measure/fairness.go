package measure

// Fairness is how evenly the streams of one direction shared its goodput. A
// stream's goodput is what its receiver counted after the omitted start, over the
// time in which the direction was measured.
type Fairness struct {
	JainIndex float64 `json:"jain_index" jsonschema:"description=Jain\\, Chiu\\, Hawe 1984: 1 if all streams have the same goodput\\, k/n if k of n streams have all of it"`
	MinBps    float64 `json:"min_bps" jsonschema:"description=Goodput of the slowest stream"`
	MedianBps float64 `json:"median_bps"`
	MaxBps    float64 `json:"max_bps" jsonschema:"description=Goodput of the fastest stream"`
}

// StreamBps are the streams' goodputs in bits a second, one element a stream; nil
// where the receiver's count is missing.
func (f Flow) StreamBps() []float64 {
	if f.Summary.DurationNs <= 0 || f.Summary.ReceivedBytes <= 0 {
		return nil
	}
	out := make([]float64, len(f.Streams))
	for i, s := range f.Streams {
		out[i] = float64(max(s.ReceivedBytes, 0)) * 8e9 / float64(f.Summary.DurationNs)
	}
	return out
}
