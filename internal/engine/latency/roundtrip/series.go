package roundtrip

import (
	"time"

	"soku/internal/measure"
)

// series divides the trial into at most MaxSeries slices: of equal time if the duration
// is known, otherwise of equal numbers of round trips.
type series struct {
	sliceN int64 // round trips in a slice, or
	sliceT int64 // ns in a slice
	index  int64
	points []measure.LatencyPoint

	atNs   int64  // of the open slice
	values values // in the open slice
}

func newSeries(duration time.Duration, count int64) series {
	s := series{values: newValues()}
	if duration > 0 {
		s.sliceT = max(1, (int64(duration)+MaxSeries-1)/MaxSeries)
	} else {
		s.sliceN = max(1, (count+MaxSeries-1)/MaxSeries)
	}
	return s
}

func (s *series) add(atNs, rtt int64) {
	if s.sliceT > 0 {
		// Replies after the nominal end belong to the last slice.
		if i := min(max(atNs, 0)/s.sliceT, MaxSeries-1); i > s.index {
			s.close()
			s.index = i
		}
		s.atNs = s.index * s.sliceT
	} else if s.values.n == 0 {
		s.atNs = atNs
	}
	s.values.add(rtt)
	if s.sliceN > 0 && s.values.n == s.sliceN {
		s.close()
	}
}

// close makes a point of the open slice.
func (s *series) close() {
	if s.values.n == 0 || len(s.points) == MaxSeries {
		return
	}
	most := s.values.maxNs
	s.points = append(s.points, measure.LatencyPoint{AtNs: s.atNs, P50Ns: int64(s.values.percentiles(50)[0]), MaxNs: most})
}

func (s *series) end() []measure.LatencyPoint {
	s.close()
	return s.points
}
