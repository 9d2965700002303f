package udp

import (
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/tier"
)

func TestFlowsAreTimedFromTheirStart(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		a, b := pairs(t, 1)
		o := w.options(150*time.Millisecond, 1, 8_000_000)
		o.Size = 1000
		policy := engine.FlowPolicy{KeepOpen: true, EndAtOnce: true, Datagrams: plain{}, Start: engine.NewStart()}
		policy.Start.Begin(time.Now().Add(-100 * time.Millisecond))
		for name, move := range map[string]func() (measure.FlowEnd, error){
			"send":    func() (measure.FlowEnd, error) { return Send(t.Context(), a, o, engine.Flow{Policy: policy}) },
			"receive": func() (measure.FlowEnd, error) { return Receive(t.Context(), b, o, engine.Flow{Policy: policy}) },
		} {
			began := time.Now()
			if end, err := move(); err != nil || time.Since(began) > 125*time.Millisecond {
				t.Errorf("%s ended after %v of 50 ms: %+v %v", name, time.Since(began), end, err)
			}
		}
	})
}

// What was due before the host was ready to send is made up for.
func TestALateSenderKeepsTheRateOfTheWholeTime(t *testing.T) {
	tier.WatchesTheClock(t)
	eachWay(t, func(t *testing.T, w way) {
		a, _ := pairs(t, 1)
		o := w.options(400*time.Millisecond, 1, 8_000_000)
		o.Size = 1000
		policy := engine.FlowPolicy{KeepOpen: true, EndAtOnce: true, Datagrams: plain{}, Start: engine.NewStart()}
		policy.Start.Begin(time.Now().Add(-100 * time.Millisecond))
		end, err := Send(t.Context(), a, o, engine.Flow{Policy: policy})
		if sent := end.Streams[0].SentBytes; err != nil || sent < 375_000 || sent > 402_000 {
			t.Errorf("%d bytes of 400000: %v", sent, err)
		}
	})
}
