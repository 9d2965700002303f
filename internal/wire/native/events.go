package native

import (
	"bufio"
	"errors"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// listen reads the events stream to its end. It owns the hooks.
func (s *session) listen() {
	lines := bufio.NewReaderSize(s.lines, 16<<10)
	s.moved.Store(time.Now().UnixNano())
	for {
		e, err := ReadEvent(lines, s.mostValues)
		if err != nil {
			if next := s.reattach(err); next != nil {
				lines.Reset(next)
				continue
			}
			s.settle(nil, s.explainSilence(err))
			return
		}
		switch e.Event {
		case EventQueued:
			s.hooks.State(wire.State{Name: wire.Queued, Position: e.Position})
		case EventReady:
			s.hooks.State(wire.State{Name: wire.Ready})
			s.becomeReady(e.Port)
		case EventRunning:
			s.hooks.State(wire.State{Name: wire.Running})
		case EventInterval:
			if e.Interval.Bytes > 0 || e.Interval.Packets > 0 {
				s.moved.Store(time.Now().UnixNano())
			}
			s.hooks.Observe(*e.Interval)
		case EventDone:
			s.hooks.State(wire.State{Name: wire.Done})
			s.settle(presentable(e.End), nil)
			return
		case EventAborted:
			s.settle(nil, fromServer(e.Error))
			return
		}
	}
}

// mostValues bounds what an event can make this end hold by what was asked and how long it has
// run.
func (s *session) mostValues() int {
	ran := time.Duration(0)
	if at := s.began.Load(); at != 0 {
		ran = time.Duration(time.Now().UnixNano() - at)
	}
	return measure.MostValues(s.options, ran)
}

func (s *session) becomeReady(port uint16) {
	select {
	case <-s.ready: // sent twice: ignored
	default:
		s.own = port
		close(s.ready)
	}
}

func presentable(end *measure.End) *measure.End {
	if end.Host != nil {
		end.Host.Series = checkedSeries(end.Host.Series)
	}
	if end.Error != nil {
		end.Error = fromServer(end.Error)
	}
	end.Findings, end.Warnings = presentableFindings(end.Findings, end.Warnings), nil
	end.Timing, end.Method = presentableTiming(end.Timing, end.Method), ""
	return end
}

// checkedSeries is the series of a server, limited to what a series may have, or nil if it is
// invalid.
func checkedSeries(s *measure.Series) *measure.Series {
	v, err := s.Values()
	if s == nil || err != nil {
		return nil
	}
	return measure.NewSeries(v)
}

func (s *session) explainSilence(err error) error {
	switch {
	case errors.Is(err, errEvent):
		return measure.Fail(measure.KindBroken, "native.event.malformed", measure.Figures{"address": s.control.addr}).WithHintCode("native.same_version", nil).WithCause(err)
	case errors.Is(err, errManyValues):
		return measure.Fail(measure.KindBroken, "native.event.too_many", measure.Figures{"address": s.control.addr}).WithHintCode("native.same_version", nil).WithCause(err)
	case errors.Is(err, errLongEvent):
		return measure.Fail(measure.KindBroken, "native.event.too_long", measure.Figures{"address": s.control.addr}).WithHintCode("native.same_version", nil).WithCause(err)
	case sock.TimedOut(err):
		return measure.Fail(measure.KindBroken, "native.silent", measure.Figures{"address": s.control.addr, "silence_ns": Silence})
	}
	return measure.Fail(measure.KindBroken, "native.gone", measure.Figures{"address": s.control.addr}).WithHintCode("native.server_log", nil)
}
