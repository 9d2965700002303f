package ethr

import (
	"cmp"
	"context"
	"time"

	"soku/internal/engine/connect"
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/wire"
	"soku/internal/wire/ethr"
)

// connects opens connections without a rate limit and closes each with a reset.
func (t *test) connects(ctx context.Context) error {
	o, second := t.o, 0
	o.Duration = cmp.Or(o.Duration, measure.Duration(24*time.Hour))
	o.Via = option.ViaSoku
	end, err := connect.Run(ctx, connect.Target{Addr: t.addr, Reset: true}, o, nil, func(p measure.Progress) {
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
	if end != nil && end.Connect != nil {
		for why, n := range end.Connect.Failures {
			t.out.debug("%d connections were not made: %s", n, why)
		}
	}
	return err
}

// latency measures batches of round trips, one row per batch, on one connection.
func (t *test) latency(ctx context.Context) error {
	t.out.say("Running latency test: %d, %d", t.Rounds, t.Length)
	session, err := ethr.Open(ctx, t.addr.String(), t.request(), wire.Hooks{})
	if err != nil {
		return err
	}
	defer session.Close()
	t.explain(session)
	conns, err := session.TCP(ctx)
	if err != nil {
		return err
	}
	t.out.tripsHead()
	err = latency.Batches(ctx, conns[0], int(t.Length), t.Rounds, func(all []time.Duration) {
		t.out.tripsRow(t.addr.Addr().String(), t.Protocol, figures(all))
	}, func(began time.Time) { sock.Pause(ctx, t.Gap-time.Since(began)) })
	if ctx.Err() != nil {
		return nil
	}
	return err
}
