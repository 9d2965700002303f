package udp

import (
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/tier"
)

// untilEnough runs both ends of a flow that its receiver ends when all bytes arrived.
func untilEnough(t *testing.T, w way, change func(*measure.Options)) (s, r outcome) {
	t.Helper()
	a, b := pairs(t, 2)
	from := w.options(0, 2, 8_000_000)
	from.Duration, from.Size = 0, 1000
	change(&from)
	to := from
	to.Bytes = 100_000
	over := make(chan struct{})
	done := make(chan struct{})
	m := engine.FlowPolicy{KeepOpen: true, Datagrams: plain{}}
	go func() {
		defer close(done)
		m := m
		m.Over = over
		s.end, s.err = Send(t.Context(), a, from, engine.Flow{Direction: measure.Forward, Policy: m})
	}()
	r.end, r.err = Receive(t.Context(), b, to, engine.Flow{Direction: measure.Forward, Policy: m})
	close(over)
	<-done
	return s, r
}

func TestAKeepOpenReceiverEndsWhenAllBytesArrived(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		s, r := untilEnough(t, w, func(*measure.Options) {})
		if _, _, bytes := total(r.end); s.err != nil || r.err != nil || bytes < 100_000 {
			t.Errorf("%d bytes, want 100000: %v, %v", bytes, s.err, r.err)
		}
	})
}

func TestTheOmittedStartDoesNotCountTowardsBytes(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		omit := func(o *measure.Options) { o.Omit = measure.Duration(200 * time.Millisecond) } // in which it would come twice
		s, r := untilEnough(t, w, omit)
		if _, _, bytes := total(r.end); s.err != nil || r.err != nil || bytes < 90_000 {
			t.Errorf("received %d bytes, want 100000: %v, %v", bytes, s.err, r.err)
		}
		a, _ := pairs(t, 2)
		o := w.options(0, 2, 8_000_000)
		o.Duration, o.Size, o.Bytes = 0, 1000, 100_000
		omit(&o)
		end, err := Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Datagrams: plain{}}})
		_, bytes, _ := total(end)
		if omitted := end.Streams[0].Packets.Omitted; err != nil || bytes < 100_000 || bytes > 300_000 || omitted == 0 {
			t.Errorf("sent %d bytes, %d datagrams omitted, want 100000: %v", bytes, omitted, err)
		}
	})
}
