package lab

import (
	"context"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"soku/internal/measure"
	"soku/internal/sock"
)

// A link is a veth pair, or, if a direction has a delay, loss or a policer of bytes, one TAP
// device at each end with the delay line between them. Both ends have the same hardware address and neighbour
// resolution is off, so no ARP or neighbour discovery ever adds to a round trip or is lost
// in a full queue.

// delayed reports whether the delay line carries the link.
func (l *Link) delayed() bool {
	for i := range l.Ways {
		if l.Ways[i].Delay > 0 || l.Ways[i].Loss > 0 || l.policesBytes(i) {
			return true
		}
	}
	return false
}

// policesBytes reports whether that direction has a policer of bytes.
func (l *Link) policesBytes(way int) bool {
	return l.Ways[way].Police > 0 && l.Policer == PoliceBytes
}

// perPacket reports whether packets of that direction must be at most of the MTU, without
// the large segments that the kernel otherwise moves, because the link counts or drops
// packets.
func (l *Link) perPacket(way int) bool {
	return l.Ways[way].Loss > 0 || l.Ways[way].Police > 0 || l.Ends[1-way].Node.Police > 0
}

func (l *Link) hardware() net.HardwareAddr {
	return net.HardwareAddr{0x02, 's', 'k', 'u', byte(l.index >> 8), byte(l.index)}
}

// space is an open namespace of a node.
type space struct {
	node *Node
	name string
	ns   netns.NsHandle
	nl   *netlink.Handle
}

func openSpace(lab string, n *Node) (*space, error) {
	s := &space{node: n, name: NamespaceName(lab, n.Name)}
	var err error
	if s.ns, err = netns.GetFromPath(namespacePath(s.name)); err != nil {
		return nil, fail("lab.namespace.open", measure.Figures{"namespace": s.name, "cause": err})
	}
	if s.nl, err = netlink.NewHandleAt(s.ns, unix.NETLINK_ROUTE); err != nil {
		s.ns.Close()
		return nil, fail("lab.namespace.open", measure.Figures{"namespace": s.name, "cause": err})
	}
	return s, nil
}

func (s *space) close() {
	s.nl.Close()
	s.ns.Close()
}

// addVeth makes the pair of a link that is not delayed.
func addVeth(l *Link, at [2]*space) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = l.Ends[0].Iface
	attrs.MTU = l.MTU
	attrs.HardwareAddr = l.hardware()
	v := netlink.NewVeth(attrs)
	v.PeerName = l.Ends[1].Iface
	v.PeerHardwareAddr = l.hardware()
	v.PeerNamespace = netlink.NsFd(int(at[1].ns))
	v.PeerMTU = uint32(l.MTU)
	if err := at[0].nl.LinkAdd(v); err != nil {
		return fail("lab.link.veth", measure.Figures{"cause": err})
	}
	return nil
}

// tapQueue is how many packets a TAP device holds for the delay line. It covers pauses of
// the line; the queues of the emulated network are in the shaper.
const tapQueue = 4096

// openTap makes a TAP device in a namespace. It exists as long as its file is
// open somewhere.
func openTap(s *space, iface string, whole bool) (*os.File, error) {
	var file *os.File
	err := inside(s.name, func() error {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return fail("lab.link.tun", measure.Figures{"cause": err})
		}
		request, err := unix.NewIfreq(iface)
		if err != nil {
			unix.Close(fd)
			return err
		}
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
			unix.Close(fd)
			return fail("lab.link.tap", measure.Figures{"interface": iface, "cause": err})
		}
		if err := setOffload(fd, whole); err != nil {
			unix.Close(fd)
			return fail("lab.link.offloads", measure.Figures{"interface": iface, "cause": err})
		}
		file = os.NewFile(uintptr(fd), iface)
		return nil
	})
	return file, err
}

// stampRoom is for the stamps of packets that arrive while the delay line wakes up: some
// dozens, because the kernel counts a packet's whole memory.
const stampRoom = 64 << 10 // bytes

// openStamps opens a socket that receives one byte and the kernel's time stamp of each
// packet sent through a device, while there is room (packet(7)).
func openStamps(s *space, iface string) (*os.File, error) {
	fd := -1
	err := inside(s.name, func() (err error) {
		// Without a protocol it gets nothing until it is bound and has its filter.
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		return err
	})
	if err == nil {
		err = stampLeaving(fd, s, iface)
	}
	if err != nil {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return nil, fail("lab.link.stamps", measure.Figures{"interface": iface, "cause": err})
	}
	return os.NewFile(uintptr(fd), iface+" stamps"), nil
}

func stampLeaving(fd int, s *space, iface string) error {
	dev, err := s.nl.LinkByName(iface)
	if err != nil {
		return err
	}
	// The offset of the packet's metadata: linux/filter.h.
	const packetType = 1<<32 - 0x1000 + 4 // SKF_AD_OFF + SKF_AD_PKTTYPE
	leaving := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: packetType},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.PACKET_OUTGOING, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1}, // keep a byte of it
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
	program := unix.SockFprog{Len: uint16(len(leaving)), Filter: &leaving[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, stampRoom/2); err != nil { // the kernel doubles it
		return err
	}
	if err := sock.Stamp(fd, true); err != nil {
		return err
	}
	const all = unix.ETH_P_ALL << 8 // in the network's byte order
	return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: dev.Attrs().Index})
}

// Offload bits of TUNSETOFFLOAD (linux/if_tun.h).
const (
	tunCSUM   = 0x01
	tunTSO4   = 0x02
	tunTSO6   = 0x04
	tunTSOECN = 0x08
	tunUSO4   = 0x20
	tunUSO6   = 0x40
)

// setOffload lets segmentation-offload packets pass whole, or only as packets
// of the MTU. Checksums are left open in both cases: the line changes nothing.
func setOffload(fd int, whole bool) error {
	if !whole {
		return unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tunCSUM)
	}
	const tcp = tunCSUM | tunTSO4 | tunTSO6 | tunTSOECN
	if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tcp|tunUSO4|tunUSO6); err == nil {
		return nil
	}
	return unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tcp) // kernels before 6.2 know no UDP segments
}

// segmentRoom is more than the kernel takes off a device's largest segment for
// headers that may come in front of it (MAX_TCP_HEADER).
const segmentRoom = 512

// setUp gives one end of a link its settings and addresses and switches it on.
func setUp(l *Link, end int, s *space) error {
	e := &l.Ends[end]
	dev, err := s.nl.LinkByName(e.Iface)
	if err != nil {
		return fail("lab.link.find", measure.Figures{"interface": e.Iface, "cause": err})
	}
	for _, set := range []struct {
		code  string
		where bool
		do    func() error
	}{
		{"lab.link.hardware_address", l.delayed(), func() error { return s.nl.LinkSetHardwareAddr(dev, l.hardware()) }},
		{"lab.link.mtu", l.delayed(), func() error { return s.nl.LinkSetMTU(dev, l.MTU) }},
		{"lab.link.queue", l.delayed(), func() error { return s.nl.LinkSetTxQLen(dev, tapQueue) }},
		{"lab.link.arp", true, func() error { return s.nl.LinkSetARPOff(dev) }},
		{"lab.link.segments", l.perPacket(end), func() error { return s.nl.LinkSetGSOMaxSegs(dev, 1) }},
		// Segments that a delay line handed over do not say how many packets they
		// are; only their size shows it. What the kernel adds to it for itself must fit.
		{"lab.link.segment_size", l.perPacket(end), func() error { return s.nl.LinkSetGSOMaxSize(dev, l.MTU+segmentRoom) }},
	} {
		if !set.where {
			continue
		}
		if err := set.do(); err != nil {
			return fail(set.code, measure.Figures{"interface": e.Iface, "cause": err})
		}
	}
	for _, p := range e.Addrs {
		if err := addAddress(s, dev, p.Addr(), p.Bits()); err != nil {
			return fail("lab.link.address", measure.Figures{"address": p.String(), "interface": e.Iface, "cause": err})
		}
	}
	if err := s.nl.LinkSetUp(dev); err != nil {
		return fail("lab.link.up", measure.Figures{"interface": e.Iface, "cause": err})
	}
	return nil
}

// carrierTimeout is how long the kernel may take to detect the carrier of a link, usually
// milliseconds on a busy machine.
const carrierTimeout = 5 * time.Second

// awaitCarrier returns when packets pass over a link, whose first end is in s. That end
// was set up before the other: it gets its carrier when the other follows, and drops
// packets until a kernel worker has noticed. The other end sends from the beginning, as
// TAP devices do.
func awaitCarrier(ctx context.Context, l *Link, s *space) error {
	if l.delayed() {
		return nil
	}
	iface := l.Ends[0].Iface
	for deadline := time.Now().Add(carrierTimeout); ; {
		dev, err := s.nl.LinkByName(iface)
		if err != nil {
			return fail("lab.link.find", measure.Figures{"interface": iface, "cause": err})
		}
		if dev.Attrs().OperState == netlink.OperUp {
			return nil
		}
		if time.Now().After(deadline) {
			return measure.Fail(measure.KindInternal, "lab.no_carrier", measure.Figures{"interface": iface, "timeout_ns": carrierTimeout})
		}
		if !sock.Pause(ctx, time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}

func addAddress(s *space, dev netlink.Link, a netip.Addr, bits int) error {
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(bits, a.BitLen())}}
	if a.Is6() {
		addr.Flags = unix.IFA_F_NODAD // no duplicates are possible
	}
	return s.nl.AddrAdd(dev, addr)
}

// addRoutes gives a node its routes. Every device must be up.
func addRoutes(t *Topology, s *space) error {
	for _, r := range t.Routes(s.node) {
		route := &netlink.Route{Dst: &net.IPNet{IP: r.To.Addr().AsSlice(), Mask: net.CIDRMask(r.To.Bits(), r.To.Addr().BitLen())}}
		for _, h := range r.Hops {
			dev, err := s.nl.LinkByName(h.Link.Ends[h.End].Iface)
			if err != nil {
				return fail("lab.link.find", measure.Figures{"interface": h.Link.Ends[h.End].Iface, "cause": err})
			}
			hop := &netlink.NexthopInfo{LinkIndex: dev.Attrs().Index, Gw: h.Gateway.AsSlice()}
			if len(r.Hops) == 1 {
				route.LinkIndex, route.Gw = hop.LinkIndex, hop.Gw
			} else {
				route.MultiPath = append(route.MultiPath, hop)
			}
		}
		if err := s.nl.RouteAdd(route); err != nil {
			return fail("lab.node.route", measure.Figures{"route": r.String(), "cause": err})
		}
	}
	return nil
}
