package ethr

import (
	"context"
	"fmt"
	"net"
	"time"

	"soku/internal/engine/ping"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

const (
	// pingTimeout is how long one ping may take.
	pingTimeout = time.Second
	// pingsOfTable is the number of answers after which a table is printed.
	pingsOfTable = 1000
)

// pings are those since the last table.
type pings struct {
	sent  int
	times []time.Duration // of those that were answered
}

// ping times single connections, or echo requests, one after another.
func (t *test) ping(ctx context.Context) error {
	one := t.echo
	if t.Protocol == "TCP" {
		dialer, err := sock.DialerFrom("tcp", measure.Options{Bind: t.o.Bind, TOS: t.o.TOS, ConnectTimeout: measure.Duration(pingTimeout)}, t.LocalPort)
		if err != nil {
			return err
		}
		one = func(ctx context.Context, prefix string) (time.Duration, bool, error) {
			took, ok := t.connect(ctx, dialer, prefix)
			return took, ok, nil
		}
	}
	var p pings
	for warm := t.Warmup; ctx.Err() == nil; {
		began := time.Now()
		prefix := ""
		if warm > 0 {
			prefix = "[warmup] "
		}
		took, ok, err := one(ctx, prefix)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil && !ok:
		case warm > 0:
			warm--
		default:
			if p.sent++; ok {
				p.times = append(p.times, took)
			}
		}
		if len(p.times) >= pingsOfTable {
			t.pingTable(&p)
		}
		if prefix == "" { // the duration is for the pings that count
			sock.Pause(ctx, t.Gap-time.Since(began))
		}
	}
	t.pingTable(&p)
	return nil
}

// pingTable prints the figures of the pings and resets them.
func (t *test) pingTable(p *pings) {
	what := "TCP connect"
	if t.Protocol == "ICMP" {
		what = "ICMP echo"
	}
	t.out.print(rule)
	t.out.say("%s statistics for %s:", what, t.remote())
	t.out.say("  Sent = %d, Received = %d, Lost = %d", p.sent, len(p.times), p.sent-len(p.times))
	if len(p.times) > 0 {
		t.out.tripsHead()
		t.out.tripsRow(t.addr.Addr().String(), t.Protocol, figures(p.times))
		t.out.print(rule)
	}
	*p = pings{}
}

// remote is the target in Ethr's format.
func (t *test) remote() string {
	if t.Protocol == "ICMP" {
		return t.addr.Addr().String()
	}
	return fmt.Sprintf("[%s]:%d", t.addr.Addr(), t.addr.Port())
}

// connect opens one connection and returns how long that took.
func (t *test) connect(ctx context.Context, d *net.Dialer, prefix string) (took time.Duration, ok bool) {
	// Without the context's deadline: package net would end a handshake shortly before
	// the context ends, which would look like a timeout.
	unlimited, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	began := sock.Now()
	c, err := d.DialContext(unlimited, "tcp", t.addr.String())
	took = sock.Since(began)
	if err != nil {
		if ctx.Err() == nil {
			t.out.say("[tcp] %sConnection to %s: Timed out (%v)", prefix, t.remote(), err)
		}
		return 0, false
	}
	local := c.LocalAddr().(*net.TCPAddr)
	t.out.say("[tcp] %sConnection from [%s]:%d to %s: %s", prefix, local.IP, local.Port, t.remote(), duration(took))
	sock.Abort(c.(*net.TCPConn))
	return took, true
}

// echo sends one echo request. It returns an error only if every other would fail, too.
func (t *test) echo(ctx context.Context, prefix string) (took time.Duration, ok bool, err error) {
	o := option.Defaults(measure.TestPing)
	o.Count, o.Duration, o.Timeout, o.Bind, o.TOS = 1, 0, measure.Duration(pingTimeout), t.o.Bind, t.o.TOS
	l, err := ping.Run(ctx, t.addr.Addr(), o, nil)
	switch kind := measure.KindOf(err); {
	case err == nil && l.Received > 0:
		took = time.Duration(l.Histogram.Mean())
		t.out.say("[icmp] %sPing to %s: %s", prefix, t.remote(), duration(took))
		return took, true, nil
	case ctx.Err() != nil:
		return 0, false, nil //nolint:nilerr // the end of the test says why
	case err == nil:
		t.out.say("[icmp] %sPing to %s: no answer in %s", prefix, t.remote(), pingTimeout)
		return 0, false, nil
	case kind == measure.KindUnreachable || kind == measure.KindBroken:
		t.out.say("[icmp] %sPing to %s: %v", prefix, t.remote(), err)
		return 0, false, nil //nolint:nilerr // the next one may get through
	}
	return 0, false, err
}
