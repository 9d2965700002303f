//go:build linux && (amd64 || arm64) && !race

package latency

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

func TestASpinningSocketHasNoDevicePolledWhereNoneCanBe(t *testing.T) {
	for _, protocol := range []string{"tcp", "udp"} {
		near, far := sockets(t, protocol)
		if got := busyPolled(t, near, far); got != 0 {
			t.Errorf("%s over loopback: the kernel polls for %d µs", protocol, got)
		}
	}
}

func TestASpinningSocketHasItsDevicePolled(t *testing.T) {
	near, far := acrossDevices(t)
	if got := busyPolled(t, near, far); got != busyPollUs {
		t.Errorf("the kernel polls for %d µs, not for %d", got, busyPollUs)
	}
}

// busyPolled is how long the kernel polls a device for near in µs, once it spins and
// something has come from far; release must end that.
func busyPolled(t *testing.T, near, far net.Conn) (us int) {
	t.Helper()
	l, ok := openDirect(near, time.Second, true)
	if !ok {
		t.Fatal("a socket has no link of its own")
	}
	x := l.(*directLink)
	x.slice() // nothing has come yet
	if _, err := far.Write(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	x.prepare(64, false)
	x.d.once = true
	for end := time.Now().Add(10 * time.Second); ; {
		if _ = x.raw.Control(func(fd uintptr) { x.d.fd = fd; ok = x.d.receive() }); ok {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing came")
		}
	}
	x.slice()
	read := func() (us int) {
		if err := x.raw.Control(func(fd uintptr) { us, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BUSY_POLL) }); err != nil {
			t.Fatal(err)
		}
		return us
	}
	us = read()
	x.release()
	if left := read(); left != 0 {
		t.Errorf("released, the kernel goes on polling for %d µs", left)
	}
	return us
}

// acrossDevices are the ends of a TCP connection between two network namespaces, over
// devices whose drivers can be polled: a veth pair's can as long as it joins segments.
func acrossDevices(t *testing.T) (near, far net.Conn) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	runtime.LockOSThread()
	home, err := netns.Get()
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	check("this namespace", err)
	t.Cleanup(func() {
		if netns.Set(home) == nil { // else the thread ends with its goroutine
			runtime.UnlockOSThread()
		}
		_ = home.Close()
	})
	b, err := netns.New()
	check("a namespace", err)
	t.Cleanup(func() { _ = b.Close() })
	a, err := netns.New()
	check("a namespace", err)
	t.Cleanup(func() { _ = a.Close() })
	check("a veth pair", netlink.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: "near"}, PeerName: "far", PeerNamespace: netlink.NsFd(b),
	}))
	up := func(name, address string) {
		t.Helper()
		link, err := netlink.LinkByName(name)
		check(name, err)
		to, err := netlink.ParseAddr(address)
		check(address, err)
		check(address, netlink.AddrAdd(link, to))
		features, err := ethtool.NewEthtool()
		check("ethtool", err)
		defer features.Close()
		have, err := features.Features(name)
		check("features", err)
		want := map[string]bool{"rx-gro": true}
		for feature := range have {
			if strings.HasPrefix(feature, "tx-tcp") { // what is joined already passes by the driver's poll
				want[feature] = false
			}
		}
		check("joining segments", features.Change(name, want))
		check("up", netlink.LinkSetUp(link))
	}
	up("near", "10.213.9.1/30")
	check("the other namespace", netns.Set(b))
	up("far", "10.213.9.2/30")
	listener, err := net.Listen("tcp4", "10.213.9.2:0")
	check("listen", err)
	t.Cleanup(func() { _ = listener.Close() })
	check("the first namespace", netns.Set(a))
	near, err = net.DialTimeout("tcp4", listener.Addr().String(), 10*time.Second)
	check("connect", err)
	t.Cleanup(func() { _ = near.Close() })
	far, err = listener.Accept()
	check("accept", err)
	t.Cleanup(func() { _ = far.Close() })
	return near, far
}
