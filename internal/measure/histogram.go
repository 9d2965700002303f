package measure

import (
	"encoding/json"
	"fmt"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The range and precision every histogram in a result has, so that any two merge.
const (
	HistogramMin    = 1              // ns
	HistogramMax    = 60_000_000_000 // ns; longer values are counted as this and in Clipped
	HistogramDigits = 3              // significant decimal digits
)

// maxEncodedHistogram bounds the text that is accepted from outside. All 28,000
// counters in use encode to well under this.
const maxEncodedHistogram = 1 << 20

// Histogram holds latencies in nanoseconds, 1 ns to 60 s with three
// significant digits (HDR histogram, G. Tene). Histograms merge, percentiles do
// not: a result keeps the histogram and computes percentiles when asked.
// Record allocates nothing. A Histogram is not safe for concurrent use.
//
// In JSON it is {"encoding": "hdr-v2-deflate-base64", "data": "..."}, the
// interchange form all HdrHistogram libraries read.
type Histogram struct {
	// One of the two is nil. The counts of a histogram that was read are packed,
	// some kB instead of 220: a report holds those of thousands of trials. The
	// first Record or Merge makes them dense.
	dense   *hdr.Histogram
	packed  *packed
	sum     float64
	clipped int64
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{dense: hdr.New(HistogramMin, HistogramMax, HistogramDigits)}
}

// counts is what both forms answer alike.
type counts interface {
	TotalCount() int64
	Min() int64
	Max() int64
	ValueAtPercentile(percentile float64) int64
}

func (h *Histogram) counts() counts {
	if h.packed != nil {
		return h.packed
	}
	return h.dense
}

// unpack makes the counts dense.
func (h *Histogram) unpack() *hdr.Histogram {
	if h.packed != nil {
		h.dense, h.packed = h.densely(), nil
	}
	return h.dense
}

// densely are the counts as dense ones; the histogram stays as it is.
func (h *Histogram) densely() *hdr.Histogram {
	if h.packed == nil {
		return h.dense
	}
	dense := NewHistogram().dense
	h.packed.addTo(dense)
	return dense
}

// Record counts one latency. Values below 1 ns count as 1 ns, above 60 s as 60 s.
func (h *Histogram) Record(ns int64) {
	if ns < HistogramMin {
		ns = HistogramMin
	}
	if ns > HistogramMax {
		ns = HistogramMax
		h.clipped++
	}
	_ = h.unpack().RecordValue(ns) // cannot fail inside the range
	h.sum += float64(ns)
}

// Merge adds every value of other.
func (h *Histogram) Merge(other *Histogram) {
	if other == nil || other.dense == nil && other.packed == nil {
		return
	}
	if other.packed != nil {
		other.packed.addTo(h.unpack())
	} else {
		h.unpack().Merge(other.dense)
	}
	h.sum += other.sum
	h.clipped += other.clipped
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	h.unpack().Reset()
	h.sum, h.clipped = 0, 0
}

// Count is how many values were recorded, 0 without a histogram: a document may lack one that
// it should have.
func (h *Histogram) Count() int64 {
	if h == nil || h.dense == nil && h.packed == nil {
		return 0
	}
	return h.counts().TotalCount()
}

// Clipped is how many values were above 60 s.
func (h *Histogram) Clipped() int64 { return h.clipped }

// Mean is the arithmetic mean in ns, 0 when empty. It is exact to the sum of
// the values, not to their buckets, until the histogram has been through JSON.
func (h *Histogram) Mean() float64 {
	if h.Count() == 0 {
		return 0
	}
	return h.sum / float64(h.Count())
}

// Min is the smallest recorded value in ns, to three digits; 0 when empty.
func (h *Histogram) Min() int64 {
	if h.Count() == 0 {
		return 0
	}
	return h.counts().Min()
}

// Max is the largest recorded value in ns, to three digits; 0 when empty.
func (h *Histogram) Max() int64 {
	if h.Count() == 0 {
		return 0
	}
	return h.counts().Max()
}

// Percentile is the value in ns that p percent of the values do not exceed, p in
// 0..100; 0 when empty.
func (h *Histogram) Percentile(p float64) int64 {
	if h.Count() == 0 {
		return 0
	}
	return h.counts().ValueAtPercentile(p)
}

// Bucket is one occupied range of a histogram: From..To ns inclusive, Count values.
type Bucket struct {
	From, To, Count int64
}

// Buckets returns the occupied buckets in rising order.
func (h *Histogram) Buckets() []Bucket {
	var out []Bucket
	if h.packed != nil {
		h.packed.each(func(b Bucket) bool { out = append(out, b); return true })
		return out
	}
	for _, b := range h.dense.Distribution() {
		if b.Count > 0 {
			out = append(out, Bucket{From: b.From, To: b.To, Count: b.Count})
		}
	}
	return out
}

// Percentiles summarises the histogram. Percentiles that its count does not support are 0.
func (h *Histogram) Percentiles() *Percentiles {
	p := Percentiles{
		Min: float64(h.Min()), Mean: h.Mean(), Max: float64(h.Max()), Count: h.Count(),
		P50: float64(h.Percentile(50)), P90: float64(h.Percentile(90)), P95: float64(h.Percentile(95)),
		P99: float64(h.Percentile(99)), P999: float64(h.Percentile(99.9)), P9999: float64(h.Percentile(99.99)),
	}.Supported()
	return &p
}

// LeastBeyond is how many values must lie beyond a percentile above the median. Of fewer it
// would be one of the few largest values, and with ten times as many another one.
const LeastBeyond = 10

// SupportsPercentile reports whether a number of values is enough for the percentile that a
// share of them does not exceed, 0 to 1. Any number is enough for the median.
func SupportsPercentile(count int64, share float64) bool {
	const rounding = 1e-6
	return share <= 0.5 || float64(count)*(1-share) > LeastBeyond-rounding
}

// Percentiles are figures of one histogram, in nanoseconds. A percentile that is 0 is unknown or
// not supported by the count.
type Percentiles struct {
	Min   float64 `json:"min"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90,omitempty" jsonschema:"description=Absent with fewer than 100 values: this and the percentiles below are absent unless 10 values lie beyond"`
	P95   float64 `json:"p95,omitempty" jsonschema:"description=Absent with fewer than 200 values"`
	P99   float64 `json:"p99,omitempty" jsonschema:"description=Absent with fewer than 1000 values"`
	P999  float64 `json:"p99_9,omitempty" jsonschema:"description=Absent with fewer than 10000 values"`
	P9999 float64 `json:"p99_99,omitempty" jsonschema:"description=Absent with fewer than 100000 values"`
	Max   float64 `json:"max"`
	Count int64   `json:"count"`
}

// Supported returns p without the percentiles that its count does not support. Documents of
// earlier versions have them.
func (p Percentiles) Supported() Percentiles {
	for _, of := range []struct {
		share float64
		value *float64
	}{{0.9, &p.P90}, {0.95, &p.P95}, {0.99, &p.P99}, {0.999, &p.P999}, {0.9999, &p.P9999}} {
		if !SupportsPercentile(p.Count, of.share) {
			*of.value = 0
		}
	}
	return p
}

type histogramJSON struct {
	Encoding string  `json:"encoding" jsonschema:"enum=hdr-v2-deflate-base64"`
	Data     string  `json:"data"`
	SumNs    float64 `json:"sum_ns"`
	Clipped  int64   `json:"clipped,omitempty"`
}

const histogramEncoding = "hdr-v2-deflate-base64"

// MarshalJSON writes the interchange form.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	data, err := h.densely().Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode histogram: %w", err)
	}
	return json.Marshal(histogramJSON{histogramEncoding, string(data), h.sum, h.clipped})
}

// UnmarshalJSON reads the interchange form. It refuses texts over 1 MiB and
// histograms of another range or precision, which would not merge.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var j histogramJSON
	if len(b) > maxEncodedHistogram {
		return Fail(KindFile, "document.histogram.size", Figures{"size_bytes": len(b), "most_bytes": maxEncodedHistogram})
	}
	if err := decode(b, &j); err != nil {
		return Fail(KindFile, "document.histogram.syntax", Figures{"cause": err})
	}
	if j.Encoding != histogramEncoding {
		return Fail(KindFile, "document.histogram.encoding", Figures{"encoding": j.Encoding, "known": histogramEncoding})
	}
	packed, err := readPacked(j.Data)
	if err != nil {
		return err
	}
	*h = Histogram{packed: packed, sum: j.SumNs, clipped: j.Clipped}
	return nil
}
