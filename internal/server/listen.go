package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"soku/internal/measure"
)

// listen opens TCP and UDP on one port. For port 0 the system picks one that is
// free for TCP, and another when that is taken for UDP.
func listen(address string) (*net.TCPListener, *net.UDPConn, error) {
	if address == "" {
		address = ":0"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, measure.Errorf(measure.KindUsage, "listen on %q: not an address and a port", address).WithHint("write for example :7658 or 10.0.0.4:7658")
	}
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // a test of TCP is of one path, whatever the client's system would rather do
	attempts := 1
	if port == "0" {
		attempts = 20
	}
	for {
		attempts--
		l, err := plain.Listen(context.Background(), "tcp", address)
		if err != nil {
			return nil, nil, explainListen("TCP", address, err)
		}
		tcp := l.(*net.TCPListener)
		bound := net.JoinHostPort(host, fmt.Sprint(tcp.Addr().(*net.TCPAddr).Port))
		config := net.ListenConfig{Control: shareUDP}
		p, err := config.ListenPacket(context.Background(), "udp", bound)
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
	kind, hint := measure.KindUsage, "is the address one of this host's? Choose another with --listen"
	switch {
	case errors.Is(err, errnoInUse):
		hint = "another program uses that port, perhaps another soku server; stop it or choose another port with --listen"
	case errors.Is(err, os.ErrPermission):
		kind, hint = measure.KindPermission, "choose a port above 1023 with --listen"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return measure.Errorf(kind, "listen on %s (%s): %w", address, network, err).WithHint("%s", hint)
}
