package faults

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// space is a network namespace for agent c, with two cables to that of the test: one to hubs and brokers, and one for trials.
type space struct {
	t       *testing.T
	ns      netns.NsHandle
	inside  *netlink.Handle
	control cable
}

// cable is a veth pair.
type cable struct {
	here, there           net.IP // addresses of both ends
	indexHere, indexThere int
}

var cables atomic.Int32 // of this process

// newSpace makes the namespace, and has the site use it.
func newSpace(t *testing.T, s *site) *space {
	t.Helper()
	p := &space{t: t}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		var err error
		p.ns, err = netns.New()
		made <- err
	}()
	err := <-made
	if errors.Is(err, unix.EPERM) {
		t.Skip("this system does not let the test have a network namespace: ", err)
	}
	if err == nil {
		t.Cleanup(func() { _ = p.ns.Close() })
		p.inside, err = netlink.NewHandleAt(p.ns, unix.NETLINK_ROUTE)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.inside.Close)
	p.control = p.connect()
	trials := p.connect()
	s.enter = func() error { return netns.Set(p.ns) }
	s.host = p.control.here.String()
	s.addresses = map[string]string{"a": trials.here.String(), "b": trials.here.String(), "c": trials.there.String()}
	return p
}

// connect adds a cable with addresses from the network for benchmarks (RFC 2544), which depend on the process.
func (p *space) connect() (c cable) {
	p.t.Helper()
	n := cables.Add(1)
	at := (os.Getpid()%4096)*32 + int(n)*4
	c.here, c.there = net.IPv4(198, byte(18+at>>16), byte(at>>8), byte(at+1)), net.IPv4(198, byte(18+at>>16), byte(at>>8), byte(at+2))
	attributes := netlink.NewLinkAttrs()
	attributes.Name = fmt.Sprintf("sf%d-%d", os.Getpid(), n)
	root, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		p.t.Fatal(err)
	}
	defer root.Close()
	if err := root.LinkAdd(&netlink.Veth{LinkAttrs: attributes, PeerName: attributes.Name, PeerNamespace: netlink.NsFd(p.ns)}); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = netlink.LinkDel(&netlink.Veth{LinkAttrs: attributes}) })
	for _, end := range []struct {
		in    *netlink.Handle
		ip    net.IP
		index *int
	}{{root, c.here, &c.indexHere}, {p.inside, c.there, &c.indexThere}} {
		link, err := end.in.LinkByName(attributes.Name)
		if err == nil {
			*end.index = link.Attrs().Index
			err = end.in.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: end.ip, Mask: net.CIDRMask(30, 32)}})
		}
		if err == nil {
			err = end.in.LinkSetUp(link)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return c
}

// cut drops all packets between the agent on one side and hubs and brokers on the other for a time: each end sends them to a hardware
// address that the other one does not have. Neither is told, as when a router in between fails.
func (p *space) cut(d time.Duration) {
	p.t.Helper()
	root, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		p.t.Fatal(err)
	}
	defer root.Close()
	unused := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	ends := []struct {
		in *netlink.Handle
		to netlink.Neigh
	}{
		{root, netlink.Neigh{LinkIndex: p.control.indexHere, IP: p.control.there, HardwareAddr: unused, State: netlink.NUD_PERMANENT}},
		{p.inside, netlink.Neigh{LinkIndex: p.control.indexThere, IP: p.control.here, HardwareAddr: unused, State: netlink.NUD_PERMANENT}},
	}
	for _, end := range ends {
		if err := end.in.NeighSet(&end.to); err != nil {
			p.t.Fatal(err)
		}
	}
	time.Sleep(d)
	for _, end := range ends {
		if err := end.in.NeighDel(&end.to); err != nil {
			p.t.Fatal(err)
		}
	}
}
