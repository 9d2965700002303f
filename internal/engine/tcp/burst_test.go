package tcp

import (
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/loopback"
)

func TestABurstOfWritesIsSentAtOnceAndTheRateHolds(t *testing.T) {
	const burst, length, bursts = 10, 20_000, 10
	const gap = 40 * time.Millisecond
	a, b := loopback.TCP(t, 1)
	o := options(0, 1)
	o.Duration, o.Bytes, o.Length, o.Burst = 0, bursts*burst*length, length, burst
	o.Rate = measure.Rate(burst * length * 8 * int64(time.Second/gap))
	came := make(chan [bursts][2]time.Time, 1)
	go func() { // when the first and the last byte of each burst came
		var at [bursts][2]time.Time
		buf := make([]byte, length)
		for n := 0; n < bursts*burst*length; {
			k, err := b[0].Read(buf[:min(length, burst*length-n%(burst*length))])
			if err != nil {
				break
			}
			now := time.Now()
			if n%(burst*length) == 0 {
				at[n/(burst*length)][0] = now
			}
			n += k
			at[(n-1)/(burst*length)][1] = now
		}
		came <- at
	}()
	began := time.Now()
	end, err := Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true}})
	if err != nil || sentBytes(end) != bursts*burst*length {
		t.Fatalf("sent %d bytes, %v", sentBytes(end), err)
	}
	together := 0
	for k, at := range <-came {
		if early := at[0].Sub(began); early < time.Duration(k)*gap {
			t.Errorf("burst %d came after %v, before its time", k, early)
		}
		if at[1].Sub(at[0]) < gap/4 {
			together++
		}
	}
	if together <= bursts/2 {
		t.Errorf("only %d of %d bursts came at once", together, bursts)
	}
}
