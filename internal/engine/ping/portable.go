//go:build !linux

package ping

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"time"

	"golang.org/x/net/icmp"

	"soku/internal/measure"
	"soku/internal/sock"
)

// portableSocket is an ICMP socket opened by package icmp.
type portableSocket struct {
	conn   *icmp.PacketConn
	target net.Addr
	isRaw  bool
	buffer []byte
}

// open opens a raw socket if that is permitted, otherwise a datagram socket if the system
// has one.
func open(target netip.Addr, o measure.Options) (socket, error) {
	if o.Device != "" {
		return nil, measure.Fail(measure.KindUsage, "ping.device", measure.Figures{"device": o.Device})
	}
	raw, datagram, local := "ip4:icmp", "udp4", "0.0.0.0"
	if target.Is6() {
		raw, datagram, local = "ip6:ipv6-icmp", "udp6", "::"
	}
	if o.Bind != "" {
		local = o.Bind
	}
	s := &portableSocket{isRaw: true, buffer: bufferFor(int(o.Size)), target: &net.IPAddr{IP: target.AsSlice(), Zone: target.Zone()}}
	var err error
	if s.conn, err = icmp.ListenPacket(raw, local); err != nil && runtime.GOOS == "darwin" {
		s.isRaw, s.target = false, &net.UDPAddr{IP: target.AsSlice(), Zone: target.Zone()}
		s.conn, err = icmp.ListenPacket(datagram, local)
	}
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, notPermitted(target, err)
	case err != nil && o.Bind != "":
		return nil, measure.Fail(measure.KindUsage, "ping.bind", measure.Figures{
			"target": target.String(), "bind": o.Bind, "cause": err,
		})
	case err != nil:
		return nil, notPermitted(target, err)
	}
	if o.TOS != 0 {
		s.setTOS(target.Is6(), o.TOS)
	}
	return s, nil
}

// setTOS sets what the system allows; Windows ignores it without a policy.
func (s *portableSocket) setTOS(v6 bool, tos int) {
	if v6 {
		_ = s.conn.IPv6PacketConn().SetTrafficClass(tos)
	} else {
		_ = s.conn.IPv4PacketConn().SetTOS(tos)
	}
}

func (s *portableSocket) send(message []byte) error {
	_, err := s.conn.WriteTo(message, s.target)
	return err
}

func (s *portableSocket) receive(wait time.Duration) (arrival, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return arrival{}, err
	}
	n, from, err := s.conn.ReadFrom(s.buffer)
	now := sock.Now()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return arrival{}, errTick
	}
	if err != nil {
		return arrival{}, err
	}
	a := arrival{message: s.buffer[:n], at: now}
	switch from := from.(type) {
	case *net.IPAddr:
		a.from, _ = netip.AddrFromSlice(from.IP)
	case *net.UDPAddr:
		a.from, _ = netip.AddrFromSlice(from.IP)
	}
	a.from = a.from.Unmap()
	return a, nil
}

func (s *portableSocket) departed() ([]byte, time.Time, bool) { return nil, time.Time{}, false }

// ownsID returns true: macOS does not change the identifier on either kind of socket.
func (s *portableSocket) ownsID() bool { return true }

func (s *portableSocket) close() { _ = s.conn.Close() }

func (s *portableSocket) timing() measure.Timing { return timingOf(s.isRaw) }
