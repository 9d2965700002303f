//go:build linux && (amd64 || arm64) && !race && !plainloops

package latency

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"soku/internal/engine"
	"soku/internal/engine/latency/requests"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/test/cable"
	"soku/test/freeport"
	"soku/test/tier"
)

// busyPollUs is how long the kernel polls a device for an end that spins, in µs.
const busyPollUs = 50

func TestSpinningEndsHaveNoDevicePolledWhereNoneCanBe(t *testing.T) {
	for _, protocol := range []string{"tcp", "udp"} {
		near, far := sockets(t, protocol)
		checkPolled(t, []net.Conn{near}, []net.Conn{far}, 0, 0)
	}
}

func TestSpinningEndsHaveTheirDevicesPolled(t *testing.T) {
	tier.SpendsSeconds(t)
	a, b := devices(t)
	for _, between := range []func(*testing.T, cable.Host, cable.Host) (near, far net.Conn){streamBetween, datagramsBetween} {
		var nears, fars []net.Conn
		for _, rate := range []float64{0, 2000} {
			near, far := between(t, a, b)
			checkPolled(t, []net.Conn{near}, []net.Conn{far}, rate, busyPollUs)
			near, far = between(t, a, b)
			nears, fars = append(nears, near), append(fars, far)
		}
		checkPolled(t, nears, fars, 0, busyPollUs)
	}
}

// checkPolled has near ask far over one flow or several, all spinning, until the kernel
// polls for each end as long as wanted, in µs; afterwards it must not poll for any.
func checkPolled(t *testing.T, near, far []net.Conn, rate float64, want int) {
	t.Helper()
	o := options("tcp")
	if !requests.IsStream(near[0]) {
		measure.EditOwn(&o, func(own *Options) { own.Protocol = "udp" })
	}
	o.RequestRate, o.Count = rate, 0
	o.Duration, o.Interval = measure.Duration(10*time.Second), measure.Duration(50*time.Millisecond)
	open := linkers()["spinning on a thread of its own"]
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	echoed := make(chan error, 1)
	go func() {
		if len(far) == 1 {
			echoed <- echoErr(ctx, far[0], o, open)
			return
		}
		links, ok := openTogether(far)
		if !ok {
			echoed <- errors.New("the flows have no links together")
			return
		}
		echoed <- echoTogether(ctx, far, links, echoOptions{Options: o})
	}()
	polled := func() (us []int) {
		for _, conn := range slices.Concat(near, far) {
			us = append(us, busyPoll(t, conn))
		}
		return us
	}
	other := func(us int) bool { return us != want }
	intervals := 0
	var got []int
	_, err := run(ctx, near, o, engine.Flow{Observe: func(measure.Progress) {
		got = polled()
		// An end that answers looks for its device every 60 ms, or several together
		// some hundred milliseconds apart.
		if intervals++; intervals >= 3 && !slices.ContainsFunc(got, other) {
			stop()
		}
	}}, open)
	what := fmt.Sprintf("%s, %d flows, at a rate of %v", OptionsOf(o).Protocol, len(near), rate)
	if ctx.Err() == nil {
		t.Errorf("%s (%v): the kernel polls for the ends for %v µs, not for %d", what, err, got, want)
	}
	stop()
	if err := <-echoed; err != nil {
		t.Errorf("%s: echo: %v", what, err)
	}
	if left := polled(); slices.Max(left) != 0 {
		t.Errorf("%s: the kernel goes on polling for %v µs", what, left)
	}
}

// busyPoll is how long the kernel polls a device for a reader of conn, in µs.
func busyPoll(t *testing.T, conn net.Conn) (us int) {
	t.Helper()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { us, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BUSY_POLL) })
	}
	if err != nil {
		t.Error(err)
	}
	return us
}

// devices are two hosts whose devices can be polled: those of a veth pair can as long as
// they join segments, and what is joined already does not pass by there.
func devices(t *testing.T) (a, b cable.Host) {
	t.Helper()
	a, b = cable.Pair(t)
	for _, h := range []cable.Host{a, b} {
		h.Link(t, func(netlink.Link) error {
			e, err := host.OpenEthtool(h.Device)
			if err != nil {
				return err
			}
			defer e.Close()
			have, err := e.Features()
			if err != nil {
				return err
			}
			want := map[string]bool{"rx-gro": true}
			for feature := range have {
				if strings.HasPrefix(feature, "tx-tcp") {
					want[feature] = false
				}
			}
			return e.SetFeatures(want)
		})
	}
	return a, b
}

func streamBetween(t *testing.T, a, b cable.Host) (near, far net.Conn) {
	t.Helper()
	var l net.Listener
	b.Do(t, func() (err error) {
		l, err = net.Listen("tcp4", b.Addr.String()+":0")
		return err
	})
	defer l.Close()
	a.Do(t, func() (err error) {
		near, err = net.DialTimeout("tcp4", l.Addr().String(), 10*time.Second)
		return err
	})
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// datagramsBetween are connected sockets of which near has received something, as an end
// that asks has, and far has not.
func datagramsBetween(t *testing.T, a, b cable.Host) (near, far net.Conn) {
	t.Helper()
	address := func(h cable.Host, port int) *net.UDPAddr { return &net.UDPAddr{IP: h.Addr.AsSlice(), Port: port} }
	port := freeport.One(t)
	a.Do(t, func() (err error) {
		near, err = net.DialUDP("udp4", address(a, port), address(b, port))
		return err
	})
	b.Do(t, func() (err error) {
		far, err = net.DialUDP("udp4", address(b, port), address(a, port))
		return err
	})
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	if _, err := far.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	_ = near.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := near.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	return near, far
}
