package daemon

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/process"
	"soku/internal/text"
)

// daemon is a running agent.
type daemon struct {
	Config
	state    *state
	spool    *spool
	usage    *usage
	trials   *trials
	servers  *servers
	commands *commands
	delivery *delivery
	instance string

	complaints complaints
	saying     sync.Mutex
	beat       atomic.Int64 // number of the last beat

	https   *hub
	greeted bool // the hub has greeted this process; for the goroutine of the connection

	mu sync.Mutex
	nc *nats.Conn // nil: not connected
}

// Run is an agent until ctx ends, which is no error, or until it is not wanted any more: a token, a
// pin or a hub that refuses (kind refused), a folder that cannot be used (store, or refused where
// another process uses it), no hub to join (usage). Everything else is retried. When it ends, trials
// that run are interrupted, and results that the hub does not take within a few seconds stay in the
// folder for the next time.
func Run(ctx context.Context, c Config) (err error) {
	c.times = c.times.usual()
	s, err := openState(c.Folder)
	if err != nil {
		return err
	}
	defer s.close()
	d := &daemon{Config: c, state: s, instance: rand.Text()}
	d.complaints = complaints{say: d.say, last: map[string]string{}}
	if d.spool, err = openSpool(filepath.Join(s.dir, spoolName), int64(c.Policy.Spool)); err != nil {
		return err
	}
	if d.usage, err = openUsage(s, c.Policy.BytesPerDay, time.Now); err != nil {
		return err
	}
	if err := d.configure(); err != nil {
		return err
	}
	defer d.https.close()
	err = d.work(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// configure joins what was given with what is remembered. What the hub may refuse is remembered when it
// has admitted the agent.
func (d *daemon) configure() error {
	m := d.state.membership()
	if d.Name != "" && d.Name != m.Name {
		m.Name = d.Name
		if err := d.state.remember(m); err != nil {
			return err
		}
	}
	switch {
	case d.Hub == "" || d.Hub == m.URL:
	case oneInCommon(d.Hub, m.URL):
		m.URL = d.Hub
	default:
		m = membership{URL: d.Hub, Name: m.Name} // another hub
	}
	if d.Pin != "" && d.Pin != m.Pin {
		m.Pin, m.RenewAt = d.Pin, time.Time{} // compared before anything else
	}
	switch {
	case m.URL == "":
		return measure.Fail(measure.KindUsage, "daemon.no_hub", measure.Figures{"folder": d.Folder})
	case m.JWT == "" && d.Token == "" && !d.state.lost:
		return measure.Fail(measure.KindUsage, "daemon.no_token", measure.Figures{"hub": m.URL})
	}
	if err := d.state.keepKey(); err != nil {
		return err
	}
	d.https = newHub(m.URL, m.Pin, d.state, d.compareClocks)
	d.state.expect(m)
	return nil
}

// oneInCommon reports whether two lists have an address in common, and so name the same hubs.
func oneInCommon(a, b string) bool {
	known := strings.Split(b, addressSeparator)
	return slices.ContainsFunc(strings.Split(a, addressSeparator), func(one string) bool { return slices.Contains(known, one) })
}

// say passes a sentence to the log.
func (d *daemon) say(sentence string) {
	d.saying.Lock()
	defer d.saying.Unlock()
	d.Say(sentence)
}

// work runs the parts of the agent around its connection.
func (d *daemon) work(ctx context.Context) (err error) {
	ctx, defect := context.WithCancel(ctx)
	defer defect()
	parts, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	d.trials = &trials{d: d, ctx: parts, running: map[string]*trial{}}
	d.servers = &servers{d: d, ctx: parts, byName: map[string]*child{}}
	d.commands = &commands{d: d, ctx: parts}
	d.delivery = newDelivery(d)
	sender := &panics.Group{}
	for _, part := range []*panics.Group{&d.trials.all, &d.servers.all, &d.commands.all, sender} {
		part.Stop = defect // a panic in one ends all, and is raised below
	}
	sender.Go(func() { d.delivery.run(parts) })
	defer func() {
		why := err
		if why == nil {
			why = interrupted(ctx)
		}
		d.trials.end(why, d.times.endTrials)
		stop()
		d.servers.all.Wait()
		d.commands.all.Wait()
		d.trials.all.Wait()
		sender.Wait()
	}()
	return d.connect(ctx)
}

// connect joins, and keeps a connection until ctx ends or an error ends the agent.
func (d *daemon) connect(ctx context.Context) error {
	retry := backoff{first: d.times.retry, most: d.times.retryMost}
	for {
		began := time.Now()
		err := d.connectOnce(ctx)
		if ctx.Err() != nil || errors.As(err, new(final)) {
			return unwrapFinal(err)
		}
		if time.Since(began) > d.times.retryMost {
			retry.reset()
		}
		if !retry.wait(ctx) {
			return nil
		}
	}
}

// final is an error that ends the agent.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

func unwrapFinal(err error) error {
	var f final
	if errors.As(err, &f) {
		return f.error
	}
	return err
}

// connectOnce takes the permission, connects and works until the connection is lost.
func (d *daemon) connectOnce(ctx context.Context) error {
	if err := d.permit(ctx, false); err != nil {
		return err
	}
	nc, err := d.dial(ctx)
	if errors.Is(err, errRefused) {
		if err := d.permit(ctx, true); err != nil {
			return err
		}
		nc, err = d.dial(ctx)
		if errors.Is(err, errRefused) {
			err = measure.Fail(measure.KindUnreachable, "daemon.broker.refused", nil)
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			d.complain("broker", err)
		}
		return err
	}
	err = d.session(ctx, nc)
	if err == nil && ctx.Err() == nil {
		d.complaints.once("connection", "lost", d.Catalogue.Sentence("daemon.lost", nil))
	}
	return err
}

// complain says a failure that is retried, when it begins.
func (d *daemon) complain(what string, err error) {
	code := measure.AsError(err, measure.KindUnreachable).Code
	d.complaints.once(what, code, d.Catalogue.Sentence("daemon.retried", text.Args{"Error": d.Catalogue.Failure(err)}))
}

// setConnection changes what publish uses.
func (d *daemon) setConnection(nc *nats.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nc = nc
}

// publish sends a message for which no answer is awaited; without a connection it is lost.
func (d *daemon) publish(v any, what string, rest ...string) {
	d.mu.Lock()
	nc := d.nc
	d.mu.Unlock()
	if nc == nil {
		return
	}
	if b, err := json.Marshal(v); err == nil && len(b) <= fleet.MaxState {
		_ = nc.Publish(fleet.Up(d.state.id, what, rest...), b)
	}
}

// interrupted is the error of what the end of the process interrupts.
func interrupted(ctx context.Context) error {
	why := measure.Fail(measure.KindInterrupted, "daemon.ending", nil)
	var signal process.Signalled
	if errors.As(context.Cause(ctx), &signal) {
		why = why.WithCause(signal)
	}
	return why
}
