package cable

import (
	"net/netip"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"soku/test/tier"
)

// Host is a network namespace that is removed when its test ends.
type Host struct {
	Addr   netip.Addr
	Device string // its end of the cable
	ns     netns.NsHandle
}

// Pair creates two hosts and the cable between them, a veth pair. Without root the test is
// skipped.
func Pair(t *testing.T) (a, b Host) {
	t.Helper()
	tier.NeedsRoot(t, "network namespaces")
	a = Host{netip.MustParseAddr("192.0.2.1"), "soku-a", namespace(t)}
	b = Host{netip.MustParseAddr("192.0.2.2"), "soku-b", namespace(t)}
	a.Do(t, func() error {
		return netlink.LinkAdd(&netlink.Veth{
			LinkAttrs: netlink.LinkAttrs{Name: a.Device}, PeerName: b.Device, PeerNamespace: netlink.NsFd(b.ns),
		})
	})
	for _, h := range []Host{a, b} {
		h.Link(t, func(link netlink.Link) error {
			to, err := netlink.ParseAddr(h.Addr.String() + "/30")
			if err != nil {
				return err
			}
			if err := netlink.AddrAdd(link, to); err != nil {
				return err
			}
			return netlink.LinkSetUp(link)
		})
	}
	return a, b
}

// Do runs f on a thread in the host's namespace. Sockets created there belong to it. An
// error fails the test.
func (h Host) Do(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		var err error
		defer func() { done <- err }()
		if err = netns.Set(h.ns); err == nil {
			err = f()
		}
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Link runs f on a thread in the host's namespace with its end of the cable.
func (h Host) Link(t *testing.T, f func(netlink.Link) error) {
	t.Helper()
	h.Do(t, func() error {
		link, err := netlink.LinkByName(h.Device)
		if err != nil {
			return err
		}
		return f(link)
	})
}

func namespace(t *testing.T) netns.NsHandle {
	t.Helper()
	made := make(chan netns.NsHandle, 1)
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		ns, err := netns.New()
		if err != nil {
			failed <- err
			return
		}
		made <- ns
	}()
	select {
	case ns := <-made:
		t.Cleanup(func() { _ = ns.Close() })
		return ns
	case err := <-failed:
		t.Fatal(err)
		return 0
	}
}
