package ethr

import (
	"context"
	"fmt"
	"net"
	"time"

	"soku/internal/engine/connect"
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
	"soku/internal/wire/ethr"
)

// connections makes connections as fast as it can, each closed by a reset.
func (t *test) connections(ctx context.Context) error {
	o, second := t.o, 0
	if o.Duration == 0 {
		o.Duration = measure.Duration(24 * time.Hour)
	}
	o.Via = measure.ViaSoku
	_, err := connect.Run(ctx, connect.Target{Addr: t.addr, Reset: true}, o, func(p measure.Progress) {
		took := time.Duration(p.EndNs - p.StartNs).Seconds()
		if took < 0.9 {
			return
		}
		if second == 0 {
			t.out.say("- - - - - - - - - - - - - - - - - - ")
			t.out.say("Protocol    Interval      Conn/s")
		}
		made := int64(0)
		if p.RTT != nil {
			made = p.RTT.Count
		}
		rate := unit(float64(made)/took, t.out.decimals)
		t.out.say("  %-5s    %03d-%03d sec   %7s", t.Protocol, second, second+1, rate)
		t.out.result(t.addr.Addr().String(), t.Protocol, "", rate, "", "")
		second++
	})
	return err
}

// ping times single connections.
func (t *test) ping(ctx context.Context) error {
	var sent, received int
	var times []time.Duration
	dialer, err := sock.DialerFor("tcp", measure.Options{Bind: t.o.Bind, TOS: t.o.TOS, ConnectTimeout: measure.Duration(time.Second)})
	if err != nil {
		return err
	}
	summary := func() {
		t.out.print(rule)
		t.out.say("TCP connect statistics for %s:", t.remote())
		t.out.say("  Sent = %d, Received = %d, Lost = %d", sent, received, sent-received)
		if received > 0 {
			t.out.tripsHead()
			t.out.tripsRow(t.addr.Addr().String(), t.Protocol, figures(times))
			t.out.print(rule)
		}
		sent, received, times = 0, 0, nil
	}
	for warm := t.Warmup; ctx.Err() == nil; {
		began := time.Now()
		prefix := ""
		if warm > 0 {
			prefix = "[warmup] "
		}
		took, ok := t.connect(ctx, dialer, prefix)
		switch {
		case ctx.Err() != nil && !ok:
		case warm > 0:
			warm--
		default:
			if sent++; ok {
				received, times = received+1, append(times, took)
			}
		}
		if received >= 1000 { // a table each
			summary()
		}
		pause(ctx, t.Gap-time.Since(began))
	}
	summary()
	return nil
}

func (t *test) remote() string { return fmt.Sprintf("[%s]:%d", t.addr.Addr(), t.addr.Port()) }

// connect makes one connection and says how long that took.
func (t *test) connect(ctx context.Context, d *net.Dialer, prefix string) (took time.Duration, ok bool) {
	// Without the deadline, which package net would end a handshake at a moment before
	// the context says so: that would look like no answer in time.
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

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// latency measures laps of round trips, a row each, on one connection.
func (t *test) latency(ctx context.Context) error {
	t.out.say("Running latency test: %d, %d", t.Rounds, t.Length)
	session, err := ethr.Open(ctx, t.addr.String(), wire.Request{Test: measure.TestLatency, Options: t.o}, wire.Hooks{})
	if err != nil {
		return err
	}
	defer session.Close()
	conns, err := session.TCP(ctx)
	if err != nil {
		return err
	}
	t.out.tripsHead()
	err = latency.Laps(ctx, conns[0], int(t.Length), t.Rounds, func(all []time.Duration) {
		t.out.tripsRow(t.addr.Addr().String(), t.Protocol, figures(all))
	}, func(began time.Time) { pause(ctx, t.Gap-time.Since(began)) })
	if ctx.Err() != nil {
		return nil
	}
	return err
}
