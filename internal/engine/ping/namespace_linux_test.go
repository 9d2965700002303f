package ping

import (
	"errors"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"soku/test/tier"
)

// onThread runs f on a thread that is thrown away, after setup changed it.
func onThread(t *testing.T, setup func() error, f func()) {
	t.Helper()
	tier.NeedsRoot(t, "network namespaces")
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		err := setup()
		if err == nil {
			f()
		}
		done <- err
	}()
	err := <-done
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOENT) {
		t.Skip("this system does not let the test have its namespace: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// namespace puts the thread into a network namespace of its own with loopback up.
func namespace() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(lo)
}

// dropNetRaw takes CAP_NET_RAW from the calling thread.
func dropNetRaw() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective &^= 1 << unix.CAP_NET_RAW
	return unix.Capset(&header, &data[0])
}

// refusingRouter makes a namespace at 10.97.0.2 that is the default route of
// the calling thread's and has no route on.
func refusingRouter() error {
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer here.Close()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "near"
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "far"}
	if err := netlink.LinkAdd(veth); err != nil {
		return err
	}
	far, err := netlink.LinkByName("far")
	if err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	// The file is what keeps the other namespace: it is left open until the
	// process ends.
	there, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	if err := netlink.LinkSetNsFd(far, there); err != nil {
		return err
	}
	if err := unix.Setns(there, unix.CLONE_NEWNET); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return err
	}
	if err := up("far", net.IPv4(10, 97, 0, 2)); err != nil {
		return err
	}
	if err := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	if err := up("near", net.IPv4(10, 97, 0, 1)); err != nil {
		return err
	}
	return netlink.RouteAdd(&netlink.Route{
		Dst: &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}, Gw: net.IPv4(10, 97, 0, 2),
	})
}

func up(name string, ip net.IP) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: net.CIDRMask(24, 32)}}); err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}
