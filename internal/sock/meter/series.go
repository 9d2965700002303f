package meter

import "soku/internal/measure"

// series stores samples in bounded memory: when it is full, it merges neighbours into
// samples of twice the length, and later samples have that length too.
type series struct {
	limit  int // even
	stride int // samples in one item
	fill   int // samples in the last item
	items  []measure.Sample
}

func newSeries(limit int) *series { return &series{limit: limit + limit%2, stride: 1} }

func (s *series) add(x measure.Sample) {
	if s.fill > 0 && s.fill < s.stride {
		last := &s.items[len(s.items)-1]
		*last = join(*last, x)
		s.fill++
		return
	}
	if len(s.items) == s.limit {
		for i := range s.limit / 2 {
			s.items[i] = join(s.items[2*i], s.items[2*i+1])
		}
		s.items = s.items[:s.limit/2]
		s.stride *= 2
	}
	s.items = append(s.items, x)
	s.fill = 1
}

// join merges sample a and the sample b that follows it.
func join(a, b measure.Sample) measure.Sample {
	b.StartNs = a.StartNs
	b.SentBytes += a.SentBytes
	b.ReceivedBytes += a.ReceivedBytes
	b.Packets += a.Packets
	b.Lost += a.Lost
	return b
}
