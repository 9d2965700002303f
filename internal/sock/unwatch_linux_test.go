package sock

import (
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestUnwatchRemovesAConnectionFromEpollAndAddsItAgain(t *testing.T) {
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seen := func() bool {
		raw, _ := c.SyscallConn()
		fds := map[int]bool{}
		_ = raw.Control(func(fd uintptr) { fds[int(fd)] = true })
		_, events := watching(fds)
		return len(events) == 1
	}
	if !seen() {
		t.Skip("the runtime's epoll instance is not to be found here")
	}
	watch := Unwatch([]net.Conn{c})
	if seen() {
		t.Error("the runtime still watches the connection")
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	buf := make([]byte, 10)
	if _, err := c.Read(buf); !os.IsTimeout(err) {
		t.Errorf("a read with a deadline: %v", err)
	}
	// What came meanwhile must not be missed.
	if _, err := c.WriteTo([]byte("one"), c.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	watch()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	for _, want := range []string{"one", "two"} {
		if n, err := c.Read(buf); err != nil || string(buf[:n]) != want {
			t.Errorf("read %q, %v, want %q", buf[:n], err, want)
		}
		go func() { _, _ = c.WriteTo([]byte("two"), c.LocalAddr()) }()
	}
}

func TestAddingAClosedConnectionAgainIsHarmless(t *testing.T) {
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	watch := Unwatch([]net.Conn{c})
	c.Close()
	watch()
}

func FuzzWatched(f *testing.F) {
	f.Add("tfd:        8 events: 80002019 data:     7f00dead0008  pos:0 ino:2f sdev:8")
	f.Add("tfd: 99999999999999999999 events: x data: y z")
	f.Fuzz(func(t *testing.T, line string) {
		if fd, event, ok := parseWatched(line); !ok && (fd != 0 || event != (unix.EpollEvent{})) {
			t.Errorf("%q is no line, and reads as %d %v", line, fd, event)
		}
	})
}

func TestALineOfFdinfoIsParsed(t *testing.T) {
	fd, event, ok := parseWatched("tfd:        8 events: 80002019 data:     7f00dead0008  pos:0 ino:2f sdev:8")
	if !ok || fd != 8 || event.Events != 0x80002019 {
		t.Errorf("fd %d, %+v, %v", fd, event, ok)
	}
}
