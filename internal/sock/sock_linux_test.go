package sock

import (
	"math"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// intOption reads a socket option of c.
func intOption(t *testing.T, c *net.TCPConn, level, opt int) int {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	v := 0
	var inner error
	if err := raw.Control(func(fd uintptr) { v, inner = unix.GetsockoptInt(int(fd), level, opt) }); err != nil || inner != nil {
		t.Fatal(err, inner)
	}
	return v
}

func TestOptionsAreOnTheConnection(t *testing.T) {
	c, s, err := dialled(t, measure.Options{Window: 100_000, Congestion: "reno", Own: own{MSS: 1000}, TOS: 184, Device: "lo"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name             string
		level, opt, want int
	}{
		{"SO_SNDBUF (doubled)", unix.SOL_SOCKET, unix.SO_SNDBUF, 200_000},
		{"SO_RCVBUF (doubled)", unix.SOL_SOCKET, unix.SO_RCVBUF, 200_000},
		{"IP_TOS", unix.IPPROTO_IP, unix.IP_TOS, 184},
	} {
		if got := intOption(t, c, x.level, x.opt); got != x.want {
			t.Errorf("%s is %d, want %d", x.name, got, x.want)
		}
	}
	if _, err := c.Write(make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	info, ok := TCPInfo(c)
	if !ok || info.Congestion != "reno" || info.MSS > 1000 || info.MSS < 900 || info.State != "established" || info.RTTNs == 0 {
		t.Errorf("TCP_INFO: %+v, %v", info, ok)
	}
	if info, _ := TCPInfo(s); info.MSS > 1000 {
		t.Errorf("the accepting end sends segments of %d", info.MSS)
	}
}

// A sender without data is limited by its application; one whose peer does not read has
// data that it cannot send.
func TestTCPInfoTellsWhatWaits(t *testing.T) {
	c, _, err := dialled(t, measure.Options{Own: own{MSS: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	info, ok := TCPInfo(c)
	for ok && info.AckedBytes < 100 {
		info, ok = TCPInfo(c)
	}
	if !ok || !info.AppLimited || info.SentBytes != 100 || info.DataSegsOut != 1 || info.UnackedSegs != 0 || info.NotsentBytes != 0 {
		t.Errorf("a short message: %+v, %v", info, ok)
	}
	sent := int64(100)
	for {
		_ = c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		n, err := c.Write(make([]byte, 1<<20))
		sent += int64(n)
		if err != nil {
			break
		}
	}
	if info, ok = TCPInfo(c); !ok || info.NotsentBytes == 0 || info.AppLimited || info.AckedBytes > info.SentBytes || info.SentBytes+info.NotsentBytes < sent {
		t.Errorf("%d bytes, nobody reads: %+v, %v", sent, info, ok)
	}
}

func TestOpenConnectionsTakeTheOptionsToo(t *testing.T) {
	l, err := net.Listen("tcp", "[::]:0") // both IP versions; accepts IPv4 on an IPv6 socket
	if err != nil {
		t.Skip("no IPv6 here:", err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, host := range []string{"127.0.0.1", "::1"} {
		c, err := net.Dial("tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Skip("no IPv6 here:", err)
		}
		defer c.Close()
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		accepted := s.(*net.TCPConn)
		if err := (Settings{TOS: 72, Congestion: "reno", Window: 50_000, Device: "nowhere"}).Apply(s); err != nil {
			t.Fatal(err)
		}
		if tos := intOption(t, accepted, unix.IPPROTO_IP, unix.IP_TOS); tos != 72 {
			t.Errorf("from %s: IP_TOS is %d", host, tos)
		}
		if class := intOption(t, accepted, unix.IPPROTO_IPV6, unix.IPV6_TCLASS); class != 72 {
			t.Errorf("from %s: IPV6_TCLASS is %d", host, class)
		}
		if intOption(t, accepted, unix.IPPROTO_TCP, unix.TCP_NODELAY) != 0 {
			t.Errorf("from %s: Nagle's algorithm is off though NoDelay is false", host)
		}
		if err := (Settings{NoDelay: true}).Apply(s); err != nil || intOption(t, accepted, unix.IPPROTO_TCP, unix.TCP_NODELAY) == 0 {
			t.Errorf("from %s: Nagle's algorithm is on though NoDelay is true: %v", host, err)
		}
	}
}

func TestAnOptionThatTheKernelRefusesIsAClearError(t *testing.T) {
	for _, c := range []struct {
		o    measure.Options
		kind measure.Kind
		says string
	}{
		{measure.Options{Congestion: "nosuchthing"}, measure.KindUsage, "available here: "},
		{measure.Options{Device: "nosuchdev0"}, measure.KindUsage, "no such interface"},
		{measure.Options{Own: own{MSS: 1}}, measure.KindUsage, "TCP_MAXSEG"},
	} {
		_, _, err := dialled(t, c.o)
		if err == nil || measure.KindOf(err) != c.kind || !strings.Contains(measure.AsError(err, "").Error(), c.says) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// unprivileged runs f without CAP_NET_ADMIN.
func unprivileged(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with what it dropped
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var caps [2]unix.CapUserData
		if err := unix.Capget(&header, &caps[0]); err != nil {
			t.Error(err)
			return
		}
		caps[0].Effective &^= 1 << unix.CAP_NET_ADMIN
		if err := unix.Capset(&header, &caps[0]); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

func TestAWindowAboveTheKernelsLimitIsAnError(t *testing.T) {
	const asked = 1 << 30
	text, err := os.ReadFile("/proc/sys/net/core/wmem_max")
	if most, _ := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || most >= asked {
		t.Skip("this host allows windows of 1 GiB, or does not say what it allows")
	}
	lc := net.ListenConfig{Control: Settings{Window: asked}.Control}
	unprivileged(t, func() {
		l, err := lc.Listen(t.Context(), "tcp4", "127.0.0.1:0")
		if err == nil {
			l.Close()
			t.Error("the window was cut without a word")
			return
		}
		if measure.KindOf(err) != measure.KindPermission || !strings.Contains(measure.AsError(err, "").Error(), "net.core.wmem_max") {
			t.Errorf("error %v", err)
		}
	})
}

func TestPortsAreShared(t *testing.T) {
	lc := net.ListenConfig{Control: Settings{ReusePort: true}.Control}
	a, err := lc.ListenPacket(t.Context(), "udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := lc.ListenPacket(t.Context(), "udp4", a.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

func TestUnsentIsWhatThePeerHasNotAcknowledged(t *testing.T) {
	c, s, err := dialled(t, measure.Options{Window: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	// There is no reader, so the queue stays.
	_ = c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	written := int64(0)
	for {
		n, err := c.Write(make([]byte, 64<<10))
		written += int64(n)
		if err != nil {
			break
		}
	}
	queued, ok := Unsent(c)
	if !ok || queued <= 0 || queued >= written {
		t.Fatalf("%d of %d bytes are queued, %v", queued, written, ok)
	}
	Abort(s)
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatal("no reset came")
	}
	if after, ok := Unsent(c); !ok || after != queued {
		t.Errorf("%d bytes queued after the reset, %d before", after, queued)
	}
}

func TestTheKernelsUnlimitedBecomesZero(t *testing.T) {
	got := fromKernel(&unix.TCPInfo{Pacing_rate: ^uint64(0), Snd_ssthresh: 0x7fffffff, Min_rtt: ^uint32(0), Rtt: 250, Delivery_rate: 1000, State: 99}, "x")
	want := measure.TCPInfo{Congestion: "x", RTTNs: 250_000, DeliveryBps: 8000}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAReaderKnowsTheRoomAndTheRoundTripOfAConnection(t *testing.T) {
	near, _, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := near.SetReadBuffer(100_000); err != nil {
		t.Fatal(err)
	}
	in := discardingReader(t, near)
	if n := in.Room(0); n != 100_000 {
		t.Errorf("%d bytes in a buffer of 100000", n)
	}
	if d := in.RoundTrip(0); d <= 0 || d > time.Second {
		t.Errorf("a round trip of %v over loopback", d)
	}
}

func TestAWindowIsWidenedAndOneOfAChosenSizeLeftAlone(t *testing.T) {
	for name, c := range map[string]struct{ chosen, least, most int64 }{
		"the kernel's": {0, 1 << 20, math.MaxInt64},
		"chosen":       {100_000, 100_000, 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			near, far, err := dialled(t, measure.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c.chosen > 0 {
				if err := near.SetReadBuffer(int(c.chosen)); err != nil {
					t.Fatal(err)
				}
			}
			in := discardingReader(t, near)
			in.Widen(0, 2<<20)
			if n := in.Room(0); n < c.least || n > c.most {
				t.Errorf("room for %d bytes, want %d to %d", n, c.least, c.most)
			}
			in.Widen(0, 1)
			if n := in.Room(0); n < c.least {
				t.Errorf("narrowed to %d", n)
			}
			if _, err := far.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			in.Wait(5 * time.Second)
			if n, err := in.Take(0); n != 1 {
				t.Errorf("took %d bytes (%v), want the one that came: it waits for more", n, err)
			}
		})
	}
}

// discardingReader discards what comes on c.
func discardingReader(t *testing.T, c *net.TCPConn) *Reader {
	t.Helper()
	in, err := OpenReader([]*net.TCPConn{c}, "discard", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}
