package latency

import (
	"math"
	"net"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/longcall"
	"soku/test/tier"
)

// stampingLoops are what stamps requests, and what spins.
const stampingLoops = "latency loops outside the Go runtime"

// splitTrial is a trial whose round trips are split, over n flows.
func splitTrial(t *testing.T, n int, o measure.Options) *measure.Latency {
	t.Helper()
	tier.NeedsBuild(t, longcall.Available, stampingLoops)
	measure.EditOwn(&o, func(own *Options) { own.Stamps = StampsSplit })
	l, echo := trialOver(t, n, o)
	if l.Split == nil {
		t.Fatalf("no split: %+v, echo %+v", l.Timing, echo)
	}
	return l
}

// parted are the parts of a split in their order, with their names.
func parted(s *measure.Split) map[string]*measure.Histogram {
	p := map[string]*measure.Histogram{"host send": s.HostSend, "path": s.Path, "far host": s.FarHost, "host receive": s.HostReceive}
	if s.Interface != nil {
		p["interface"] = s.Interface
	}
	return p
}

// addsUp checks that the means of the parts are together that of the whole.
func addsUp(t *testing.T, s *measure.Split) {
	t.Helper()
	sum := 0.0
	for name, h := range parted(s) {
		if h.Count() != s.WholeNs.Count || h.Count() == 0 {
			t.Errorf("%s: %d of %d round trips", name, h.Count(), s.WholeNs.Count)
		}
		sum += h.Mean()
	}
	// A part of nothing counts as 1 ns.
	if math.Abs(sum-s.WholeNs.Mean) > 5 {
		t.Errorf("the parts have a mean of %.1f together, the whole of %.1f", sum, s.WholeNs.Mean)
	}
}

func TestThePartsOfARoundTripAddUpToIt(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, o measure.Options) {
		for _, flows := range []int{1, 3} {
			o.Count = 1000
			l := splitTrial(t, flows, o)
			addsUp(t, l.Split)
			if l.Split.WholeNs.Count+l.Split.Unsplit != l.Received {
				t.Errorf("%d round trips split and %d not, of %d", l.Split.WholeNs.Count, l.Split.Unsplit, l.Received)
			}
			if l.Split.Unsplit > l.Received/2 { // the kernel begins to stamp a moment after it was asked
				t.Errorf("%d of %d round trips are not split", l.Split.Unsplit, l.Received)
			}
			// With all of them split, the whole is the round trip of the program.
			if app := l.Application.Mean(); l.Split.Unsplit == 0 && math.Abs(app-l.Split.WholeNs.Mean) > 1 {
				t.Errorf("the whole has a mean of %.1f, the program of %.1f", l.Split.WholeNs.Mean, app)
			}
			if l.Split.Interface != nil || l.Split.Stamps != measure.StampsSoftware || l.Split.StampedBy != "" || !l.Timing.StampsDepartures() {
				t.Errorf("loopback has no stamps of hardware: %+v", l.Timing)
			}
		}
	})
}

// busyElsewhere is a link whose program does something else for a while before it
// looks for the next message, which comes meanwhile.
type busyElsewhere struct {
	link
	hold time.Duration
}

func (l *busyElsewhere) read(b []byte) (int, error) {
	time.Sleep(l.hold)
	return l.link.read(b)
}

func TestAFarProgramThatIsBusyIsTheFarHostAndNotThePath(t *testing.T) {
	tier.SpendsSeconds(t)
	const hold = 5 * time.Millisecond
	forEachWay(t, func(t *testing.T, o measure.Options) {
		tier.NeedsBuild(t, longcall.Available, stampingLoops)
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count = 60
		measure.EditOwn(&o, func(own *Options) { own.Stamps = StampsSplit })
		echoing(t, far, o, func(conn net.Conn, tick time.Duration, _ int) link {
			return &busyElsewhere{openShared(conn, tick, 1), hold}
		})
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, openFor(OptionsOf(o).Spin == "on"))
		if err != nil || l.Split == nil {
			t.Fatalf("%d replies, %+v, %v", l.Received, l.Timing, err)
		}
		s := l.Split
		addsUp(t, s)
		if s.FarHostNs.P50 < float64(hold)/2 || s.PathNs.P50 > float64(hold)/4 || s.HostSendNs.P50 > float64(hold)/4 {
			t.Errorf("the far program is busy for %v: host %.0f, path %.0f, far host %.0f, host %.0f", hold, s.HostSendNs.P50, s.PathNs.P50, s.FarHostNs.P50, s.HostReceiveNs.P50)
		}
	})
}

// TestAPathThatHoldsIsThePath: a relay between the ends, which makes no time stamps.
func TestAPathThatHoldsIsThePath(t *testing.T) {
	tier.SpendsSeconds(t)
	const hold = 5 * time.Millisecond
	forEachWay(t, func(t *testing.T, o measure.Options) {
		tier.NeedsBuild(t, longcall.Available, stampingLoops)
		near, left := sockets(t, OptionsOf(o).Protocol)
		right, far := sockets(t, OptionsOf(o).Protocol)
		o.Count = 60
		measure.EditOwn(&o, func(own *Options) { own.Stamps = StampsSplit })
		echoing(t, far, o, openFor(false)) // the relay wants a processor, too
		relay(t, left, right, hold)
		relay(t, right, left, 0)
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, openFor(OptionsOf(o).Spin == "on"))
		if err != nil || l.Split == nil {
			t.Fatalf("%d replies, %+v, %v", l.Received, l.Timing, err)
		}
		s := l.Split
		addsUp(t, s)
		if s.PathNs.P50 < float64(hold) || s.FarHostNs.P50 > float64(hold)/4 || s.HostSendNs.P50 > float64(hold)/4 || s.HostReceiveNs.P50 > float64(hold)/4 {
			t.Errorf("the path holds for %v: host %.0f, path %.0f, far host %.0f, host %.0f", hold, s.HostSendNs.P50, s.PathNs.P50, s.FarHostNs.P50, s.HostReceiveNs.P50)
		}
	})
}

// relay carries what comes from one connection to the other, each message a while
// after it came, until either ends.
func relay(t *testing.T, from, to net.Conn, hold time.Duration) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, maxMessage)
		for {
			n, err := from.Read(b)
			if err == nil {
				time.Sleep(hold)
				_, err = to.Write(b[:n])
			}
			if err != nil && !sock.Refused(err) {
				return
			}
		}
	}()
	t.Cleanup(func() { _, _ = from.Close(), to.Close(); <-done })
}

func TestASplitNeedsAnEchoThatReportsItsTimes(t *testing.T) {
	tier.NeedsBuild(t, longcall.Available, stampingLoops)
	for _, protocol := range []string{"tcp", "udp"} {
		near, far := sockets(t, protocol)
		o := options(protocol)
		answering(t, far, int(o.Size), func(_ int, m []byte) [][]byte { return [][]byte{replyTo(m)} })
		measure.EditOwn(&o, func(own *Options) { own.Stamps = StampsSplit })
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, openFor(false))
		if err != nil || l.Received != 100 || l.Split != nil {
			t.Errorf("%s: %d replies, %+v, %+v, %v", protocol, l.Received, l.Timing, l.Split, err)
		}
	}
}

func TestWithoutDepartureStampsThereIsNoSplit(t *testing.T) {
	for _, protocol := range []string{"tcp", "udp"} {
		near, far := sockets(t, protocol)
		o := options(protocol)
		measure.EditOwn(&o, func(own *Options) { own.Stamps = StampsSplit })
		echoing(t, far, o, openPoller)
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, openPoller)
		if err != nil || l.Received != 100 || l.Split != nil || l.Timing.StampsArrivals() {
			t.Errorf("%s: %d replies, %+v, %+v, %v", protocol, l.Received, l.Timing, l.Split, err)
		}
	}
}

func TestAScheduleCannotBeSplit(t *testing.T) {
	near, _ := sockets(t, "tcp")
	o := options("tcp")
	o.RequestRate = 100
	measure.EditOwn(&o, func(own *Options) { own.Stamps = StampsSplit })
	if _, err := Run(t.Context(), []net.Conn{near}, o, engine.Flow{}); measure.KindOf(err) != measure.KindUsage {
		t.Error(err)
	}
}

func TestAPassageIsSplitByItsTimes(t *testing.T) {
	whole := passage{sent: 1000, left: 4000, came: 104_000, read: 110_000, in: 7_000_000, out: 7_030_000}
	raw := whole
	raw.rawLeft, raw.rawCame = 500_000, 594_000
	change := func(f func(*passage)) passage { p := raw; f(&p); return p }

	s := newSplits("eth9")
	for range 10 {
		s.add(whole)
	}
	r := s.result()
	addsUp(t, r)
	if r.HostSendNs.Mean != 3000 || r.PathNs.P50 < 69_900 || r.PathNs.P50 > 70_100 || r.InterfaceNs != nil || r.Unsplit != 0 || r.Stamps != measure.StampsSoftware {
		t.Errorf("%+v", r)
	}
	for range 11 {
		s.add(raw)
	}
	r = s.result()
	addsUp(t, r)
	if r.InterfaceNs == nil || math.Abs(r.Interface.Mean()-6000) > 1 || math.Abs(r.Path.Mean()-64_000) > 1 || r.Unsplit != 10 || r.Stamps != measure.StampsHardware || r.StampedBy != "eth9" {
		t.Errorf("with stamps of the interface: %+v", r)
	}

	for name, p := range map[string]passage{
		"no time of leaving":         change(func(p *passage) { p.left = 0 }),
		"no time of coming":          change(func(p *passage) { p.came = 0 }),
		"no times of the far end":    change(func(p *passage) { p.in, p.out = 0, 0 }),
		"left before it was sent":    change(func(p *passage) { p.left = 999 }),
		"read before it came":        change(func(p *passage) { p.read = 103_999 }),
		"answered before it came":    change(func(p *passage) { p.out = p.in - 1 }),
		"longer far than on the way": change(func(p *passage) { p.out = p.in + 100_001 }),
	} {
		s := newSplits("")
		if s.add(p); s.result() != nil {
			t.Errorf("%s: %+v", name, s.result())
		}
		if s.add(whole); s.result().Unsplit != 1 {
			t.Errorf("%s: not counted as one that is not split", name)
		}
	}
	s = newSplits("eth9")
	s.add(change(func(p *passage) { p.rawCame = p.rawLeft + 100_001 })) // no interface is outside of its kernel
	if r := s.result(); r == nil || r.InterfaceNs != nil || r.Unsplit != 0 {
		t.Errorf("stamps of the interface that cannot be: %+v", r)
	}
}
