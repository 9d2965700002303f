package sock

import (
	"errors"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"soku/test/congestion"
)

// withDefault runs f on a thread in a network namespace of its own, whose congestion
// control is name unless one is chosen. The machine must allow it.
func withDefault(t *testing.T, name string, f func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with its namespace
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			var lo netlink.Link
			if lo, err = netlink.LinkByName("lo"); err == nil {
				err = errors.Join(netlink.LinkSetUp(lo), os.WriteFile("/proc/sys/net/ipv4/tcp_congestion_control", []byte(name), 0))
			}
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// congestionOf is the congestion control of c.
func congestionOf(c *net.TCPConn) (name string) {
	onSocket(c, func(fd int) { name, _ = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION) })
	return name
}

func TestNothingPacesAConnectionBeforeItsCongestionControlIsChosen(t *testing.T) {
	congestion.Allow(t, "bbr", "cubic")
	for name, c := range map[string]struct {
		system, chosen          string
		accepted, then, resumed string
	}{
		"chosen":             {system: "bbr", chosen: "cubic", accepted: "reno", then: "cubic", resumed: "cubic"},
		"the system's":       {system: "bbr", accepted: "reno", then: "bbr", resumed: "bbr"},
		"one without pacing": {system: "cubic", accepted: "cubic", then: "cubic", resumed: "cubic"},
	} {
		t.Run(name, func(t *testing.T) {
			withDefault(t, c.system, func() {
				l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
				if err != nil {
					t.Error(err)
					return
				}
				defer l.Close()
				Unpaced(l)
				client, err := net.DialTCP("tcp4", nil, l.Addr().(*net.TCPAddr))
				if err != nil {
					t.Error(err)
					return
				}
				defer client.Close()
				server, err := l.AcceptTCP()
				if err != nil {
					t.Error(err)
					return
				}
				defer server.Close()
				if got := congestionOf(server); got != c.accepted {
					t.Errorf("accepted with %s, want %s", got, c.accepted)
				}
				if err := (Settings{Congestion: c.chosen}).Apply(server); err != nil {
					t.Error(err)
				}
				if got := congestionOf(server); got != c.then {
					t.Errorf("with the options of a test it has %s, want %s", got, c.then)
				}
				SystemCongestion(server)
				if got := congestionOf(server); got != c.resumed {
					t.Errorf("afterwards it has %s, want %s", got, c.resumed)
				}
				if got := congestionOf(client); got != c.system {
					t.Errorf("the one that dialled has %s, want %s", got, c.system)
				}
			})
		})
	}
}
