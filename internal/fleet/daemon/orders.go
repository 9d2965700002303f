package daemon

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
)

// Bounds of orders. More than queuedOrders that wait are dropped: the hub gets no answer to them.
const (
	queuedOrders = 64
	mostOrders   = 16 // at a time
)

// readOrders handles the messages of the hub until the connection is lost.
func (s *session) readOrders() {
	turns := make(chan struct{}, mostOrders)
	for {
		select {
		case m := <-s.orders:
			select {
			case turns <- struct{}{}:
			case <-s.ctx.Done():
				return
			}
			s.all.Go(func() {
				defer func() { <-turns }()
				s.order(m)
			})
		case <-s.ctx.Done():
			return
		}
	}
}

// order handles a message.
func (s *session) order(m *nats.Msg) {
	if m.Subject == fleet.Everyone {
		select {
		case s.greet <- struct{}{}:
		default:
		}
		return
	}
	switch m.Subject {
	case s.down(fleet.DownTrial):
		s.orderTrial(m)
	case s.down(fleet.DownStart):
		answered(s, m, s.d.trials.start)
	case s.down(fleet.DownStop):
		answered(s, m, s.d.trials.stop)
	case s.down(fleet.DownServe):
		order, err := fleet.Decode[fleet.Serve](m.Data, fleet.MaxState)
		var at endpoint.Listening
		if err == nil {
			at, err = s.d.servers.serve(order)
		}
		s.answer(m, fleet.Served{Listening: at, Error: measure.AsError(err, measure.KindBroken)})
	case s.down(fleet.DownCommand):
		order, err := fleet.Decode[fleet.Command](m.Data, fleet.MaxMessage)
		var state fleet.Commanded
		if err == nil {
			state, err = s.d.commands.order(order)
		}
		if err != nil {
			state.Error = measure.AsError(err, measure.KindBroken)
		}
		s.answer(m, state)
	case s.down(fleet.DownAsk):
		s.answer(m, s.d.stateNow())
	case s.down(fleet.DownLeave):
		order, err := fleet.Decode[fleet.Leave](m.Data, fleet.MaxState)
		s.answer(m, answerOf(err))
		if err == nil {
			s.leave(order)
		}
	}
}

func (s *session) down(what string) string { return fleet.Down(s.d.state.id, what) }

// orderTrial answers an order of a trial and then runs it.
func (s *session) orderTrial(m *nats.Msg) {
	order, err := fleet.Decode[fleet.TrialOrder](m.Data, fleet.MaxMessage)
	var run func()
	if err == nil {
		ctx, cancel := context.WithTimeout(s.ctx, s.d.times.answer)
		defer cancel()
		run, err = s.d.trials.begin(ctx, order)
	}
	s.answer(m, answerOf(err))
	if run != nil {
		run()
	}
}

// answered handles an order of which only the error is answered.
func answered[T any](s *session, m *nats.Msg, do func(T) error) {
	order, err := fleet.Decode[T](m.Data, fleet.MaxState)
	if err == nil {
		err = do(order)
	}
	s.answer(m, answerOf(err))
}

func answerOf(err error) fleet.Answer {
	return fleet.Answer{Error: measure.AsError(err, measure.KindBroken)}
}

// answer sends an answer where the message asks for one, below the subject that answers have.
func (s *session) answer(m *nats.Msg, v any) {
	if !strings.HasPrefix(m.Reply, fleet.Up(s.d.state.id, fleet.UpAnswer)+".") {
		return
	}
	if b, err := json.Marshal(v); err == nil {
		_ = s.nc.Publish(m.Reply, b)
	}
}

// leave ends the agent for good.
func (s *session) leave(order fleet.Leave) {
	why := order.Error
	if why == nil {
		why = measure.Fail(measure.KindRefused, "daemon.leave", nil)
	}
	select {
	case s.leaving <- measure.Fail(measure.KindRefused, "daemon.unwanted", measure.Figures{"cause": why}):
	default:
	}
}
