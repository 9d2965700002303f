package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"soku/internal/measure"
	"soku/internal/sock"
)

// listen opens TCP and UDP on one port, of one network interface where device names it.
// For port 0 the system picks one that is
// free for TCP, and another when that is taken for UDP.
func listen(address, device string) (*net.TCPListener, *net.UDPConn, error) {
	address = cmp.Or(address, ":0")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, measure.Fail(measure.KindUsage, "server.listen.syntax", measure.Figures{"address": address})
	}
	through := sock.Settings{Device: device}
	config := net.ListenConfig{Control: through.Control}
	// The client chooses: one of plain TCP finds an ordinary socket of TCP here, and where
	// the kernel has no Multipath TCP the listener is one, too.
	config.SetMultipathTCP(true)
	attempts := 1
	if port == "0" {
		attempts = 20
	}
	for {
		attempts--
		l, err := config.Listen(context.Background(), "tcp", address)
		if err != nil {
			return nil, nil, explainListen("TCP", address, err)
		}
		tcp := l.(*net.TCPListener)
		sock.Unpaced(tcp)
		bound := net.JoinHostPort(host, fmt.Sprint(tcp.Addr().(*net.TCPAddr).Port))
		sharing := net.ListenConfig{Control: func(network, address string, c syscall.RawConn) error {
			return errors.Join(shareUDP(network, address, c), through.Control(network, address, c))
		}}
		p, err := sharing.ListenPacket(context.Background(), "udp", bound)
		if err == nil {
			udp := p.(*net.UDPConn)
			// Where peers share this socket their bursts meet in its buffer.
			_ = udp.SetReadBuffer(4 << 20)
			return tcp, udp, nil
		}
		_ = tcp.Close()
		if attempts == 0 {
			return nil, nil, explainListen("UDP", bound, err)
		}
	}
}

func explainListen(network, address string, err error) error {
	if wrong, ok := errors.AsType[*measure.Error](err); ok {
		return wrong
	}
	kind, code := measure.KindUsage, "server.listen"
	switch {
	case errors.Is(err, errnoInUse):
		code = "server.listen.in_use"
	case errors.Is(err, os.ErrPermission):
		kind, code = measure.KindPermission, "server.listen.permission"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return measure.Fail(kind, code, measure.Figures{"address": address, "network": network, "cause": err})
}
