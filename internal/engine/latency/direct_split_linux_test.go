//go:build linux && (amd64 || arm64) && !race && !plainloops

package latency

import (
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/engine"
	"soku/internal/engine/latency/direct"
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
	l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, func(conn net.Conn, tick time.Duration, threads int) direct.Link {
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
