package tcp

import (
	"math"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/loopback"
	"soku/test/tier"
)

func TestAStreamEndsWhenItsQueueLastsUntilTheEnd(t *testing.T) {
	begin := time.Now()
	for _, c := range []struct {
		sent, unsent int64 // since the first look 100 ms ago
		past, left   time.Duration
		want         bool
	}{
		{1_250_000, 2_500_000, 100 * time.Millisecond, 200 * time.Millisecond, true},
		{1_250_000, 2_400_000, 100 * time.Millisecond, 200 * time.Millisecond, false},
		{1_250_000, 2_500_000, 40 * time.Millisecond, 20 * time.Millisecond, false}, // the rate is not known yet
		{0, 2_500_000, 100 * time.Millisecond, 20 * time.Millisecond, false},        // nothing moves
		{1_250_000, 0, 100 * time.Millisecond, 20 * time.Millisecond, false},
	} {
		x := tail{}
		x.note(look{begin, 5_000_000})
		if got := x.lasts(begin.Add(-400*time.Millisecond), look{begin.Add(c.past), 5_000_000 + c.sent}, c.unsent, c.left); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The kernel sends twice as fast each 100 ms: what would last at the mean rate does not.
func TestAStreamWhoseRateGrowsDoesNotRunDry(t *testing.T) {
	begin := time.Now()
	x, sent, rate := tail{}, 0.0, 1e6 // bytes, bytes per second
	for at := time.Duration(0); at <= time.Second; at += tailEvery {
		x.note(look{begin.Add(at), int64(sent)})
		sent += rate * tailEvery.Seconds()
		rate *= math.Pow(2, float64(tailEvery)/1e8)
	}
	const left = 200 * time.Millisecond
	now := look{begin.Add(time.Second), int64(sent)}
	mean := sent / time.Second.Seconds()
	if x.lasts(begin, now, int64(2*mean*left.Seconds()), left) {
		t.Error("it ends with as many bytes unsent as twice the mean rate sends, and now the rate is seven times the mean")
	}
	if !x.lasts(begin, now, int64(rate*left.Seconds()), left) {
		t.Error("it goes on with as many bytes unsent as the rate sends")
	}
}

// A stream that was held up just before its window has sent little since the first look.
func TestAStreamThatStoodStillGoesOn(t *testing.T) {
	begin := time.Now()
	x := tail{}
	x.note(look{begin.Add(time.Second), 100_000_000})
	const unsent, left = 4_000_000, 900 * time.Millisecond // 40 ms at the mean rate
	if x.lasts(begin, look{begin.Add(time.Second + 60*time.Millisecond), 100_010_000}, unsent, left) {
		t.Error("it ends after a moment in which nothing moved")
	}
}

// What lasts at the mean rate and at that of the last 100 ms does not if the stream goes on as at the first look.
func TestAStreamThatPausesForAMomentGoesOn(t *testing.T) {
	begin := time.Now()
	x := tail{}
	for i, sent := range []int64{0, 6_000_000, 6_000_000} {
		x.note(look{begin.Add(time.Duration(i) * 60 * time.Millisecond), sent})
	}
	now := look{begin.Add(170 * time.Millisecond), 6_100_000}
	if x.lasts(begin.Add(-time.Minute), now, 1_000_000, 100*time.Millisecond) {
		t.Error("it ends in a pause of 110 ms")
	}
	if !x.lasts(begin.Add(-time.Minute), now, 4_000_000, 100*time.Millisecond) {
		t.Error("it goes on with as many bytes unsent as it sends at its highest rate")
	}
}

// A slow reader leaves the sender's queue full, as a slow path does.
func TestASendersQueueIsSentByTheEndOfTheFlow(t *testing.T) {
	tier.WatchesTheClock(t)
	a, b := loopback.TCP(t, 1)
	go func() { // 3.2 Mbit/s
		buffer := make([]byte, 4_000)
		for range time.Tick(10 * time.Millisecond) {
			if _, err := b[0].Read(buffer); err != nil {
				_ = b[0].CloseWrite()
				return
			}
		}
	}()
	_ = b[0].SetReadBuffer(16 << 10)
	o := options(2*time.Second, 1)
	o.Window = 200 << 10 // 0.5 s of what is read, and no more than any system allows (net.core.wmem_max)
	begin := time.Now()
	s, err := Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward})
	took := time.Since(begin)
	if err != nil || sentBytes(s) == 0 {
		t.Fatalf("%d bytes: %v", sentBytes(s), err)
	}
	if took < 1700*time.Millisecond || took > 2400*time.Millisecond {
		t.Errorf("the sender took %s", took)
	}
}
