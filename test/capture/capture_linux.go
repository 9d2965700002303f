package capture

import (
	"encoding/binary"
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Packet is an IPv6 packet on loopback.
type Packet struct {
	From, To netip.AddrPort
	Label    int
	Payload  int // bytes
}

// OnLoopback starts to capture IPv6 packets on loopback, and returns a function that returns
// those with a payload captured so far. It skips the test if packets cannot be captured.
func OnLoopback(t *testing.T) func() []Packet {
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
	return func() (all []Packet) {
		b := make([]byte, 128)
		for {
			n, _, err := unix.Recvfrom(fd, b, unix.MSG_TRUNC)
			if err != nil {
				return all
			}
			if p, ok := parse(b[:min(n, len(b))], n); ok && p.Payload > 0 {
				all = append(all, p)
			}
		}
	}
}

// parse reads the IPv6 header and the TCP or UDP header. Length is that of the whole packet.
func parse(b []byte, length int) (p Packet, ok bool) {
	const six = 40
	if len(b) < six+8 || b[0]>>4 != 6 {
		return p, false
	}
	p.Label = int(binary.BigEndian.Uint32(b) & 0xfffff)
	port := func(at int) uint16 { return binary.BigEndian.Uint16(b[six+at:]) }
	p.From = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), port(0))
	p.To = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[24:40])), port(2))
	switch {
	case b[6] == unix.IPPROTO_TCP && len(b) >= six+20:
		p.Payload = length - six - int(b[six+12]>>4)*4
	case b[6] == unix.IPPROTO_UDP:
		p.Payload = length - six - 8
	default:
		return p, false
	}
	return p, true
}

// OfStream are the packets from one end of a stream to the other.
func OfStream(all []Packet, from, to string) (out []Packet) {
	for _, p := range all {
		if p.From.String() == from && p.To.String() == to {
			out = append(out, p)
		}
	}
	return out
}

// ServersMayLabel reports whether this host lets a server choose the flow labels of what
// it sends over TCP.
func ServersMayLabel() bool {
	b, err := os.ReadFile("/proc/sys/net/ipv6/flowlabel_consistency")
	return err == nil && strings.TrimSpace(string(b)) == "0"
}
