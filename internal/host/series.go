package host

import "time"

// series are readings of a bounded number. When it is full, every second one goes and the
// time between them doubles. As they count from the start of the system, what happened
// in between stays in their differences.
type series struct {
	most     int // readings, at least [seriesLeast]
	every    time.Duration
	readings []Reading
}

func (s *series) add(r Reading) {
	if len(s.readings) >= s.most {
		kept := s.readings[:0]
		for i := 0; i < len(s.readings); i += 2 {
			kept = append(kept, s.readings[i])
		}
		clear(s.readings[len(kept):])
		s.readings = kept
		s.every *= 2
	}
	s.readings = append(s.readings, r)
}
