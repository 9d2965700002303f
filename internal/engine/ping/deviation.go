package ping

import "math"

// stats is the running mean and spread of the round trips by Welford's method, which
// stays precise for a small spread around a large mean.
type stats struct {
	n        int64
	mean, m2 float64
}

func (s *stats) add(v float64) {
	s.n++
	off := v - s.mean
	s.mean += off / float64(s.n)
	s.m2 += off * (v - s.mean)
}

// deviation returns the standard deviation over all round trips, which the ping of
// iputils calls mdev: the root of the mean square less the squared mean.
func (s *stats) deviation() float64 {
	if s.n == 0 {
		return 0
	}
	return math.Sqrt(s.m2 / float64(s.n))
}
