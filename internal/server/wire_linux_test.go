package server

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// seen is a packet of IPv6 on loopback.
type seen struct {
	from, to netip.AddrPort
	label    int
	payload  int // bytes
}

// onLoopback begins to look at the packets of IPv6 on loopback, and returns what gives
// those with a payload that passed since.
func onLoopback(t *testing.T) func() []seen {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Skip("packets cannot be looked at: ", err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20)
	var network [2]byte
	binary.BigEndian.PutUint16(network[:], unix.ETH_P_IPV6)
	at := unix.SockaddrLinklayer{Protocol: binary.NativeEndian.Uint16(network[:]), Ifindex: 1}
	if err := unix.Bind(fd, &at); err != nil {
		t.Skip("packets cannot be looked at: ", err)
	}
	return func() (all []seen) {
		b := make([]byte, 128)
		for {
			n, _, err := unix.Recvfrom(fd, b, unix.MSG_TRUNC)
			if err != nil {
				return all
			}
			if p, ok := parse(b[:min(n, len(b))], n); ok && p.payload > 0 {
				all = append(all, p)
			}
		}
	}
}

// parse reads the headers of IPv6 and TCP or UDP. Length is that of the whole packet.
func parse(b []byte, length int) (p seen, ok bool) {
	const six = 40
	if len(b) < six+8 || b[0]>>4 != 6 {
		return p, false
	}
	p.label = int(binary.BigEndian.Uint32(b) & 0xfffff)
	port := func(at int) uint16 { return binary.BigEndian.Uint16(b[six+at:]) }
	p.from = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), port(0))
	p.to = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[24:40])), port(2))
	switch {
	case b[6] == unix.IPPROTO_TCP && len(b) >= six+20:
		p.payload = length - six - int(b[six+12]>>4)*4
	case b[6] == unix.IPPROTO_UDP:
		p.payload = length - six - 8
	default:
		return p, false
	}
	return p, true
}

// ofStream are the packets from one end of a stream to the other.
func ofStream(all []seen, from, to string) (out []seen) {
	for _, p := range all {
		if p.from.String() == from && p.to.String() == to {
			out = append(out, p)
		}
	}
	return out
}
