package tcp

import (
	"io"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/loopback"
)

// begun is a policy of flows that began now.
func begun() engine.FlowPolicy {
	p := engine.FlowPolicy{KeepOpen: true, EndAtOnce: true, Start: engine.NewStart()}
	p.Start.Begin(time.Now())
	return p
}

func TestASenderThatEndsAtOnceCountsWhatItsKernelAccepted(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.tx+" "+w.rx, func(t *testing.T) {
			a, b := loopback.TCP(t, 2)
			o := options(30*time.Millisecond, 2)
			o.TX, o.RX = w.tx, w.rx
			end, err := send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: begun()}, w.limits())
			if err != nil {
				t.Fatal(err)
			}
			for i := range a {
				if unacknowledged(a[i], false) == 0 {
					t.Errorf("stream %d has nothing in its queue", i)
				}
				got := make(chan int64)
				go func() {
					n, _ := io.Copy(io.Discard, b[i])
					got <- n
				}()
				if err := a[i].CloseWrite(); err != nil {
					t.Error(err)
				}
				if n := <-got; n != end.Streams[i].SentBytes {
					t.Errorf("stream %d: %d bytes counted, %d arrived", i, end.Streams[i].SentBytes, n)
				}
			}
		})
	}
}

func TestAFlowIsTimedFromItsStart(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	o := options(200*time.Millisecond, 1)
	o.Interval = measure.Duration(50 * time.Millisecond)
	policy, began := begun(), time.Now()
	var intervals atomic.Int64
	end, err := Receive(t.Context(), b, o, engine.Flow{Direction: measure.Forward, Policy: policy, Observe: func(measure.Progress) { intervals.Add(1) }})
	if after := time.Since(began); err != nil || after < 190*time.Millisecond || end.Streams[0].ReceivedBytes != 0 {
		t.Errorf("a receiver without data: %+v %v after %v", end, err, after)
	}
	if intervals.Load() < 3 {
		t.Errorf("%d intervals", intervals.Load())
	}
	policy.Start = engine.NewStart()
	policy.Start.Begin(time.Now().Add(-150 * time.Millisecond))
	began = time.Now()
	if _, err = Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: policy}); err != nil || time.Since(began) > 150*time.Millisecond {
		t.Errorf("a sender that began 150 ms ago: %v after %v", err, time.Since(began))
	}
}

func TestAReceiverThatEndsAtOnceReadsNothingMore(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	policy, over := begun(), make(chan struct{})
	policy.Over = over
	close(over)
	if _, err := a[0].Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	end, err := Receive(t.Context(), b, endless(1), engine.Flow{Direction: measure.Forward, Policy: policy})
	if err != nil || end.DurationNs > int64(50*time.Millisecond) {
		t.Errorf("%+v %v", end, err)
	}
}
