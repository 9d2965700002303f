package tcp

import (
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/meter"
	"soku/internal/sock/pace"
)

// supply is what a stream sends.
type supply interface {
	// next returns up to n bytes at an offset in the stream, valid until the next call;
	// an error may come with the last of them.
	next(offset int64, n int) ([]byte, error)
}

// write is the portable worker of one stream: it writes to the connection, which waits
// for room, and keeps a rate if there is one.
func (s *sender) write(stream int, supply supply) {
	defer s.pins.Keep(measure.Sender)()
	conn, cell := s.conns[stream], s.rec.Cell(stream)
	var count meter.Count
	var rest int
	defer s.giveBack(&rest)
	var turn *turns
	if s.o.Rate > 0 {
		turn = s.newTurns(stream)
	}
	waiter := s.balancer()
	for !s.ending.Over() && (turn == nil || turn.next()) {
		unit := s.next(&rest)
		if unit == 0 {
			return
		}
		b, end := supply.next(count.Bytes, unit)
		n, err := conn.Write(b)
		s.sent(&rest, n)
		if n > 0 {
			count.Bytes += int64(n)
			count.Last = sock.Now()
			cell.Publish(count)
		}
		if n > 0 && waiter != nil && !waiter.Balance(s.limit.Spend(int64(n)), s.stop) {
			return
		}
		if err != nil {
			if !expired(err) && !s.over() {
				s.group.Stop(engine.FailStream(s.conns, stream, "flow.send", measure.Figures{"cause": err}))
			}
			return
		}
		if end != nil {
			s.exhausted(stream, end)
			return
		}
	}
}

// turns waits for the turn of a stream on its schedule.
type turns struct {
	schedule *pace.Schedule
	waiter   *pace.Waiter
	stop     time.Time
	burst    int64 // units of a turn on the schedule
	units    int64 // that may be sent now
}

// newTurns spreads the starts of the streams over a gap, so that they do not all send at
// once.
func (s *sender) newTurns(stream int) *turns {
	schedule := func(start time.Time) *pace.Schedule {
		return pace.NewSchedule(start, s.size*s.burst(), s.streamRate(), pace.CoarseBurst)
	}
	shift := schedule(s.begin).Gap() / time.Duration(len(s.conns)) * time.Duration(stream)
	return &turns{schedule: schedule(s.begin.Add(shift)), waiter: pace.NewWaiter(s.ending.Halted()), stop: s.stop, burst: int64(s.burst())}
}

// next waits until a unit is due, and returns false if the flow ends first.
func (t *turns) next() bool {
	if t.units == 0 {
		t.units = t.burst * t.schedule.Next(sock.Now, t.stop, t.waiter.Wait)
	}
	if t.units == 0 {
		return false
	}
	t.units--
	return true
}
