package sock

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// socketOption is a number that a socket has.
func socketOption(t *testing.T, c *net.TCPConn, level, name int) (value uint64) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		if name == unix.SO_MAX_PACING_RATE {
			value, err = unix.GetsockoptUint64(int(fd), level, name)
			return
		}
		var n int
		n, err = unix.GetsockoptInt(int(fd), level, name)
		value = uint64(n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestLimitUnacknowledgedSetsTCPUserTimeout(t *testing.T) {
	c := dialLoopback(t)
	if err := LimitUnacknowledged(c, 1500*time.Millisecond); err != nil || socketOption(t, c, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) != 1500 {
		t.Errorf("%d ms, %v", socketOption(t, c, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT), err)
	}
}

func TestALaterPaceDoesNotRaiseAnEarlierOne(t *testing.T) {
	c := dialLoopback(t)
	for _, step := range []struct{ ask, want uint64 }{{5000, 5000}, {9000, 5000}, {3000, 3000}} {
		if taken := LimitPacing(c, step.ask); !taken || socketOption(t, c, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE) != step.want {
			t.Errorf("asked for %d: taken %v, %d", step.ask, taken, socketOption(t, c, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE))
		}
	}
}

func dialLoopback(t *testing.T) *net.TCPConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}
