package server

import (
	"context"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"soku/internal/sock"
)

const errnoInUse = syscall.EADDRINUSE

// demuxInKernel: a socket connected to each UDP peer shares the server's port,
// and the kernel gives it what that peer sends.
const demuxInKernel = true

// shareUDP lets connected sockets bind the port of the shared one. Only
// processes of the same user can join.
func shareUDP(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	if err != nil {
		return err
	}
	return failed
}

// connectUDP opens a socket on the server's port for one proven peer.
func connectUDP(ctx context.Context, local, peer netip.AddrPort, settings sock.Settings) (*net.UDPConn, error) {
	d := net.Dialer{
		LocalAddr: net.UDPAddrFromAddrPort(local),
		Control: func(network, address string, c syscall.RawConn) error {
			if err := shareUDP(network, address, c); err != nil {
				return err
			}
			return settings.Control(network, address, c)
		},
	}
	c, err := d.DialContext(ctx, "udp", peer.String())
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// sourceControl is the ancillary data that makes an answer leave from local:
// a host with several addresses would else answer from the one its routes
// prefer, and the client's socket would not take it.
func sourceControl(local netip.Addr) []byte {
	if !local.IsValid() || local.IsUnspecified() {
		return nil
	}
	if local.Is4() {
		return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: local.As4()})
	}
	return unix.PktInfo6(&unix.Inet6Pktinfo{Addr: local.As16()})
}

// noticeLoss ends a connection when what was written stays unacknowledged for
// ms milliseconds (RFC 5482): a host that vanished sends no FIN.
func noticeLoss(c syscall.RawConn, ms int) {
	_ = c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, ms)
	})
}
