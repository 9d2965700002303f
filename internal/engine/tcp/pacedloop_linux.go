package tcp

import (
	"errors"
	"runtime"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/meter"
)

// pacedLoops returns workers that keep a rate over a fast path, one a stream.
func (s *sender) pacedLoops(path string) (work func(i int), n int, err error) {
	writers := make([]*sock.Writer, len(s.conns))
	for i := range s.conns {
		if writers[i], err = sock.OpenWriter(s.conns[i:i+1], path, s.content()); err != nil {
			for _, o := range writers[:i] {
				o.Close()
			}
			return nil, 0, err
		}
	}
	return func(i int) { s.putPaced(i, writers[i]) }, len(s.conns), nil
}

// putPaced sends one stream on its schedule.
func (s *sender) putPaced(stream int, out *sock.Writer) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer s.pins.Keep(measure.Sender)()
	defer out.Close()
	var count meter.Count
	var rest int
	defer s.giveBack(&rest)
	waiter := s.balancer()
	for turn := s.newTurns(stream); turn.next(); {
		unit := s.next(&rest)
		left := unit
		for left > 0 && s.group.Err() == nil && !s.ending.Over() && (!s.timed() || sock.Now().Before(s.stop)) {
			took, err := out.Put(0, left)
			s.sent(&rest, took)
			if left -= took; took > 0 {
				count.Bytes += int64(took)
				count.Last = sock.Now()
				s.rec.Cell(stream).Publish(count)
			}
			if took > 0 && waiter != nil && !waiter.Balance(s.limit.Spend(int64(took)), s.stop) {
				return
			}
			switch {
			case err == nil:
			case errors.Is(err, sock.ErrWouldBlock):
				out.Wait(tick)
			default:
				if !s.over() {
					s.group.Stop(engine.FailStream(s.conns, stream, "flow.send", measure.Figures{"cause": err}))
				}
				return
			}
		}
		if unit == 0 || left > 0 {
			return
		}
	}
}
