package schedule

import (
	"math"
	"time"
)

// end is the moment at which a unit ends, in simulated seconds.
type end struct {
	at   float64
	unit Unit
}

// ending is a heap of units that run, the first to end on top.
type ending []end

func (e *ending) push(x end) {
	h := append(*e, x)
	for i := len(h) - 1; i > 0 && h[i].at < h[(i-1)/2].at; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	*e = h
}

func (e *ending) pop() end {
	h := *e
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && h[child+1].at < h[child].at {
			child++
		}
		if child >= last || h[i].at <= h[child].at {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	*e = h
	return top
}

// simulate takes the units of a queue through the schedule of the executor in simulated
// time. It returns how long they take, and how many trials run concurrently at most. length is
// that of the unit that begins with a trial; started, if not nil, gets each unit when it starts.
// With together, units that end at the same moment free their hosts together, as if hosts waited
// for each other.
func simulate(q *Queue, limit int, together bool, length func(first int) time.Duration, started func(first int)) (total time.Duration, most int) {
	var ends ending
	now, running := 0.0, 0
	for {
		for {
			room := max(limit, 1) - running
			if running == 0 {
				room = math.MaxInt // a group may be larger than the limit
			}
			u, ok := q.Take(room)
			if !ok {
				break
			}
			if started != nil {
				started(u.First)
			}
			running += u.Count
			most = max(most, running)
			ends.push(end{now + length(u.First).Seconds(), u})
		}
		if len(ends) == 0 {
			return time.Duration(now * 1e9), most
		}
		now = ends[0].at
		for first := true; len(ends) > 0 && (first || together && ends[0].at <= now); first = false {
			u := ends.pop().unit
			running -= u.Count
			q.Release(u)
		}
	}
}

// Forecast is how long the trials of a block take, and how many of them run concurrently at
// most, if each takes what length says.
func Forecast(b Block, limit int, length func(first int) time.Duration) (total time.Duration, most int) {
	first := func(yield func(int) bool) {
		for i := 0; i < b.Len && yield(i); i += b.Unit(i).Count {
		}
	}
	if order := Arrange(b, first, limit, length); order != nil {
		q := NewQueue(b, true)
		for _, i := range order {
			q.Add(i)
		}
		return simulate(q, limit, true, length, nil)
	}
	q := NewQueue(b, limit <= 1)
	for i := 0; i < b.Len; { // of a mesh, a million: each slot is asked for once
		s := b.Slot(i)
		q.add(i, s)
		if s.Group == 0 {
			i++
		} else {
			i += b.Unit(i).Count
		}
	}
	return simulate(q, limit, false, length, nil)
}
