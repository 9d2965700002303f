package host

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"soku/internal/measure"
	"soku/test/namespace"
)

// inNamespace runs f in a network namespace of its own, with an interface soku0 of MTU 1234 that
// has 10.98.0.1.
func inNamespace(t *testing.T, f func() error) {
	t.Helper()
	namespace.Do(t, func() error {
		if err := addInterface(); err != nil {
			return err
		}
		return f()
	})
}

func addInterface() error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = "soku0", 1234
	link := &netlink.Veth{LinkAttrs: attrs, PeerName: "soku1"}
	if err := netlink.LinkAdd(link); err != nil {
		return err
	}
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(10, 98, 0, 1), Mask: net.CIDRMask(24, 32)}}
	if err := netlink.AddrAdd(link, addr); err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

func TestFactsAreThoseOfTheCallersNamespace(t *testing.T) {
	var f measure.Facts
	var mtu int
	inNamespace(t, func() error {
		if err := os.WriteFile("/proc/sys/net/ipv4/tcp_mtu_probing", []byte("2"), 0); err != nil {
			return err
		}
		f, mtu = Facts(t.Context(), netip.MustParseAddr("10.98.0.1")), RouteMTU(netip.MustParseAddr("10.98.0.2"))
		return nil
	})
	if mtu != 1234 {
		t.Errorf("the MTU to the next host is %d", mtu)
	}
	if f.Interface != "soku0" || f.MTU != 1234 || f.Driver != "veth" || f.LinkSpeedMbps != 0 || f.Qdisc != "noqueue" {
		t.Errorf("got interface %q, MTU %d, driver %q, %d Mbit/s, qdisc %q", f.Interface, f.MTU, f.Driver, f.LinkSpeedMbps, f.Qdisc)
	}
	if f.Sysctl["net.ipv4.tcp_mtu_probing"] != "2" {
		t.Errorf("tcp_mtu_probing is %q, the namespace has 2", f.Sysctl["net.ipv4.tcp_mtu_probing"])
	}
	if _, ok := f.Offloads["tso"]; !ok {
		t.Errorf("offloads of a veth: %v", f.Offloads)
	}
	if outside := Facts(t.Context(), netip.MustParseAddr("10.98.0.1")); outside.Interface != "" {
		t.Errorf("outside the namespace the address was found on %q", outside.Interface)
	}
}

// awaitUp waits until the kernel has noticed that an interface has a carrier.
func awaitUp(iface string) error {
	updates, done := make(chan netlink.LinkUpdate), make(chan struct{})
	if err := netlink.LinkSubscribe(updates, done); err != nil {
		return err
	}
	defer func() {
		close(done)
		for range updates { // until the subscription has ended
		}
	}()
	dev, err := netlink.LinkByName(iface)
	if err != nil || dev.Attrs().OperState == netlink.OperUp {
		return err
	}
	limit := time.After(10 * time.Second)
	for {
		select {
		case u, ok := <-updates:
			if !ok {
				return errors.New("the kernel reports no interfaces")
			}
			if a := u.Attrs(); a.Name == iface && a.OperState == netlink.OperUp {
				return nil
			}
		case <-limit:
			return fmt.Errorf("%s is not up", iface)
		}
	}
}

func TestCountersAreThoseOfTheCallersNamespace(t *testing.T) {
	var c measure.Counters
	inNamespace(t, func() error {
		peer, err := netlink.LinkByName("soku1")
		if err == nil {
			err = netlink.LinkSetUp(peer)
		}
		if err == nil {
			err = awaitUp("soku0") // the kernel drops what is sent before
		}
		if err != nil {
			return err
		}
		w := Watch("soku0")
		// A broadcast needs no answer from the other end of the pair.
		conn, err := net.Dial("udp4", "10.98.0.255:9")
		if err != nil {
			return err
		}
		defer conn.Close()
		for range 10 {
			if _, err := conn.Write(make([]byte, 1000)); err != nil {
				return err
			}
		}
		c = w.Stop(Moved{})
		return nil
	})
	if c.TxBytes < 10_000 {
		t.Errorf("10 datagrams of 1000 bytes left, the counter says %d bytes", c.TxBytes)
	}
}
