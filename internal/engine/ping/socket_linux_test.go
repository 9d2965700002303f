package ping

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/test/tier"
)

func needPing(t *testing.T) {
	t.Helper()
	s, err := open(netip.MustParseAddr("127.0.0.1"), options(1, 56))
	if err != nil {
		t.Skip(err)
	}
	s.close()
}

func TestLoopbackAnswersEverySize(t *testing.T) {
	needPing(t)
	for _, to := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1"} {
		for _, size := range []int{0, 7, 8, 16, 56, 20_000} {
			l, err := Run(t.Context(), netip.MustParseAddr(to), options(5, size), nil)
			if err != nil {
				t.Errorf("%s with %d bytes: %v", to, size, err)
				continue
			}
			if l.Sent != 5 || l.Received+l.Lost != 5 || l.Received == 0 || l.Duplicated != 0 {
				t.Errorf("%s with %d bytes: %+v", to, size, l)
			}
			if !l.Timing.StampsArrivals() {
				t.Errorf("timing %+v does not say who took the time", l.Timing)
			}
		}
	}
}

func TestTheKernelReportsTheDepartureOfARequest(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		to, o := netip.MustParseAddr(host), options(1, 56)
		s, err := open(to, o)
		if err != nil {
			t.Skip(err)
		}
		defer s.close()
		if !s.ownsID() {
			t.Skip("only a raw socket gets them")
		}
		// The kernel begins to stamp a moment after the first socket asks for it.
		for end := time.Now().Add(5 * time.Second); ; {
			sent, err := request(to.Is6(), 7, 8, 9, make([]byte, 56))
			if err != nil {
				t.Fatal(err)
			}
			before := time.Now()
			if err := s.send(sent); err != nil {
				t.Fatal(err)
			}
			after := time.Now()
			packet, at, ok := s.departed()
			if ok && !at.IsZero() {
				if n := echoAtEnd(packet, 56); n.id != 7 || n.seq != 9 || len(packet) <= len(sent) {
					t.Errorf("%s: the packet is %x", host, packet)
				}
				if at.Before(before.Add(-time.Microsecond)) || at.After(after.Add(time.Microsecond)) {
					t.Errorf("%s: it left %v after it was handed over, which took %v", host, at.Sub(before), after.Sub(before))
				}
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: nothing is reported", host)
			}
		}
	}
}

func TestTwoPingsDoNotTakeEachOthersReplies(t *testing.T) {
	needPing(t)
	results := make(chan *measure.Latency, 2)
	for range 2 {
		go func() {
			l, err := Run(t.Context(), netip.MustParseAddr("127.0.0.1"), options(50, 56), nil)
			if err != nil {
				t.Error(err)
			}
			results <- l
		}()
	}
	for range 2 {
		if l := <-results; l == nil || l.Duplicated != 0 || l.Received > l.Sent {
			t.Errorf("got %+v", l)
		}
	}
}

// It sends for 150 ms: how many requests that gives depends on what else runs.
func TestFloorIsQuick(t *testing.T) {
	tier.WatchesTheClock(t)
	needPing(t)
	for _, v6 := range []bool{false, true} {
		start := time.Now()
		f, err := Floor(t.Context(), option.Defaults(measure.TestPing), v6)
		if err != nil || f.RTT.Count < 10 || f.RTT.P50 <= 0 || f.Clock == "" {
			t.Errorf("v6 %v: got %+v, %v", v6, f, err)
		}
		if took := time.Since(start); took > 5*time.Second { // of which most would be this machine's
			t.Errorf("v6 %v: took %v", v6, took)
		}
	}
}

func TestADatagramSocketDoesWithoutRoot(t *testing.T) {
	onThread(t, func() error {
		if err := namespace(); err != nil {
			return err
		}
		if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 2147483647"), 0); err != nil {
			return err
		}
		return dropNetRaw()
	}, func() {
		for _, to := range []string{"127.0.0.1", "::1"} {
			l, err := Run(t.Context(), netip.MustParseAddr(to), options(10, 56), nil)
			if err != nil || l.Received == 0 || l.Received+l.Lost != 10 {
				t.Errorf("%s: got %+v, %v", to, l, err)
				continue
			}
			if l.Timing.Socket != "icmp datagram" {
				t.Errorf("%s: timing %+v", to, l.Timing)
			}
		}
	})
}

func TestWithoutPermissionTheHintNamesWhatToDo(t *testing.T) {
	onThread(t, func() error {
		if err := namespace(); err != nil { // a new namespace allows no group
			return err
		}
		return dropNetRaw()
	}, func() {
		_, err := Run(t.Context(), netip.MustParseAddr("127.0.0.1"), options(1, 56), nil)
		if measure.KindOf(err) != measure.KindPermission {
			t.Fatalf("got %v", err)
		}
		hint := measure.AsError(err, "").Hint
		if !strings.Contains(hint, "net.ipv4.ping_group_range") || !strings.Contains(hint, "root") {
			t.Errorf("hint %q", hint)
		}
		if _, err := Floor(t.Context(), options(1, 56), false); measure.KindOf(err) != measure.KindPermission {
			t.Errorf("floor: %v", err)
		}
	})
}

// TestTheMedianIsThePathsDelay: no round trip may be faster than the path, and
// the fastest not much slower. What surrounds the path depends on how busy this
// host is, so one quiet run of several is enough.
func TestTheMedianIsThePathsDelay(t *testing.T) {
	quiet := false
	for run := 0; run < 10 && !quiet && !t.Failed(); run++ {
		var path *tunnel
		onThread(t, func() (err error) {
			if err = namespace(); err == nil {
				path, err = newTunnel()
			}
			return err
		}, func() {
			defer path.close()
			o := options(30, 56)
			o.Own = Options{Spacing: measure.Duration(3 * tunnelDelay)} // the path has one packet at a time
			l, err := Run(t.Context(), tunnelFar, o, nil)
			if err != nil || l.Received != 30 {
				t.Errorf("got %+v, %v", l, err)
				return
			}
			times := path.stop()
			truth, got := times[len(times)/2], time.Duration(l.Histogram.Percentile(50))
			t.Logf("the path held the median packet for %v, the median round trip is %v", truth, got)
			least := time.Duration(l.Histogram.Min())
			if got < truth || least < times[0]-times[0]/500 {
				t.Errorf("the path held packets for %v and more, %v in the median; round trips are %v and %v", times[0], truth, least, got)
			}
			quiet = least < times[0]*5/4
		})
	}
	if !quiet && !t.Failed() {
		t.Error("in no run did the fastest round trip come near the path's time")
	}
}

func TestLossOnThePathIsCounted(t *testing.T) {
	onThread(t, func() error {
		if err := namespace(); err != nil {
			return err
		}
		return os.WriteFile("/proc/sys/net/ipv4/icmp_echo_ignore_all", []byte("1"), 0)
	}, func() {
		l, err := Run(t.Context(), netip.MustParseAddr("127.0.0.1"), lossy(5, 56), nil)
		if err != nil || l.Sent != 5 || l.Received != 0 || l.Lost != 5 {
			t.Errorf("nothing is answered: got %+v, %v", l, err)
		}
	})
}

func TestWithoutARouteItIsUnreachableAtOnce(t *testing.T) {
	tier.NeedsQuiet(t)
	onThread(t, namespace, func() {
		start := time.Now()
		_, err := Run(t.Context(), netip.MustParseAddr("198.51.100.7"), options(100, 56), nil)
		if measure.KindOf(err) != measure.KindUnreachable || time.Since(start) > 100*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

// TestARouterWithoutARouteIsReported asks on both kinds of sockets, each with a
// router of its own: after a few errors a kernel sends no more for a while.
func TestARouterWithoutARouteIsReported(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, kind := range []int{unix.SOCK_RAW, unix.SOCK_DGRAM} {
		onThread(t, func() error {
			if err := namespace(); err != nil {
				return err
			}
			if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 2147483647"), 0); err != nil {
				return err
			}
			return refusingRouter()
		}, func() {
			// A new link drops packets until the kernel has noticed its carrier.
			for up := false; !up && t.Context().Err() == nil; {
				l, err := Run(t.Context(), netip.MustParseAddr("10.97.0.2"), lossy(1, 56), nil)
				up = err == nil && l.Received == 1
			}
			to, o := netip.MustParseAddr("198.51.100.7"), lossy(3, 56)
			o.Timeout = measure.Duration(500 * time.Millisecond)
			s, err := openKind(to, o, kind)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.close()
			l, err := newPinger(s, to, o).run(t.Context(), nil)
			if measure.KindOf(err) != measure.KindUnreachable || l.Received != 0 ||
				!strings.Contains(err.Error(), "10.97.0.2") || !strings.Contains(err.Error(), "route") {
				t.Errorf("kind %d: got %+v, %v", kind, l, err)
			}
		})
	}
}

func TestOptionsTheSystemRefusesAreUsage(t *testing.T) {
	needPing(t)
	for name, change := range map[string]func(*measure.Options){
		"device": func(o *measure.Options) { o.Device = "nosuch0" },
		"bind":   func(o *measure.Options) { o.Bind = "203.0.113.77" },
	} {
		o := options(1, 56)
		change(&o)
		if _, err := Run(t.Context(), netip.MustParseAddr("127.0.0.1"), o, nil); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%s: got %v", name, err)
		}
	}
	o := options(3, 56)
	o.Bind, o.Device, o.TOS = "127.0.0.2", "lo", 0xb8
	if l, err := Run(t.Context(), netip.MustParseAddr("127.0.0.1"), o, nil); err != nil || l.Received != 3 {
		t.Errorf("from 127.0.0.2 over lo with tos: got %+v, %v", l, err)
	}
}

func TestARealSocketEndsWithItsContext(t *testing.T) {
	tier.NeedsQuiet(t)
	onThread(t, func() error {
		if err := namespace(); err != nil {
			return err
		}
		// So that it waits for replies that never come.
		return os.WriteFile("/proc/sys/net/ipv4/icmp_echo_ignore_all", []byte("1"), 0)
	}, func() {
		ctx, cancel := context.WithCancel(t.Context())
		o := options(0, 56)
		o.Duration, o.Timeout = measure.Duration(time.Hour), measure.Duration(time.Minute)
		time.AfterFunc(50*time.Millisecond, cancel)
		start := time.Now()
		l, err := Run(ctx, netip.MustParseAddr("127.0.0.1"), o, nil)
		if !errors.Is(err, context.Canceled) || l == nil || l.Sent == 0 {
			t.Errorf("got %+v, %v", l, err)
		}
		if took := time.Since(start) - 50*time.Millisecond; took > 100*time.Millisecond {
			t.Errorf("it took %v to end", took)
		}
	})
}
