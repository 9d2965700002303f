package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/text"
)

// Bounds of what the hub may ask for.
const (
	fastestBeat = 100 * time.Millisecond
	slowestBeat = time.Minute
	greetWithin = 2 * time.Second // after a message to all agents, at random
)

// session is one connection to the broker.
type session struct {
	link
	d       *daemon
	orders  chan *nats.Msg
	greet   chan struct{} // the hub asks for a greeting; has room for one
	leaving chan error    // the hub sends it away; has room for one
	all     panics.Group
}

// session works on a connection until it is lost, which is no error, ctx ends, or an error ends it; a
// [final] one ends the agent.
func (d *daemon) session(ctx context.Context, nc *nats.Conn) (err error) {
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &session{link: link{nc, own}, d: d, orders: make(chan *nats.Msg, queuedOrders), greet: make(chan struct{}, 1), leaving: make(chan error, 1)}
	s.all.Stop = end
	nc.SetClosedHandler(func(*nats.Conn) { end() })
	if nc.IsClosed() {
		end()
	}
	defer func() {
		d.setConnection(nil)
		d.delivery.connected(d.trials.ctx, link{})
		end()
		nc.Close()
		s.all.Wait()
	}()
	if err := s.subscribe(); err != nil {
		return nil // the connection was lost
	}
	s.all.Go(s.readOrders)
	err = s.live(ctx)
	var last final
	switch {
	case ctx.Err() != nil:
		s.finish(interrupted(ctx))
	case errors.As(err, &last):
		s.finish(last.error)
	}
	return err
}

// subscribe hears the orders of the hub.
func (s *session) subscribe() error {
	for _, what := range []string{fleet.DownTrial, fleet.DownStart, fleet.DownStop, fleet.DownServe, fleet.DownCommand, fleet.DownAsk, fleet.DownLeave} {
		if _, err := s.nc.ChanSubscribe(fleet.Down(s.d.state.id, what), s.orders); err != nil {
			return err
		}
	}
	if _, err := s.nc.ChanSubscribe(fleet.Everyone, s.orders); err != nil {
		return err
	}
	return s.nc.FlushTimeout(s.d.times.answer)
}

// live greets the hub, sends beats and renews the permission until the connection is lost or ctx ends.
func (s *session) live(ctx context.Context) error {
	every, err := s.hello(ctx)
	if err != nil || every == 0 {
		return err
	}
	beat := time.NewTicker(every)
	defer beat.Stop()
	renew := time.NewTimer(time.Until(s.d.state.membership().RenewAt))
	defer renew.Stop()
	renewed := make(chan error, 1)
	s.beat()
	for {
		select {
		case <-beat.C:
			s.beat()
		case <-renew.C:
			s.all.Go(func() { renewed <- s.d.permit(s.ctx, false) }) // a request may take longer than the hub waits for a beat
		case err := <-renewed:
			if err != nil {
				return err
			}
			renew.Reset(max(time.Until(s.d.state.membership().RenewAt), s.d.times.retryMost))
		case <-s.greet:
			if !s.pause(ctx, rand.N(greetWithin)) {
				return nil
			}
			if every, err = s.hello(ctx); err != nil || every == 0 {
				return err
			}
			beat.Reset(every)
		case err := <-s.leaving:
			return final{err}
		case <-s.ctx.Done():
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// hello greets the hub until it answers, and returns how often it expects a beat: 0 if the
// connection was lost or ctx has ended.
func (s *session) hello(ctx context.Context) (every time.Duration, err error) {
	d := s.d
	retry := backoff{first: d.times.retry, most: d.times.retryMost}
	for {
		w, err := s.helloOnce()
		switch {
		case ctx.Err() != nil || s.ctx.Err() != nil:
			return 0, nil //nolint:nilerr // a lost connection is opened again
		case err == nil:
			if err := s.check(w); err != nil {
				return 0, final{err}
			}
			s.welcomed(w)
			return min(max(time.Duration(w.BeatNs), fastestBeat), slowestBeat), nil
		}
		d.complain("hello", err)
		if !s.pause(ctx, retry.next()) {
			return 0, nil
		}
	}
}

// welcomed begins the work on a connection that the hub knows of.
func (s *session) welcomed(w fleet.Welcome) {
	d := s.d
	d.setConnection(s.nc)
	d.trials.repeat()
	d.delivery.connected(d.trials.ctx, s.link)
	news := !d.greeted
	for _, what := range []string{"broker", "connection", "hello"} {
		news = d.complaints.over(what) || news
	}
	if d.greeted = true; news {
		d.say(d.Catalogue.Sentence("daemon.connected", text.Args{"Hub": d.state.membership().URL, "Name": d.name(), "Version": w.Program}))
	}
}

// pause waits, and returns false if ctx ends or the connection is lost before.
func (s *session) pause(ctx context.Context, d time.Duration) bool {
	either, cancel := context.WithCancel(s.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return sleep(either, d)
}

func (s *session) helloOnce() (fleet.Welcome, error) {
	d := s.d
	files, _ := d.spool.waiting()
	h := fleet.Hello{
		Version: fleet.Version, Program: d.Version, Instance: d.instance, Name: d.name(), Platform: platform, UnixNs: time.Now().UnixNano(),
		Addresses: addresses(s.ctx, d.Addresses), Policy: d.Policy.message(), Running: d.trials.names(),
	}
	for _, f := range files[:min(len(files), mostSpooledNames)] {
		h.Spooled = append(h.Spooled, f.result)
	}
	b, err := json.Marshal(h)
	if err != nil {
		return fleet.Welcome{}, err
	}
	m := nats.NewMsg(fleet.Up(d.state.id, fleet.UpHello))
	m.Data = b
	return request[fleet.Welcome](s.link, m, d.times.answer)
}

// mostSpooledNames are in a greeting, so that it is not longer than [fleet.MaxState].
const mostSpooledNames = 500

// check is why the agent does not work for the hub that answered, or nil. It has kind refused.
func (s *session) check(w fleet.Welcome) error {
	known := s.d.state.membership().Hub
	switch {
	case w.Error != nil:
		return measure.Fail(measure.KindRefused, "daemon.unwanted", measure.Figures{"cause": w.Error})
	case w.Version < fleet.Version-1 || w.Version > fleet.Version+1:
		return measure.Fail(measure.KindRefused, "daemon.version", measure.Figures{
			"hub_version": w.Version, "hub_program": w.Program, "version": fleet.Version, "program": s.d.Version,
		})
	case known != "" && w.Hub != known:
		return measure.Fail(measure.KindRefused, "daemon.other_hub", measure.Figures{"hub": w.Hub, "known": known})
	}
	s.d.compareClocks(time.Unix(0, w.UnixNs), time.Now())
	return nil
}

// beat sends the state.
func (s *session) beat() { s.d.publish(s.d.stateNow(), fleet.UpBeat) }

// stateNow is the next beat.
func (d *daemon) stateNow() fleet.Beat {
	files, bytes := d.spool.waiting()
	return fleet.Beat{
		Instance: d.instance, Number: d.beat.Add(1), UnixNs: time.Now().UnixNano(), Running: d.trials.names(),
		Spooled: len(files), SpooledBytes: bytes, Full: d.spool.full() != nil,
	}
}

// finish ends the agent's work while the connection still stands: trials end with why, and results
// are sent for some seconds.
func (s *session) finish(why error) {
	s.d.trials.end(why, s.d.times.endTrials)
	s.beat()
	over := time.NewTimer(s.d.times.endResults)
	defer over.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		if files, _ := s.d.spool.waiting(); len(files) == 0 {
			_ = s.nc.FlushTimeout(time.Second)
			return
		}
		select {
		case <-look.C:
		case <-over.C:
			return
		case <-s.ctx.Done():
			return
		}
	}
}
