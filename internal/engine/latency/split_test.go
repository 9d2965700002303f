package latency

import (
	"math"
	"net"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency/direct"
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
	direct.Link
	hold time.Duration
}

func (l *busyElsewhere) Read(b []byte) (int, error) {
	time.Sleep(l.hold)
	return l.Link.Read(b)
}

func TestAFarProgramThatIsBusyIsTheFarHostAndNotThePath(t *testing.T) {
	tier.SpendsSeconds(t)
	const hold = 5 * time.Millisecond
	forEachWay(t, func(t *testing.T, o measure.Options) {
		tier.NeedsBuild(t, longcall.Available, stampingLoops)
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count = 60
		measure.EditOwn(&o, func(own *Options) { own.Stamps = StampsSplit })
		echoing(t, far, o, func(conn net.Conn, tick time.Duration, _ int) direct.Link {
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
