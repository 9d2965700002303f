//go:build !linux

package server

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"soku/internal/sock"
)

// demuxInKernel: only Linux gives datagrams to the connected one of several
// sockets on a port.
const demuxInKernel = false

func shareUDP(_, _ string, _ syscall.RawConn) error { return nil }

func connectUDP(context.Context, netip.AddrPort, netip.AddrPort, sock.Settings) (*net.UDPConn, error) {
	return nil, errors.ErrUnsupported
}

func sourceControl(netip.Addr) []byte { return nil }
