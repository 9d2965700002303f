package sock

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestASocketLeavesTheNetPollerAndComesBack(t *testing.T) {
	in, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := net.DialUDP("udp4", nil, in.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	raw, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		if n := len(memberships(int(fd))); n != 1 {
			t.Fatalf("a socket is in %d epoll sets", n)
		}
		restore := Unpoll(int(fd))
		if n := len(memberships(int(fd))); n != 0 {
			t.Errorf("it is still in %d", n)
		}
		restore()
		if n := len(memberships(int(fd))); n != 1 {
			t.Errorf("back in %d", n)
		}
	})
	// A read that has to wait wakes up, which only the net poller does.
	got := make(chan error, 1)
	_ = in.SetReadDeadline(time.Now().Add(20 * time.Second))
	go func() { _, err := in.Read(make([]byte, 9)); got <- err }()
	if _, err := out.Write([]byte("wake up")); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestOnlyTheLineOfADescriptorIsItsMembership(t *testing.T) {
	const line = "tfd:        7 events:     201d data: 7f5b1c000d08aabb  pos:0 ino:3a sdev:8"
	want := unix.EpollEvent{Events: 0x201d, Fd: 0x0d08aabb, Pad: 0x7f5b1c00}
	e, ok := parseMember(line, 7)
	if !ok || e.Events != want.Events || e.Fd != want.Fd || e.Pad != want.Pad {
		t.Errorf("%+v, %v", e, ok)
	}
	for _, line := range []string{line[:20], "", "pos:	0", "tfd: x events: 1 data: 2"} {
		if _, ok := parseMember(line, 7); ok {
			t.Errorf("%q is taken", line)
		}
	}
	if _, ok := parseMember(line, 8); ok {
		t.Error("another descriptor's line is taken")
	}
}
