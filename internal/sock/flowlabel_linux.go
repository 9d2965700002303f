package sock

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// Socket options and flags of linux/in6.h.
const (
	flowInfo     = 11 // IPV6_FLOWINFO: report the labels of received packets
	flowLabelMgr = 32 // IPV6_FLOWLABEL_MGR
	flowInfoSend = 33 // IPV6_FLOWINFO_SEND: take the label from the address of the peer

	flowLabelGet     = 0   // IPV6_FL_A_GET
	flowLabelCreate  = 1   // IPV6_FL_F_CREATE
	flowLabelReflect = 4   // IPV6_FL_F_REFLECT
	flowLabelAny     = 255 // IPV6_FL_S_ANY
)

// HasFlowLabels reports whether this system lets a program choose flow labels.
const HasFlowLabels = true

// flowLabelRequest is struct in6_flowlabel_req.
type flowLabelRequest struct {
	to              [16]byte
	label           [4]byte // big endian
	action, share   uint8
	flags           uint16
	expires, linger uint16
	_               uint32
}

// ask sends the request to the kernel.
func (r *flowLabelRequest) ask(fd int) error {
	b := unsafe.Slice((*byte)(unsafe.Pointer(r)), unsafe.Sizeof(*r))
	return unix.SetsockoptString(fd, unix.IPPROTO_IPV6, flowLabelMgr, string(b))
}

// useLabel leases a label for packets to an address, and makes the socket use the label
// given in the address it connects to.
func useLabel(fd int, to netip.Addr, label int) error {
	r := flowLabelRequest{to: to.As16(), action: flowLabelGet, flags: flowLabelCreate, share: flowLabelAny}
	binary.BigEndian.PutUint32(r.label[:], uint32(label))
	// Some systems reserve the upper half of the labels for automatic ones
	// (flowlabel_state_ranges). Such a label cannot be leased (ERANGE) and can be used
	// without a lease.
	if err := r.ask(fd); err != nil && !errors.Is(err, unix.ERANGE) {
		return refused("IPV6_FLOWLABEL_MGR", label, err)
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, flowInfoSend, 1); err != nil {
		return refused("IPV6_FLOWINFO_SEND", 1, err)
	}
	return nil
}

// connectFlow is connect(2) with a flow label, which package unix cannot pass.
func connectFlow(fd int, to *unix.SockaddrInet6, label int) error {
	raw := unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: to.Addr, Scope_id: to.ZoneId}
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&raw.Port))[:], uint16(to.Port))
	binary.BigEndian.PutUint32((*[4]byte)(unsafe.Pointer(&raw.Flowinfo))[:], uint32(label))
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&raw)), unsafe.Sizeof(raw))
	if errno != 0 {
		return errno
	}
	return nil
}

// connectLabelled binds a TCP socket to local, if that is not nil, and begins to connect
// it to address with a label. Package net then connects it again, sees that the
// connection is in progress and waits for it.
func connectLabelled(handle uintptr, local net.Addr, address string, label int) error {
	fd := int(handle)
	peer, err := netip.ParseAddrPort(address)
	if err != nil {
		return measure.Fail(measure.KindInternal, "sock.connect", measure.Figures{"address": address, "cause": err})
	}
	if local != nil {
		if err := unix.Bind(fd, inet6(AddrPort(local))); err != nil {
			return os.NewSyscallError("bind", err)
		}
	}
	if err := useLabel(fd, peer.Addr(), label); err != nil {
		return err
	}
	if err := connectFlow(fd, inet6(peer), label); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return os.NewSyscallError("connect", err)
	}
	return nil
}

func inet6(p netip.AddrPort) *unix.SockaddrInet6 {
	a := &unix.SockaddrInet6{Addr: p.Addr().As16(), Port: int(p.Port())}
	if zone := p.Addr().Zone(); zone != "" {
		if i, err := net.InterfaceByName(zone); err == nil {
			a.ZoneId = uint32(i.Index)
		} else if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
			a.ZoneId = uint32(n)
		}
	}
	return a
}

// label sets the flow label of packets that an open socket sends. A UDP socket is
// connected again, which changes only the label. A TCP socket that was connected with a
// label already has it. An accepted TCP socket can only mirror the label of its peer, and
// only if the system allows that (net.ipv6.flowlabel_consistency).
func label(fd, label int, tcp bool) error {
	if tcp {
		if sends, err := unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, flowInfoSend); err == nil && sends == 1 {
			return nil
		}
		return mirrorLabel(fd, label)
	}
	peer, err := unix.Getpeername(fd)
	if err != nil {
		return refused("IPV6_FLOWLABEL_MGR", label, err)
	}
	to, ok := peer.(*unix.SockaddrInet6)
	if !ok {
		return refused("IPV6_FLOWLABEL_MGR", label, unix.EAFNOSUPPORT)
	}
	if err := useLabel(fd, netip.AddrFrom16(to.Addr), label); err != nil {
		return err
	}
	if err := connectFlow(fd, to, label); err != nil {
		return refused("IPV6_FLOWINFO_SEND", label, err)
	}
	return nil
}

// mirrorLabel makes a socket send with the label that its peer uses. The kernel reads the
// label only from packets that it also keeps for the program, which costs time for each
// packet; so this is switched off as soon as the label is known.
func mirrorLabel(fd, label int) error {
	if mirrored(fd) == label {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, flowInfo, 0)
		return nil
	}
	r := flowLabelRequest{action: flowLabelGet, flags: flowLabelReflect}
	if err := r.ask(fd); errors.Is(err, unix.EPERM) {
		return measure.Fail(measure.KindPermission, "sock.flow_label.accepted", measure.Figures{"label": label})
	} else if err != nil {
		return refused("IPV6_FLOWLABEL_MGR", label, err)
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, flowInfo, 1); err != nil {
		return refused("IPV6_FLOWINFO", 1, err)
	}
	return nil
}

// mirrored returns the label that a socket copied from its peer, or 0 without one.
func mirrored(fd int) int {
	var r flowLabelRequest
	size := uint32(unsafe.Sizeof(r))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_IPV6, flowLabelMgr,
		uintptr(unsafe.Pointer(&r)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0
	}
	return int(binary.BigEndian.Uint32(r.label[:]) & option.MaxFlowLabel)
}
