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
		e, err := ReadEvent(lines)
		if err != nil {
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

func (s *session) becomeReady(port uint16) {
	select {
	case <-s.ready: // a server that says it twice does no harm
	default:
		s.own = port
		close(s.ready)
	}
}

func presentable(end *measure.End) *measure.End {
	if end.Error != nil {
		end.Error = fromServer(end.Error)
	}
	end.Findings, end.Warnings = presentableFindings(end.Findings, end.Warnings), nil
	end.Timing, end.Method = presentableTiming(end.Timing, end.Method), ""
	return end
}

func (s *session) explainSilence(err error) error {
	broken := func(format string, args ...any) *measure.Error {
		return measure.Errorf(measure.KindBroken, "measure against %s: "+format, append([]any{s.control.addr}, args...)...)
	}
	switch {
	case errors.Is(err, errEvent), errors.Is(err, errLongEvent):
		return broken("%s", err).WithHint("use the same version of soku at both ends")
	case sock.TimedOut(err):
		return broken("the server has been silent for %s", Silence).WithHint("is the host still up, and the path?")
	}
	return broken("the server went away").WithHint("look at the server's log")
}
