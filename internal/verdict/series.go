package verdict

import (
	"slices"
	"strings"

	"soku/internal/measure"
)

// series is what a host's counters did, cut to the intervals in which the test moved bytes.
type series struct {
	where    measure.Where
	loopback bool // its interface has what is sent and what is received in one count
	linux    bool
	at       []int64 // moments of the readings
	columns  map[string][]int64
	from     int // first interval
	to       int // behind the last one
}

// seriesOf is the series of a host; one that is absent or invalid has no intervals.
func seriesOf(h *measure.Host, where measure.Where) series {
	if h == nil {
		return series{where: where}
	}
	v, err := h.Series.Values()
	if err != nil || len(v.AtNs) < 3 {
		return series{where: where}
	}
	return series{
		where: where, loopback: isLoopback(h.Facts.Interface), linux: h.Facts.OS == "linux",
		at: v.AtNs, columns: v.Columns, to: len(v.AtNs) - 1,
	}
}

func isLoopback(name string) bool { return name == "lo" || name == "lo0" }

func (s series) empty() bool { return s.to <= s.from }

// span is the time of all intervals in ns.
func (s series) span() float64 {
	if s.empty() {
		return 0
	}
	return float64(s.at[s.to] - s.at[s.from])
}

// late is the series without its first quarter, in which a transfer begins.
func (s series) late() series {
	s.from += (s.to - s.from) / 4
	return s
}

// between is the series from one moment to another.
func (s series) between(from, to int64) series {
	for s.from < s.to && s.at[s.from+1] <= from {
		s.from++
	}
	for s.from < s.to && s.at[s.to-1] >= to {
		s.to--
	}
	return s
}

// column is a column cut to the intervals. Columns of counters that did not move are left out
// of a document: one is all zero if another of its source is there.
func (s series) column(key string) (values []int64, known bool) {
	if s.empty() {
		return nil, false
	}
	if c, there := s.columns[key]; there {
		return c[s.from:s.to], true
	}
	source := key[:strings.LastIndexByte(key, '.')+1]
	for other := range s.columns {
		if strings.HasPrefix(other, source) {
			return make([]int64, s.to-s.from), true
		}
	}
	return nil, false
}

// sum adds up what is known of a counter.
func (s series) sum(key string) (total float64, known bool) {
	column, known := s.column(key)
	for _, v := range column {
		total += float64(max(v, 0))
	}
	return total, known
}

// shares are a time of each interval divided by the interval.
func (s series) shares(key string) []float64 {
	column, known := s.column(key)
	if !known {
		return nil
	}
	var out []float64
	for i, v := range column {
		if wall := s.at[s.from+i+1] - s.at[s.from+i]; v >= 0 && wall > 0 {
			out = append(out, float64(v)/float64(wall))
		}
	}
	return out
}

// quotients are one column divided by another where both are known; the divisor is at least 1.
func (s series) quotients(key, by string) []float64 {
	a, known := s.column(key)
	b, both := s.column(by)
	if !known || !both {
		return nil
	}
	var out []float64
	for i := range a {
		if a[i] >= 0 && b[i] >= 0 {
			out = append(out, float64(a[i])/float64(max(b[i], 1)))
		}
	}
	return out
}

// gauge are the known values of a gauge above zero.
func (s series) gauge(key string) []float64 {
	column, _ := s.column(key)
	var out []float64
	for _, v := range column {
		if v > 0 {
			out = append(out, float64(v))
		}
	}
	return out
}

// withPrefix are the keys that begin and end so.
func (s series) withPrefix(prefix, suffix string) (keys []string) {
	for key := range s.columns {
		if strings.HasPrefix(key, prefix) && strings.HasSuffix(key, suffix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
