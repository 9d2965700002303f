package server

import (
	"net"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

func TestAServerOfOneInterfaceIsFoundThroughThatOnly(t *testing.T) {
	s, err := newServer(Config{Listen: "127.0.0.1:0", Device: "no such"}, realEngines())
	if err == nil {
		s.closePorts()
	}
	if measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), `device "no such"`) {
		t.Errorf("%v", err)
	}
	lo := serveWith(t, Config{Listen: "127.0.0.1:0", Device: "lo"}, realEngines())
	for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP} {
		o := options(test, func(o *measure.Options) { o.Bytes, o.Direction = 20_000, measure.Bidirectional })
		if _, _, err := lo.run(t.Context(), test, o); err != nil {
			t.Errorf("%s: %v", test, err)
		}
	}
	o := options(measure.TestUDP, func(o *measure.Options) { o.Bytes = 20_000 })
	client := lo.open(measure.TestUDP, o)
	client.udp()
	var peer net.Conn
	lo.sessions.mu.Lock()
	for _, ss := range lo.sessions.byID { // there is one, for the others have ended
		ss.mu.Lock()
		peer = ss.udp[0].conn
		ss.mu.Unlock()
	}
	lo.sessions.mu.Unlock()
	for name, c := range map[string]syscall.Conn{"TCP": lo.own.tcp, "UDP": lo.own.udp, "a peer of UDP": peer.(*net.UDPConn)} {
		raw, err := c.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var device string
		if err := raw.Control(func(fd uintptr) { device, _ = unix.GetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE) }); err != nil {
			t.Fatal(err)
		}
		if device != "lo" {
			t.Errorf("%s listens on %q", name, device)
		}
	}
}
