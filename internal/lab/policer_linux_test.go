package lab

import (
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/tier"
)

func TestAPolicerOfBytesAdmitsItsRateInPacketsOfAnySize(t *testing.T) {
	const perSecond, burst, second = 1e6, 50e3, int64(time.Second)
	for _, size := range []int{60, 350, 1514} {
		p, passed := newPolicer(perSecond, burst), 0
		for now := int64(0); now < second; now += int64(size) * second / 4e6 { // four times its rate
			if p.admit(size, now) {
				passed += size
			}
		}
		if want := perSecond + burst; float64(passed) > want || float64(passed) < want-float64(2*size) {
			t.Errorf("%d bytes of frames of %d passed, want the rate and the bucket, %.0f", passed, size, want)
		}
	}
}

func TestAPauseFillsTheBucketAndNoMore(t *testing.T) {
	p := newPolicer(1e6, 3000)
	for now := int64(0); p.admit(1500, now); now++ {
	}
	passed := 0
	for range 10 {
		if p.admit(1500, int64(time.Minute)) {
			passed++
		}
	}
	if passed != 2 {
		t.Errorf("%d frames of 1500 bytes passed after a pause, want the bucket of 3000", passed)
	}
}

// Of a bucket that is smaller than a packet none would ever pass.
func TestTheBucketOfAPolicerHoldsFullPackets(t *testing.T) {
	l := &Link{MTU: 9000, Ways: [2]Way{{Police: 1e6, Burst: 2000}, {Police: 1e6}}}
	for way, want := range []measure.Size{3 * 9014, 16 * 9014} {
		if got := policeBurst(l, way); got != want {
			t.Errorf("way %d: %d bytes, want %d", way, got, want)
		}
	}
	l.Ways = [2]Way{{Police: 1e6, Burst: 64 << 10}, {Police: 1e9}}
	for way, want := range []measure.Size{64 << 10, 6_250_000} {
		if got := policeBurst(l, way); got != want {
			t.Errorf("way %d: %d bytes, want %d", way, got, want)
		}
	}
}

// A policer of packets lets a fourth of these bits pass.
func TestALinkPolicesBytes(t *testing.T) {
	tier.WatchesTheClock(t)
	l := up(t, "hosts: {a: , b: }\nlinks: [{from: a, to: b, police: 20M, policer: bytes}]")
	const size, window = 350, 400 * time.Millisecond
	want := 20e6 * size / (size + etherBytes) // IP packets
	best := 0.0
	for range 6 { // a sender that pauses longer than the burst loses its share
		got := blast(t, l, "a", "b", size, window)
		if got > want*(1.01+policeTime/window.Seconds()) {
			t.Errorf("%.2f Mbit/s pass a limit of %.2f", got/1e6, want/1e6)
		}
		if best = max(best, got); best > want*0.9 {
			break
		}
	}
	if best < want*0.9 {
		t.Errorf("at best %.2f Mbit/s of %.2f", best/1e6, want/1e6)
	}
	s, err := l.Status()
	if err != nil {
		t.Fatal(err)
	}
	if g := s.Links[0].Given; g == nil || g.Policed == 0 || g.Lost > 0 {
		t.Errorf("the record has %+v, want packets that were policed and none lost by chance", g)
	}
}
