package sock

import (
	"encoding/binary"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// raw6 has the kernel report the label of each datagram received on c.
func raw6(t *testing.T, c *net.UDPConn) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, flowInfo, 1) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}

// labelOf reads a datagram and returns the label that it came with.
func labelOf(t *testing.T, c *net.UDPConn) int {
	t.Helper()
	control := make([]byte, 256)
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, n, _, _, err := c.ReadMsgUDP(make([]byte, 16), control)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == flowInfo {
			return int(binary.BigEndian.Uint32(m.Data) & option.MaxFlowLabel)
		}
	}
	return 0
}

// labels are of both halves of the number space, which kernels may treat differently.
var labels = []int{1, 0x12345, option.MaxFlowLabel}

func TestDatagramsLeaveWithTheFlowLabel(t *testing.T) {
	for _, label := range labels {
		l, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
		if err != nil {
			t.Skip("no IPv6 on loopback: ", err)
		}
		defer l.Close()
		raw6(t, l)
		d, err := DialerFor("udp", measure.Options{FlowLabel: label})
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.DialContext(t.Context(), "udp", l.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		from := c.LocalAddr().String()
		if err := (Settings{FlowLabel: label}).Apply(c); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if got := labelOf(t, l); got != label || c.LocalAddr().String() != from {
			t.Errorf("label %#x from %s, want %#x from %s", got, c.LocalAddr(), label, from)
		}
	}
}

// labelsOf is what a connection has been sent, and what it sends with.
func labelsOf(t *testing.T, c *net.TCPConn) (theirs, own int) {
	t.Helper()
	fds, err := holdAll([]*net.TCPConn{c})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	return remoteLabel(t, fds[0]), mirrored(fds[0])
}

// remoteLabel is the label of the last packet that came, of a socket that looks at them
// (IPV6_FL_F_REMOTE).
func remoteLabel(t *testing.T, fd int) int {
	t.Helper()
	r := flowLabelRequest{flags: 8}
	size := uint32(unsafe.Sizeof(r))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_IPV6, flowLabelMgr,
		uintptr(unsafe.Pointer(&r)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	return int(binary.BigEndian.Uint32(r.label[:]) & option.MaxFlowLabel)
}

// ownNetwork moves the test to a network of its own with nothing but loopback, and
// with the setting by which a server may choose its labels.
func ownNetwork(t *testing.T, consistency string) {
	t.Helper()
	runtime.LockOSThread() // for good: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skip("no network of its own: ", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv6/flowlabel_consistency", []byte(consistency), 0); err != nil {
		t.Skip(err)
	}
}

// labelledPair is a connection with the options of a trial to a listener.
func labelledPair(t *testing.T, l net.Listener, o measure.Options) (near, far *net.TCPConn) {
	t.Helper()
	d, err := DialerFor("tcp", o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

func TestASystemThatChoosesLabelsItselfIsAPermissionError(t *testing.T) {
	ownNetwork(t, "1")
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on loopback: ", err)
	}
	defer l.Close()
	_, s := labelledPair(t, l, measure.Options{FlowLabel: 5})
	if err := (Settings{FlowLabel: 5}).Apply(s); measure.KindOf(err) != measure.KindPermission || !strings.Contains(err.Error(), "flowlabel_consistency") {
		t.Errorf("%v", err)
	}
}

func TestConnectionsHaveTheFlowLabelFromTheirFirstPacketOn(t *testing.T) {
	ownNetwork(t, "0")
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on loopback: ", err)
	}
	defer l.Close()
	for _, bind := range []string{"", "::1"} {
		for _, label := range labels {
			near, far := labelledPair(t, l, measure.Options{FlowLabel: label, Bind: bind, TOS: 8})
			// What was accepted takes the label of the next packet that comes.
			set := Settings{FlowLabel: label, TOS: 8, NoDelay: true}
			for _, end := range []*net.TCPConn{near, far} {
				if err := set.Apply(end); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := near.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := far.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			if theirs, own := labelsOf(t, far); theirs != label || own != label {
				t.Errorf("bound to %q, label %#x: the server is sent %#x and sends %#x", bind, label, theirs, own)
			}
			if err := set.Apply(far); err != nil { // and now it looks no more
				t.Fatal(err)
			}
			if _, own := labelsOf(t, far); own != label {
				t.Errorf("label %#x: the server sends %#x afterwards", label, own)
			}
		}
	}
}

func TestAClosedPortRefusesALabelledConnection(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on loopback: ", err)
	}
	to := l.Addr().String()
	l.Close()
	d, err := DialerFor("tcp", measure.Options{FlowLabel: 5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.DialContext(t.Context(), "tcp", to); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
}

func TestIPv4HasNoFlowLabels(t *testing.T) {
	for _, network := range []string{"tcp", "udp"} {
		d, err := DialerFor(network, measure.Options{FlowLabel: 5})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.DialContext(t.Context(), network, "127.0.0.1:9"); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "IPv4 has no flow labels") {
			t.Errorf("%s: %v", network, err)
		}
	}
	c, _, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := (Settings{FlowLabel: 5}).Apply(c); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("%v", err)
	}
}

func TestADatagramThatNeedsFragmentationIsRefused(t *testing.T) {
	for address, headers := range map[string]int{"127.0.0.1": 28, "::1": 48} {
		to := net.UDPAddr{IP: net.ParseIP(address), Port: 9}
		d, err := DialerFor("udp", measure.Options{Own: own{NoFragment: true}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.DialContext(t.Context(), "udp", to.String())
		if err != nil {
			t.Skip(err)
		}
		defer c.Close()
		mtu, ok := PathMTU(c)
		if !ok || mtu <= 1000 {
			t.Fatalf("%s: the path's MTU is %d, %v", address, mtu, ok)
		}
		largest := mtu - headers
		if _, err := c.Write(make([]byte, largest+1)); largest < 65507 && !TooLong(err) {
			t.Errorf("%s: %d bytes: %v", address, largest+1, err)
		}
		if _, err := c.Write(make([]byte, min(largest, 65507))); TooLong(err) {
			t.Errorf("%s: %d bytes: %v", address, largest, err)
		}
	}
}
