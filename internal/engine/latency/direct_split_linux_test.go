//go:build linux && (amd64 || arm64) && !race && !plainloops

package latency

import (
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/engine"
	"soku/internal/sock"
)

// TestAKernelThatHasCountedMoreIsCaughtUpWith: its stamps of what was sent before are
// no request's.
func TestAKernelThatHasCountedMoreIsCaughtUpWith(t *testing.T) {
	near, far := sockets(t, "udp")
	o := splitting("udp")
	o.Count = 5000
	echoing(t, far, o, openFor(false))
	const before = 100
	l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, func(conn net.Conn, tick time.Duration, threads int) link {
		raw, err := conn.(syscall.Conn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) {
			if err := sock.StampBothWays(int(fd), false); err != nil {
				t.Error(err)
			}
			for range before {
				_, _ = unix.Write(int(fd), []byte("nothing that an echo answers"))
			}
		})
		return openFor(false)(conn, tick, threads)
	})
	if err != nil || l.Split == nil {
		t.Fatalf("%d replies, %+v, %v", l.Received, l.Timing, err)
	}
	addsUp(t, l.Split)
	if l.Split.Unsplit > l.Received/2 {
		t.Errorf("%d of %d round trips are not split", l.Split.Unsplit, l.Received)
	}
}

func TestASocketIsAskedForNoMoreStampsAfterwards(t *testing.T) {
	for _, protocol := range []string{"tcp", "udp"} {
		for _, spin := range []bool{false, true} {
			near, far := sockets(t, protocol)
			o := splitting(protocol)
			echoing(t, far, o, openFor(false))
			if l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, openFor(spin)); err != nil || !l.Timing.StampsDepartures() {
				t.Fatalf("%+v, %v", l.Timing, err)
			}
			raw, err := near.(syscall.Conn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			_ = raw.Control(func(fd uintptr) {
				if flags, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING); flags != 0 || err != nil {
					t.Errorf("%s: stamps %#x, %v", protocol, flags, err)
				}
				if _, _, _, _, err := unix.Recvmsg(int(fd), nil, nil, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); err != unix.EAGAIN {
					t.Errorf("%s: something is left in the queue of errors: %v", protocol, err)
				}
			})
		}
	}
}

// TestAStampFindsItsExchange without a kernel: stamps of an interface come late, those
// of what was sent again come twice, and keys begin again at 0.
func TestAStampFindsItsExchange(t *testing.T) {
	d := &direct{wall: 1000, done: make([]exchange, 10), n: 6}
	d.passed = make([]passed, 10)
	for i := range d.passed {
		d.passed[i].key = uint32(i) - 4
		d.done[i].sent = int64(i) * 100
	}
	stamp := func(i int, software, hardware int64) {
		d.file(&sock.Stamps{Left: true, Key: uint32(i) - 4, Software: software, Hardware: hardware})
	}
	stamp(6, 1650, 0)
	stamp(6, 1660, 0) // sent again
	stamp(5, 0, 77)   // late
	stamp(4, 1450, 0)
	stamp(3, 1299, 0) // before its request
	stamp(1, 1150, 9) // too late
	stamp(9, 1950, 9) // of nothing that was sent
	for i, want := range map[int]passed{6: {left: 1650}, 5: {rawLeft: 77}, 4: {left: 1450}, 3: {}, 1: {}, 9: {}} {
		want.key = uint32(i) - 4
		if d.passed[i] != want {
			t.Errorf("exchange %d: %+v, want %+v", i, d.passed[i], want)
		}
	}
	e := &d.done[6]
	e.came, e.read, e.farIn, e.farOut = 800, 850, 5, 25
	if got, want := d.passage(6), (passage{sent: 600, left: 650, came: 800, read: 850, in: 5, out: 25}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
